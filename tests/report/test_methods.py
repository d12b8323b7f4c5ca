from pathlib import Path

import polars as pl
import pytest

from lake.store import Lake
from lake.tables import table as table_of
from report.methods.interval_coverage import ALIKE, KINDS, MEANS, coverage_note, simulated_coverage
from report.methods.parity import EXPECTATIONS, outcomes, parity_rows
from report.pages.methods import findings, gold_of_an_item
from report.tables_read import TablesRead
from tests.frames import write
from tests.report.html import Element, parse, table
from tests.report.small_lake import CHUNKING, PRIMARY, PROTOCOLS, run_id, write_lake
from tests.tiny import command

SYNTAX, FIXED = "syntax-1500+jaccard", "fixed-nws-1500+jaccard"


def test_rules_protocols_and_metrics_have_anchors_that_other_pages_may_link(pages: dict[str, Element]) -> None:
    anchors = {each.attributes.get("id") for each in pages["methods.html"].all()}
    assert {"parity", "verdict", "ranks", "ledger", "profile", "drawn", "uncertainty", "limits"} <= anchors
    assert {name.replace("@", "-") for name in PROTOCOLS} <= anchors
    assert {f"metric-{name}" for name in ("precision", "recall", "ndcg", "mrr")} <= anchors
    assert "A, ranked first, is not significantly different from B: +d (95 % CI low to high); smallest detectable" in (
        pages["methods.html"].text
    )


def test_the_table_of_coverage_is_printed_whole(pages: dict[str, Element]) -> None:
    head, *rows = table(pages["methods.html"], "Per cent of 4,000 simulated data sets")
    assert head[3:] == [f"mean {mean}" for mean in MEANS]
    kept = [[kind, str(n), str(alike), *map(str, shares)] for (kind, n, alike), shares in simulated_coverage().items()]
    assert rows == kept


@pytest.mark.parametrize(
    ("low", "high", "verdict", "status", "shown"),
    [
        (0.01, 0.03, "better", "agrees", "better"),
        (-0.03, -0.01, "worse", "disagrees", "worse"),
        (-0.03, -0.01, "cannot be separated", "cannot tell", "not significantly different"),
        (-0.01, 0.01, "equivalent", "disagrees", "equivalent"),
    ],
)
def test_expectations(tmp_path: Path, low: float, high: float, verdict: str, status: str, shown: str) -> None:
    lake = write_lake(tmp_path / "lake", {SYNTAX: (0.6, 0.2), FIXED: (0.58, 0.3)})
    # The pair is stored the other way round.
    row = {
        **PRIMARY, "run_a": run_id(SYNTAX), "run_b": run_id(FIXED), "delta": -0.02, "low": -high, "high": -low,
        "p": 0.5, "equivalent": verdict == "equivalent", "n_items": 5, "n_repos": 3,
        "verdict": {"better": "worse", "worse": "better"}.get(verdict, verdict),
    }  # fmt: skip
    for unit, note in (("repository", ""), ("item", ", for these repositories only")):
        over = [{**row, "unit": unit}]
        write(lake, "comparisons", over, benchmark="repoeval", protocol=CHUNKING, fingerprint=unit)
        (_, (pair,)), *_ = outcomes(TablesRead(lake))
        assert (pair["names"], [row.number for row in pair["rows"]]) == ((SYNTAX, FIXED), [0.6, 0.58])
        assert [pair["pair"][name] for name in ("delta", "low", "high")] == [0.02, low, high]
        assert (pair["status"], pair["why"]) == (status, f"on the board: {shown}{note}")


def test_an_expectation_of_systems_that_were_not_run_says_which(pages: dict[str, Element]) -> None:
    _, *rows = table(pages["methods.html"], "Systems that differ in the chunker alone")
    assert [row[0] for row in rows] == ["syntax-1500 than fixed-nws-1500"]
    assert rows[0][3] == "not runno run of syntax-1500 in this lake"
    assert {expectation.part for expectation in EXPECTATIONS} == {"chunker", "retriever"}


