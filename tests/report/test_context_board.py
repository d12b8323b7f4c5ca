from pathlib import Path

import polars as pl
import pytest

from report.build import build
from report.leaderboard.board import build_board
from report.leaderboard.verdicts import agents_sentence
from report.tables_read import TablesRead
from tests.frames import change
from tests.report.context_lake import BENCHMARK, GRANULARITIES, N_STEPS, PROTOCOL, QUANTITIES, SYSTEMS, write_context
from tests.report.html import Element, board_of, called, page_of, parse, table
from tests.report.small_lake import write_boards, write_lake


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("context")
    build(write_context(write_lake(folder / "lake")), folder / "site")
    return folder / "site"


@pytest.fixture(scope="module")
def page(site: Path) -> Element:
    return parse((site / "contextbench-all.html").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def main_page(site: Path) -> Element:
    return parse((site / "contextbench.html").read_text(encoding="utf-8"))


SHOWN = list(map(called, SYSTEMS))
"""What the systems are called in tables."""


def board(page: Element) -> Element:
    return next(each for each in page.all("table") if "board" in (each.attributes.get("class") or "").split())


def test_every_measure_is_a_column_that_says_what_it_counts(page: Element) -> None:
    first, *others = [each.attributes["data-key"] for each in board(page).all("th") if "data-key" in each.attributes]
    assert {first, *others} == {f"{of}_{quantity}" for of in GRANULARITIES for quantity in QUANTITIES}
    assert first == "line_f1"


def test_the_switches_offer_each_granularity_and_metric_and_start_at_the_primary_ones(main_page: Element) -> None:
    levels = [each for each in main_page.all("input") if each.attributes.get("data-control") == "level"]
    assert [each.attributes["value"] for each in levels] == list(GRANULARITIES)
    assert [each.attributes["value"] for each in levels if "checked" in each.attributes] == ["line"]
    (metrics,) = [each for each in main_page.all("select") if each.attributes.get("data-control") == "quantity"]
    offered = {(each.attributes["data-level"], each.attributes["data-quantity"]) for each in metrics.all("option")}
    assert offered == {(granularity, quantity) for granularity in GRANULARITIES for quantity in QUANTITIES}
    assert metrics.all("option")[0].attributes["value"] == "line_f1"


def test_what_has_steps_of_its_own_is_an_agent(page: Element) -> None:
    lines = [row for row in board(page).all("tr") if row.all("td")]
    kinds = {" ".join(row.all("th")[0].text.split()): row.all("td")[0].text for row in lines}
    assert kinds == dict(zip(SHOWN, ("agent", "retriever", "baseline"), strict=True))


def test_a_page_of_one_granularity_has_no_such_switch(site: Path) -> None:
    assert 'data-control="level"' not in (site / "repoeval.html").read_text(encoding="utf-8")


def test_the_page_says_how_many_items_are_scorable_and_why_the_others_are_not(main_page: Element) -> None:
    text = " ".join(main_page.text.split())
    assert "2 of 3 items scorable" in text
    assert "1 item: its repository is not available" in text


def test_coverage_by_step_is_a_picture_and_a_table_of_every_system(page: Element) -> None:
    rows = table(page, "by step")
    assert rows[0] == ["System", *(f"Step {step}" for step in (1, 2, 3, 5, 10, 15, 20)), "Items"]
    agent = SYSTEMS["an-agent"]
    steps = [round(1_000 * agent * step / 3) / 1_000 for step in (1, 2, 3)]
    assert rows[1] == ["an-agent", *(f"{value:.3f}" for value in [*steps, *[steps[-1]] * 4]), "2"]
    assert [row[0] for row in rows[1:]] == SHOWN
    labels = [each.attributes["aria-label"] or "" for each in page.all("svg")]
    pictures = [label for label in labels if "by step" in label]
    assert len(pictures) == 1
    assert "an-agent 0.204 at 1 to 0.612 at 20" in pictures[0]


def test_the_page_says_what_an_import_came_upon_and_did_not_read(tmp_path: Path) -> None:
    lake = write_context(write_lake(tmp_path / "lake"))
    notes = ["experimental: no real file of this format was read", "not read: tool <b> 3 times"]
    told = {"format": pl.lit("atif"), "file": pl.lit("agent.zip"), "notes": pl.lit(notes)}
    change(lake, "runs", *lake.parts("runs", benchmark="contextbench"), **told)
    head, *rows = table(page_of(lake, tmp_path, "contextbench.html"), "imported runs")
    assert head == ["System", "Where its numbers come from", "Format", "File", "Notes"]
    assert [[row[0], *row[2:]] for row in rows] == [["an-agent atif", "atif", "agent.zip", "; ".join(notes)]]
    assert "imported runs" not in (tmp_path / "site" / "repoeval.html").read_text(encoding="utf-8")


def test_a_protocol_that_scored_runs_of_two_tasks_has_a_board_for_each(tmp_path: Path) -> None:
    lake = write_context(write_lake(tmp_path / "lake"))
    (whole,) = TablesRead(lake).boards("contextbench")
    assert whole.short == "docs-v1"
    other = {"task": "contextbench/other", "run_id": "r2", "system": "elsewhere"}
    for name in ("runs", "aggregates"):
        rows = lake.read(name, benchmark="contextbench").filter(pl.col("run_id").str.contains("an-agent"))
        mine = {column: pl.lit(value) for column, value in other.items() if column in rows.columns}
        rows = rows.with_columns(**mine).drop([] if name == "runs" else "benchmark")
        lake.write(name, rows, part="other", fingerprint="f", benchmark="contextbench", run_id="r2")
    two = pl.when(name=PROTOCOL).then(pl.lit(["contextbench/issue", "contextbench/other"])).otherwise("tasks")
    lake.write("protocols", lake.read("protocols").with_columns(tasks=two), part="all", fingerprint="f")
    for part in lake.parts("protocols"):
        if part.name != "all":
            part.path.unlink()
    facts = TablesRead(write_boards(lake))
    boards = {protocol.short: build_board(facts, protocol) for protocol in facts.boards("contextbench")}
    systems = {name: {row.run.system for row in board.rows} for name, board in boards.items()}
    assert systems == {"docs-v1/issue": set(SYSTEMS), "docs-v1/other": {"elsewhere"}}


def test_coverage_by_step_names_those_without_steps(tmp_path: Path) -> None:
    lake = write_context(write_lake(tmp_path / "lake"))
    for part in lake.parts("step_scores", benchmark=BENCHMARK):
        if part.folders["run_id"].partition("--")[2].startswith("whole-file+random--"):
            lake.remove(part)
    page = page_of(lake, tmp_path, "contextbench-all.html")
    assert "Left out, as they have no steps of their own: random over whole-file." in page.text
    assert [row[0] for row in table(page, "by step")[1:]] == SHOWN[:2]


def test_the_overview_names_the_best_agent_behind_a_retriever(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(SYSTEMS, "whole-file+tfidf", 0.9)
    monkeypatch.setitem(N_STEPS, "whole-file+tfidf", 20)
    lake = write_context(write_lake(tmp_path / "lake"))
    opened = board_of(lake, BENCHMARK)
    assert opened.systems[0].run.system == "whole-file+tfidf"
    by_lines, by_files = (f"too few items to compare an-agent with bm25-okapi: +0.{digits}." for digits in (30, 15))
    assert agents_sentence(opened) == f"By lines: {by_lines} By files: {by_files}"
    assert agents_sentence(board_of(lake)) == ""


def test_the_sample_stands_on_the_overview_behind_what_was_measured(tmp_path: Path) -> None:
    lake = write_context(write_lake(tmp_path / "lake"))
    rows = lake.read("benchmarks").with_columns(label=pl.when(name=BENCHMARK).then(pl.lit("mined")).otherwise("label"))
    for part, row in zip(lake.parts("benchmarks"), rows.iter_slices(1), strict=True):
        lake.write("benchmarks", row, part=part.name, fingerprint="")
    build(lake, tmp_path / "site")
    overview = (tmp_path / "site/index.html").read_text(encoding="utf-8")
    measured, heading, sample = (
        overview.index(text)
        for text in (f'<h2><a href="{BENCHMARK}.html">', "<h2>On the built-in sample", '<h2><a href="repoeval.html">')
    )
    assert measured < heading < sample
