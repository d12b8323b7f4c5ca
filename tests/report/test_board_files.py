import json
from pathlib import Path

import polars as pl
import pytest

from lake.store import Lake
from report.format import fixed
from report.leaderboard.board import Board, BoardRow
from report.leaderboard.main_table import MainTable
from report.leaderboard.verdicts import reference_row, sentences
from report.pages.leaderboard import shortened
from report.pages.overview import first_of_each
from tests.frames import change, write
from tests.report.html import board_of, page_of, table
from tests.report.small_lake import (
    CHUNKING,
    PRIMARY,
    SYSTEMS,
    aggregated,
    run_id,
    write_boards,
    write_lake,
    write_ranks,
)

SYSTEM = "fixed-nws-1500+jaccard"
OPENING = "ndcg at 10, mean over items; RepoEval (sample), chunking-v1"


def board_and_reference(lake: Lake) -> tuple[Board, BoardRow]:
    board = board_of(lake)
    reference = next(row for row in board.rows if row.run.system == "fixed-nws-1500+own-file")
    return board, reference


def ranked(lake: Lake, width: float, groups: list[int]) -> None:
    """Intervals so wide about each number, and the systems' tie groups in the order of their ranks."""
    ends = {"low": pl.col("macro") - width / 2, "high": pl.col("macro") + width / 2}
    change(lake, "aggregates", *aggregated(lake), **ends)
    systems = ("window-20-10+bm25-okapi", "fixed-nws-1500+bm25-okapi", SYSTEM)
    write_ranks(lake, [*zip(systems, groups, strict=True)])


def test_a_shortened_number_is_shown_as_the_whole_one() -> None:
    near = [n / 1000 + d for n in range(0, 1000, 7) for d in (0.0004999, 0.0005001)]
    values = [*(n / 16 for n in range(17)), *near, 0.1234567, 1 / 3]
    short = pl.DataFrame({"x": values}).select(shortened("x"))["x"].to_list()
    for digits in (2, 3):
        assert [f"{value:.{digits}f}" for value in short] == [f"{value:.{digits}f}" for value in values]
    assert len(json.dumps(short[-2:])) < 0.75 * len(json.dumps(values[-2:]))


@pytest.mark.parametrize(("width", "shown"), [(0.2, "0.59 0.49 to 0.69"), (0.02, "0.587 0.577 to 0.597")])
def test_digits_are_no_finer_than_the_intervals_warrant(small: Lake, tmp_path: Path, width: float, shown: str) -> None:
    ranked(small, width, [1, 1, 1])
    page = page_of(small, tmp_path, "repoeval.html")
    (row,) = [row for row in table(page, OPENING)[2:5] if row[1] == "jaccard fixed-nws-1500"]
    assert (row[0], row[2]) == ("3 1–3 A", shown)


def test_of_each_baseline_one_is_a_line_and_what_is_far_beyond_is_at_the_edge(small: Lake) -> None:
    board, reference = board_and_reference(small)
    main = MainTable(board, reference)
    # The hostile one is an own-file too: of several the reference itself is the line.
    assert [(row.run.chunker, fixed(row.number, main.digits)) for row in main.marks] == [
        ("fixed-nws-1500", "0.813"),
        ("fixed-nws-1500", "0.074"),
    ]
    assert all((row.number or 0) <= main.reach for row in main.marks)
    change(small, "aggregates", *aggregated(small, run_id("fixed-nws-1500+own-file")), macro=pl.col("macro") * 4)
    write_boards(small)
    main = MainTable(*board_and_reference(small))
    first = main.marks[0].number or 0
    assert (first > main.reach, main.at(first)) == (True, 100.0)


REFERENCE = "fixed-nws-1500+own-file"
BEST = "window-20-10+bm25-okapi"


def test_of_the_references_retriever_the_reference_itself_is_drawn(tmp_path: Path) -> None:
    board = board_of(write_lake(tmp_path / "lake", {**SYSTEMS, "window-20-10+own-file": (0.95, 0.1)}))
    drawn = first_of_each(board, reference_row(board))
    systems = [row.run.system for _, row, _ in drawn]
    assert REFERENCE in systems
    assert "window-20-10+own-file" not in systems
    assert [row.number for _, row, _ in drawn] == sorted((row.number or 0.0 for _, row, _ in drawn), reverse=True)


def test_each_view_with_a_stored_comparison_has_a_verdict_of_its_own(tmp_path: Path) -> None:
    lake = write_lake(tmp_path / "lake")
    pair = {**PRIMARY, "run_a": run_id(REFERENCE), "run_b": run_id(BEST)}
    counts = {"equivalent": False, "n_items": 5, "n_repos": 3, "p": 0.5, "wins": 3, "ties": 1, "losses": 1}
    ahead = {**counts, "delta": 0.25, "low": 0.125, "high": 0.375, "smallest_detectable": 0.5, "exploratory": True}
    behind = {**counts, "delta": -0.25, "low": -0.375, "high": -0.125, "smallest_detectable": 0.5}
    rows: list[dict[str, object]] = [
        {**pair, **behind, "verdict": "worse"},
        {**pair, **ahead, "metric": "recall", "verdict": "better"},
        {**pair, **ahead, "slice": "repo", "slice_value": "acme/one", "verdict": "cannot be separated"},
    ]
    write(lake, "comparisons", rows, benchmark="repoeval", protocol=CHUNKING)
    concluded = sentences(board_of(write_boards(lake)))
    assert {name: list(of) for name, of in concluded.items()} == {
        "ndcg@10": ["repo=acme/one", "subset=function-2k"],
        "recall@10": ["subset=function-2k"],
    }
    assert concluded["ndcg@10"]["subset=function-2k"].startswith("No system beats own-file: ")
    assert concluded["ndcg@10"]["repo=acme/one"].endswith("exploratory: not corrected for multiple comparisons).")
    by_recall = concluded["recall@10"]["subset=function-2k"]
    assert by_recall.startswith("bm25-okapi, first by recall at 10, beats own-file by 0.25")
