from pathlib import Path

import polars as pl
import pytest

from lake.averages import Aggregate
from lake.store import Lake
from report.format import compare_address
from report.leaderboard.board import Board, BoardRow, Cell, Measure
from report.leaderboard.verdicts import BREADTH, LATE, REDUNDANT, profile
from report.pages.systems import items_of, reference_run, systems_on
from tests.frames import change, write
from tests.report.html import Element, board_of, table
from tests.report.small_lake import CHUNKING, REPOS, SYSTEMS, run_id

OWN_FILE, JACCARD, WINDOWS = "fixed-nws-1500+own-file", "fixed-nws-1500+jaccard", "window-20-10+bm25-okapi"
NDCG = {"granularity": "chunk", "metric": "ndcg", "k": 10}


def score_items(lake: Lake, system: str, values: list[float]) -> None:
    rows = [
        {**NDCG, "item_id": f"item/{number}", "value": value, "protocol_hash": "c0ffee11c0ffee11"}
        for number, value in enumerate(values)
    ]
    write(lake, "scores", rows, benchmark="repoeval", protocol=CHUNKING, run_id=run_id(system), fingerprint="by item")


def test_items_won_and_lost_are_those_furthest_from_the_reference_equal_ones_by_name(small: Lake) -> None:
    score_items(small, OWN_FILE, [0.5, 0.5, 0.5, 0.5, 0.5])
    score_items(small, JACCARD, [0.6, 1.0, 0.5, 0.6, 0.25])
    score_items(small, WINDOWS, [0.5, 0.5, 0.5, 0.5, 0.5])
    nothing = dict.fromkeys(("seen", "unreachable", "no_answer", "other_lines", "not_returned"), 0.0)
    ledger = {**nothing, "item_id": "item/1", "n_gold": 8.0, "found": 6.0, "past_budget": 2.0}
    write(small, "ledger", [ledger], benchmark="repoeval", protocol=CHUNKING, run_id=run_id(JACCARD))
    board = board_of(small)
    by_run = items_of(board)
    mine = by_run[run_id(JACCARD)]
    against = {row.run.system: reference_run(board, row.run) for row in board.every}
    assert [run and run.system for run in (against[JACCARD], against[OWN_FILE])] == [OWN_FILE, WINDOWS]
    assert [(item["item_id"], round(item["difference"] or 0, 9)) for item in mine["won"]] == [
        ("item/1", 0.5), ("item/0", 0.1), ("item/3", 0.1),
    ]  # fmt: skip
    assert [(item["item_id"], item["value"], item["other"]) for item in mine["lost"]] == [("item/4", 0.25, 0.5)]
    assert [(share["title"], share["percent"]) for share in mine["won"][0]["shares"]] == [
        ("found", "75 %"), ("ranked too low", "25 %"),
    ]  # fmt: skip
    # The item that cannot be scored is drawn for nobody; the reference is held against the first of the others.
    assert {tuple(item["item_id"] for item in of["drawn"]) for of in by_run.values()} == {
        tuple(f"item/{n}" for n in range(5))
    }


