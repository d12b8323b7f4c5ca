from pathlib import Path

from report.leaderboard.board import build_board
from report.leaderboard.pictures import PoolSizes
from report.tables_read import TablesRead
from tests.report.small_lake import write, write_lake


def test_each_system_is_a_line_over_the_files_searched(tmp_path: Path) -> None:
    lake = write_lake(tmp_path / "lake")
    sizes = {"function_level/a": 10, "function_level/b": 30, "with-4/a": 200, "with-4/b": 400}
    pools = [
        {"pool_id": f"repoeval/{name}", "benchmark": "repoeval", "kind": "searched", "n_files": n}
        for name, n in sizes.items()
    ]
    write(lake, "pools", pools, benchmark="repoeval", kind="searched")
    facts = TablesRead(lake)
    alone, beside = (build_board(facts, facts.boards("repoeval")[0]) for _ in range(2))
    assert alone.protocol.short == "chunking-v1"
    assert PoolSizes([alone]).figure is None
    beside.protocol = beside.protocol.model_copy(update={"name": "repoeval@scale-4-v1"})
    drawn = PoolSizes([beside, alone])
    assert drawn.sizes == [20.0, 300.0]
    numbers = {row.run.system: row.number for row in alone.rows}
    assert {run.system: values for run, values in drawn.lines} == {name: [n, n] for name, n in numbers.items()}
    assert drawn.figure is not None
    assert "at 20 to" in str(drawn.figure.picture)
    assert PoolSizes([beside]).figure is None