def test_odd_gold_and_what_cannot_be_scored_are_counted(small: Lake) -> None:
    items = small.read("items")
    flags = [["ends-past-eof:2"], ["ends-past-eof:1", "duplicate-spans:4"], [], None, [], []]
    flagged = items.with_columns(pl.Series("gold_flags", flags, table_of("items").columns["gold_flags"]))
    small.write("items", flagged, part="repoeval", fingerprint="flagged", benchmark="repoeval")
    assert [finding[1:4] for finding in findings(TablesRead(small))] == [
        ("spans that end past their file's end", "2", "3"),
        ("duplicate spans", "1", "4"),
        ("not scorable: the repository cannot be had", "1", "–"),
    ]


def test_a_gold_line_of_two_spans_counts_once(small: Lake) -> None:
    spans = [("a.py", 0, 10), ("a.py", 5, 12), ("b.py", 5, 6)]
    rows = [
        {"item_id": "item/0", "gold": "mine", "path": path, "line_start": start, "line_end": end}
        for path, start, end in spans
    ]
    write(small, "gold_spans", rows, benchmark="repoeval", part="mine")
    assert gold_of_an_item(small, "repoeval", "mine") == "median 13 lines, 3 spans, 2 files"


def test_two_readings_are_compared_on_the_same_runs(pages: dict[str, Element]) -> None:
    head, *rows = table(pages["methods.html"], "RepoEval (sample): the same runs under chunking-v1")
    assert head[2:4] == ["chunking-v1", "target-v1"]
    by_metric = {row[0]: row[1:] for row in rows}
    # Of three systems and precision at 10, 0.5625 times 0.95 times: 0.5871, 0.6254, 0.7316 and 0.3377, 0.2113, 0.1935.
    wanted = [f"{value * 0.5625 * 0.95:.3f}" for value in (0.6254, 0.2113)]
    assert by_metric["precision at 10 micro"][:3] == ["3", *wanted]
    assert by_metric["precision at 10 micro"][3].endswith("window-20-10+bm25-okapi")


def test_every_compared_quantity_is_a_row_of_the_page(lake_folder: Path, tmp_path: Path) -> None:
    ended = command("report", "--lake", lake_folder, "--site", tmp_path / "site")
    assert ended.code in {0, 5}, ended.err
    page = parse((tmp_path / "site/methods.html").read_text())
    cells = {cell.text for tag in ("td", "th") for cell in page.all(tag)}
    rows = parity_rows()
    assert rows
    assert {row.reference for row in rows} | {row.quantity for row in rows} <= cells
    assert {f"{row.n_compared:,}" for row in rows} | {f"{row.n_equal:,}" for row in rows} <= cells


@pytest.mark.parametrize(
    ("numbers", "n_repos", "cell", "mean"),
    [([0.09], 9, 8, "0.1"), ([0.9, 0.01, 0.0], 300, 40, "0.02"), ([0.4], 5, 4, "0.35"), ([0.4], 1, 2, "0.35")],
)
def test_a_board_quotes_the_cell_nearest_to_it(numbers: list[float], n_repos: int, cell: int, mean: str) -> None:
    note = coverage_note(numbers, n_repos, is_hit_or_miss=True)
    assert f"(scores of 0 or 1, a mean of {mean}, {cell} repositories of unequal size)" in note
    cells = [simulated_coverage()["hit or miss", cell, alike][MEANS.index(float(mean))] for alike in ALIKE]
    assert f"in {min(cells[:3])} to {max(cells[:3])} % of cases at correlations of up to 0.2" in note
    assert f"in {cells[3]} % at 0.4" in note


def test_scores_between_0_and_1_have_the_range_of_both_kinds() -> None:
    cells = [simulated_coverage()[kind, 8, 0.4][2] for kind in KINDS[1:]]
    assert f"in {min(cells)} to {max(cells)} % at 0.4" in coverage_note([0.3], 8, is_hit_or_miss=False)