def test_items_are_drawn_from_those_with_a_score(small: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("report.pages.systems.N_ITEMS", 2)
    change(small, "scores", value=pl.when(pl.col("item_id").is_in(["item/1", "item/4"])).then("value"))
    for shown in items_of(board_of(small)).values():
        assert [item["item_id"] for item in shown["drawn"]] in ([], ["item/1", "item/4"])


def test_differences_are_to_the_median_of_the_systems_without_baselines(small: Lake, pages: dict[str, Element]) -> None:
    board = board_of(small)
    parts = {part["row"].run.system: part for part in systems_on(board, board.every)}
    median = sorted(SYSTEMS[name][0] for name in (JACCARD, WINDOWS, "fixed-nws-1500+bm25-okapi"))[1]
    mine = {number["slice_value"]: number for number in parts[JACCARD]["numbers"]}
    assert mine["all"]["apart"] is not None
    assert abs(mine["all"]["apart"] - (SYSTEMS[JACCARD][0] - median)) < 1e-12
    assert {name for name in mine if name in REPOS} == set(REPOS)
    # Two items are too few to name a difference.
    assert (parts[JACCARD]["above"], parts[JACCARD]["below"]) == ([], [])
    middle = parts[WINDOWS]["middle"]
    assert middle.system == "fixed-nws-1500+bm25-okapi"
    assert [system for system, part in parts.items() if part["row"].run.run_id == middle.run_id] == [middle.system]
    page = pages["systems/fixed-nws-1500-jaccard.html"]
    rows = {row[0]: row for row in table(page, "chunking-v1: ndcg at 10")}
    assert rows["all"][2] == f"{median:.3f}"
    assert rows["all"][3] == f"{SYSTEMS[JACCARD][0] - median:+.3f}".replace("-", "−")
    hrefs = {each.attributes.get("href") or "" for each in page.all("a")}
    assert f"../{compare_address(CHUNKING, [run_id(OWN_FILE), run_id(JACCARD)])}" in hrefs
    assert "../methods.html#drawn" in hrefs


def with_lines(row: BoardRow, coverage: float, precision: float, redundancy: float, auc: float) -> BoardRow:
    assert row.head is not None
    numbers: dict[tuple[Measure, Aggregate], Cell] = {
        (("line", "line_coverage", 10), "micro"): Cell(**vars(row.head) | {"value": coverage}),
        (("line", "line_precision", 10), "micro"): Cell(**vars(row.head) | {"value": precision}),
        (("line", "line_redundancy", 0), "micro"): Cell(**vars(row.head) | {"value": redundancy}),
        (("line", "line_auc", 0), "macro"): Cell(**vars(row.head) | {"value": auc}),
    }
    return BoardRow(row.run, {**row.cells, **numbers}, row.primary, row.n_items)


def with_rows(board: Board, *rows: BoardRow) -> Board:
    return Board(board.facts, board.protocol, board.slice, board.columns, rows, board.numbers)


def test_the_profile_follows_from_fixed_thresholds_against_the_medians(small: Lake) -> None:
    board = board_of(small)
    first, second, third, *_ = [row for row in board.rows if not row.run.baseline]
    usual = (0.5, 0.25, 0.2, 0.4)  # Two lines for each line of gold.
    broad = with_lines(first, 0.5, 0.25 / BREADTH, 0.2 + REDUNDANT, 0.4 * LATE)
    others = [with_lines(row, *usual) for row in (second, third)]
    board = with_rows(board, broad, *others)
    assert profile(board, broad) == (
        "Broad search: 3.0 lines returned for each line of gold (median system: 2.0); "
        "inefficient reading: 30 % of the lines seen again (median: 20 %); "
        "late: AUC-coverage of lines 0.30 (median: 0.40)."
    )
    assert profile(board, others[0]).startswith("Balanced search: 2.0 lines")
    narrow = with_lines(first, 0.5, 0.25 * BREADTH, 0.2 - REDUNDANT, 0.4 / LATE)
    text = profile(with_rows(board, narrow, *others), narrow)
    assert [word in text for word in ("Narrow search", "; efficient reading", "; early")] == [True] * 3
    # A board without such metrics has none.
    assert profile(board_of(small), first) == ""


def test_a_snippet_reads_its_system(built: Path, pages: dict[str, Element], monkeypatch: pytest.MonkeyPatch) -> None:
    codes = pages["systems/fixed-nws-1500-jaccard.html"].all("code")
    code = next(each.text_raw for each in codes if each.attributes.get("data-recipe") == "system")
    monkeypatch.chdir(built)
    values: dict[str, object] = {}
    exec(compile(code, "snippet", "exec"), values)
    for name in ("scores", "rankings", "aggregates"):
        frame = values[name]
        assert isinstance(frame, pl.DataFrame)
        assert set(frame["run_id"]) == {run_id(JACCARD)}
