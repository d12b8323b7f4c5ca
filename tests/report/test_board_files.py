import json
from pathlib import Path

import polars as pl
import pytest

from lake.store import Lake
from report.build import build
from report.format import fixed
from report.leaderboard.board import Board, BoardRow, build_board
from report.leaderboard.board_files import shortened
from report.leaderboard.main_table import MainTable
from report.tables_read import TablesRead
from tests.report.html import parse, table
from tests.report.small_lake import CHUNKING, HEADLINE, aggregated, run_id, write, write_boards

SYSTEM = "fixed-nws-1500+jaccard"
OPENING = "ndcg at 10, mean over items; RepoEval (sample), chunking-v1"


def board_of(lake: Lake) -> tuple[Board, BoardRow]:
    facts = TablesRead(lake)
    board = build_board(facts, facts.boards("repoeval")[0])
    reference = next(row for row in board.rows if row.run.system == "fixed-nws-1500+own-file")
    return board, reference


def ranked(lake: Lake, width: float, groups: list[int]) -> None:
    """Intervals so wide about each number, and the systems' tie groups in the order of their ranks."""
    for part in aggregated(lake):
        rows = lake.scan_parts([part], "aggregates").collect().drop("benchmark")
        ends = {"low": pl.col("macro") - width / 2, "high": pl.col("macro") + width / 2}
        lake.write("aggregates", rows.with_columns(**ends), part=part.name, fingerprint="wide", **part.folders)
    systems = ["window-20-10+bm25-okapi", "fixed-nws-1500+bm25-okapi", SYSTEM]
    key = {"protocol": CHUNKING, "granularity": "chunk", "metric": "ndcg", "k": 10, "slice": HEADLINE[0]}
    ranks = [
        {**key, "slice_value": HEADLINE[1], "run_id": run_id(system), "rank": place, "rank_low": 1, "rank_high": 3,
         "tie_group": group, "too_few": False, "exploratory": False, "unit": "repository"}
        for place, (system, group) in enumerate(zip(systems, groups, strict=True), 1)
    ]  # fmt: skip
    write(lake, "ranks", ranks, benchmark="repoeval", protocol=CHUNKING)
    write_boards(lake)


def test_a_shortened_number_is_shown_as_the_whole_one() -> None:
    near = [n / 1000 + d for n in range(0, 1000, 7) for d in (0.0004999, 0.0005001)]
    values = [*(n / 16 for n in range(17)), *near, 0.1234567, 1 / 3]
    short = pl.DataFrame({"x": values}).select(shortened("x"))["x"].to_list()
    for digits in (2, 3):
        assert [f"{one:.{digits}f}" for one in short] == [f"{one:.{digits}f}" for one in values]
    assert len(json.dumps(short[-2:])) < 0.75 * len(json.dumps(values[-2:]))


@pytest.mark.parametrize(("width", "shown"), [(0.2, "0.59 0.49 to 0.69"), (0.02, "0.587 0.577 to 0.597")])
def test_digits_are_no_finer_than_the_intervals_warrant(small: Lake, tmp_path: Path, width: float, shown: str) -> None:
    ranked(small, width, [1, 1, 1])
    build(small, tmp_path / "site")
    page = parse((tmp_path / "site/repoeval.html").read_text(encoding="utf-8"))
    (row,) = [row for row in table(page, OPENING)[2:5] if row[1] == "jaccard fixed-nws-1500"]
    assert (row[0], row[2]) == ("3 1–3 A", shown)


def test_of_each_baseline_one_is_a_line_and_what_is_far_beyond_is_at_the_edge(small: Lake) -> None:
    board, reference = board_of(small)
    main = MainTable(board, reference)
    # The hostile one is an own-file too: of several the reference itself is the line.
    assert [(row.run.chunker, fixed(row.number, main.digits)) for row in main.marks] == [
        ("fixed-nws-1500", "0.813"),
        ("fixed-nws-1500", "0.074"),
    ]
    assert all((row.number or 0) <= main.reach for row in main.marks)
    for part in aggregated(small):
        if part.folders["run_id"] == run_id("fixed-nws-1500+own-file"):
            rows = small.scan_parts([part], "aggregates").collect().drop("benchmark")
            far = rows.with_columns(pl.col("macro") * 4)
            small.write("aggregates", far, part=part.name, fingerprint="far", **part.folders)
    write_boards(small)
    main = MainTable(*board_of(small))
    first = main.marks[0].number or 0
    assert (first > main.reach, main.at(first)) == (True, 100.0)
