from pathlib import Path

import polars as pl

from lake.averages import ITEM, REPOSITORY
from report.build import build
from report.leaderboard.board import build_board
from report.leaderboard.costs import by_characters
from report.leaderboard.verdicts import MOST_SYSTEMS, Beats
from report.tables_read import TablesRead
from tests.report.small_lake import write
from tests.report.wide_lake import write_wide


def test_each_of_the_first_systems_stands_against_all_behind_it(tmp_path: Path) -> None:
    facts = TablesRead(write_wide(tmp_path / "lake", n_items=12, n_systems=30, names=["repoeval@chunking-v1"]))
    board = build_board(facts, facts.boards("repoeval")[0])
    beats = Beats(board)
    runs = [row.run for row, _ in beats.lines]
    assert beats.n_systems == 28
    assert sum(not run.baseline for run in runs) == MOST_SYSTEMS
    assert {run.retriever for run in runs if run.baseline} == {"random", "oracle"}
    stored = facts.comparisons.filter(slice=board.slice[0], slice_value=board.slice[1])
    for place, (row, cells) in enumerate(beats.lines[:-1]):
        assert [cell is not None for cell in cells] == [other > place for other in range(1, len(runs))]
        for other, cell in zip(runs[1:], cells, strict=True):
            if cell is None:
                continue
            mine = pl.col("run_a").is_in([row.run.run_id, other.run_id]) & pl.col("run_b").is_in(
                [row.run.run_id, other.run_id]
            )
            ((run_a, delta, verdict),) = stored.filter(mine).select("run_a", "delta", "verdict").rows()
            ahead = -delta if run_a == row.run.run_id else delta
            assert float(cell["shown"].replace("−", "-")) == round(ahead, 2)
            assert (cell["mark"] != "") == (verdict != "cannot be separated")
            assert (cell["mark"] == "worse") == (verdict != "cannot be separated" and ahead < 0)
            assert cell["address"].endswith(f"systems={row.run.run_id[-8:]},{other.run_id[-8:]}")


def test_a_board_without_comparisons_has_no_such_table(tmp_path: Path) -> None:
    lake = write_wide(tmp_path / "lake", n_items=12, n_systems=3, names=["repoeval@chunking-v1"])
    for part in lake.parts("comparisons"):
        part.path.unlink()
    facts = TablesRead(lake)
    assert Beats(build_board(facts, facts.boards("repoeval")[0])).lines == []


def test_curves_over_what_is_read_have_every_system_in_their_numbers(tmp_path: Path) -> None:
    facts = TablesRead(write_wide(tmp_path / "lake", n_items=12, n_systems=30, names=["repoeval@chunking-v1"]))
    board = build_board(facts, facts.boards("repoeval")[0])
    first = by_characters(board, *board.primary.measure[:2])
    assert first is not None
    systems = {row.run.system for row in board.rows if not row.run.baseline}
    assert {numbers[0] for numbers in first.figure.rows} == systems
    # Nothing on the frontier is worth less than what costs less.
    values = [offer.value for offer, _, _ in first.offers]
    assert values == sorted(values)


def test_the_page_says_whether_the_tests_are_over_items(tmp_path: Path) -> None:
    lake = write_wide(tmp_path / "lake", n_items=12, n_systems=4, names=["repoeval@chunking-v1"])
    rows = lake.read("comparisons").drop("benchmark")
    for unit in (ITEM, REPOSITORY):
        over = rows.with_columns(unit=pl.lit(unit)).to_dicts()
        write(lake, "comparisons", over, benchmark="repoeval", protocol="repoeval@chunking-v1", fingerprint=unit)
        build(lake, tmp_path / unit)
        page = (tmp_path / unit / "repoeval.html").read_text()
        table = page[page.index("Who beats whom") :]
        assert ("Tests are over items: for these repositories only." in table) == (unit == ITEM)
