import json
import re
from collections.abc import Mapping
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from lake.errors import GoldspanError
from lake.store import Lake
from lake.tables import TABLES
from report import render
from report.build import build
from report.editions import EDITIONS, LakeWithEditions
from report.items.answers import spans_by_item
from report.items.roster import Roster
from report.leaderboard.board import build_board
from report.publishing import DEPTH, LEFT_OUT
from report.tables_read import TablesRead
from tests.tiny import command

pytestmark = pytest.mark.slow

NAME = "repoeval-tiny"
SHIPPED = sorted(path for path in EDITIONS.glob("*/") if any(path.glob("*.parquet")))
TABLES_WITH_TEXT = ("queries", "symbols", "rejects")


@pytest.fixture
def editions(lake_folder: Path, tmp_path: Path) -> Path:
    to = tmp_path / "editions"
    options = ("repoeval", "--edition", "tiny", "--label", "five tasks", "-o", to, "--lake", lake_folder)
    command("report", "publish", *options).done(f"next: make report LAKE={lake_folder} PUBLISHED={to}")
    return to


def test_an_edition_has_the_numbers_of_the_lake_under_its_own_name(lake_folder: Path, editions: Path) -> None:
    both = LakeWithEditions(lake_folder, editions)
    for table in ("items", "gold_spans", "runs", "run_items", "scores", "aggregates", "ranks", "comparisons", "ledger"):
        rows = both.read(table)
        own, edition = (rows.filter(benchmark=name) for name in ("repoeval", NAME))
        if table == "comparisons":
            # By other metrics than the primary one those with the reference alone.
            view = ["protocol", "granularity", "metric", "k", "slice", "slice_value"]
            (n_pairs,), n_kept = ({*frame.group_by(view).len()["len"]} for frame in (own, edition))
            assert n_kept == {n_pairs, 9}
            assert n_pairs == 10 * 9 // 2
            continue
        assert own.height == edition.height > 0, table
        values = [column for column, kind in own.schema.items() if kind.is_numeric()]
        for frame in (own, edition):
            assert frame.height == Lake(lake_folder).read(table).height
        key = ["item_id"] if table in ("items", "gold_spans") else []
        assert_frame_equal(own.select(*key, *values), edition.select(*key, *values), check_row_order=False)
    assert set(both.read("protocols").filter(benchmark=NAME)["name"].str.split("@").list.first()) == {NAME}
    assert both.read("runs", benchmark=NAME)["run_id"].str.starts_with(f"{NAME}.").all()


def test_an_edition_and_the_lakes_board_show_equal_numbers(lake_folder: Path, editions: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    command("report", "--lake", lake_folder, "--site", site, "--published", editions).done()
    page = (site / f"{NAME}.html").read_text(encoding="utf-8")
    assert "These results ship with Goldspan, labelled <strong>five tasks</strong>" in page
    assert "RepoEval (five tasks), chunking-v1: " in (site / "methods.html").read_text(encoding="utf-8")
    # An edition has no counts of chunks, though the lake has some of the same files.
    texts = [path.read_text(encoding="utf-8") for path in (site / "boards" / NAME).glob("*.js")]
    assert {n for text in texts for n in re.findall(r'"chunks":(\w+)', text)} == {"null"}
    overview = (site / "index.html").read_text(encoding="utf-8")
    assert overview.index(f'href="{NAME}.html"') < overview.index('href="repoeval.html"')
    numbers = json.loads((site / "manifest.json").read_text(encoding="utf-8"))["numbers"]
    boards = {name: _values(numbers, name) for name in ("repoeval", NAME)}
    assert boards["repoeval"] == boards[NAME] != {}
    # No command is shown that asks this lake for what it does not hold.
    commands = [
        line for file in site.glob("systems/*.html") for line in file.read_text("utf-8").splitlines() if "-m " in line
    ]
    assert commands
    assert not [line for line in commands if NAME in line]
    again = command("report", "--lake", lake_folder, "--site", site, "--published", editions)
    assert "current" in again.err
    command("report", "--lake", lake_folder, "--site", site).done()
    assert not (site / f"{NAME}.html").exists()


def test_an_editions_pages_are_kept_while_all_that_they_show_is_the_same(
    lake_folder: Path, editions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake, site, written = LakeWithEditions(lake_folder, editions), tmp_path / "site", set[str]()
    rendered = render.render

    def spy(template: str, values: Mapping[str, object]) -> str:
        written.add(str(values.get("path")))
        return rendered(template, values)

    monkeypatch.setattr("report.render.render", spy)
    pages = {f"{NAME}.html", f"{NAME}-all.html", f"items/{NAME}.html", f"pairs/{NAME}.html"}

    def changed(name: str, **columns: pl.Expr) -> None:
        own = Lake(lake_folder)
        for part in own.parts(name):
            rows = own.scan_parts([part], name).select(*TABLES[name].columns).with_columns(**columns)
            own.write(name, rows.collect(), part=part.name, fingerprint="changed", **part.folders)

    def pages_written(fresh: str) -> set[str]:
        written.clear()
        build(lake, site)
        kept = written & pages
        build(lake, tmp_path / fresh)
        # Whether pages were kept cannot be seen in the site.
        assert _bytes_of(site) == _bytes_of(tmp_path / fresh)
        return kept

    assert pages_written("first") == pages
    changed("items", commit=pl.lit("1" * 40))
    assert pages_written("second") == set()
    (site / f"{NAME}-all.html").write_text("damaged", encoding="utf-8")
    assert pages_written("third") == pages
    # A page shows what the lake says of a retriever, if the lake has it too.
    changed("retrievers", meaning=pl.format("{} indeed", "meaning"))
    assert pages_written("fourth") == pages


def _bytes_of(site: Path) -> dict[str, bytes]:
    return {path.relative_to(site).as_posix(): path.read_bytes() for path in site.rglob("*") if path.is_file()}


def _values(numbers: dict[str, dict[str, dict[str, dict[str, float]]]], benchmark: str) -> dict[tuple[str, str], float]:
    return {
        (board.partition("@")[2], system): row["value"]
        for board, of in numbers.items()
        if board.startswith(f"{benchmark}@")
        for system, row in of["systems"].items()
    }


def test_what_cannot_be_published_or_read_is_said(lake_folder: Path, editions: Path, tmp_path: Path) -> None:
    lake, missing = ("--lake", lake_folder), tmp_path / "none-there"
    command("report", "publish", "contextbench", "--edition", "x", *lake).refused(4, "has no run of 'contextbench'")
    command("report", "publish", "repoeval", "--edition", "../x", *lake).refused(2, "is no name")
    command("report", *lake, "--site", tmp_path / "site", "--published", missing).refused(4, "there is no folder")
    file = editions / NAME / "runs.parquet"
    pl.read_parquet(file).drop("system").write_parquet(file)
    with pytest.raises(GoldspanError, match="other columns than runs has"):
        LakeWithEditions(lake_folder, editions).read("runs")


@pytest.mark.parametrize("edition", SHIPPED, ids=lambda path: path.name)
def test_what_ships_has_no_texts(edition: Path) -> None:
    assert not [name for name in TABLES_WITH_TEXT if (edition / f"{name}.parquet").exists()]
    for table, columns in LEFT_OUT.items():
        rows = pl.read_parquet(edition / f"{table}.parquet", columns=list(columns))
        assert not sum(rows.select(pl.all().count()).row(0)), table
    assert set(pl.read_parquet(edition / "blobs.parquet", columns=["text"])["text"]) == {""}
    # A path or an id is one line; a text that is left is a sentence of ours in a declaration.
    for file in sorted(edition.glob("*.parquet")):
        if file.stem not in ("benchmarks", "chunkers", "metrics", "retrievers", "tasks", "protocols"):
            texts = pl.read_parquet(file).select(pl.col(pl.String)).unpivot().drop_nulls("value")
            long = texts.filter((pl.col("value").str.len_chars() > 400) | pl.col("value").str.contains("\n"))
            assert long.is_empty(), (file, long)


@pytest.mark.parametrize("edition", SHIPPED, ids=lambda path: path.name)
def test_the_means_that_ship_are_those_of_the_scores_that_ship(edition: Path) -> None:
    scores = pl.scan_parquet(edition / "scores.parquet")
    key = ["run_id", "protocol", "granularity", "metric", "k"]
    means = scores.group_by(key).agg(mean=pl.col("value").mean()).collect()
    stored = pl.read_parquet(edition / "aggregates.parquet").filter(slice="all").drop_nulls("macro")
    # `correct` and what fails count where a score is missing: the mean is over what has a value.
    both = stored.join(means, on=key, how="inner")
    assert both.height > 0.9 * stored.height
    assert both.filter((pl.col("macro") - pl.col("mean")).abs() > 1e-9).is_empty()


@pytest.mark.parametrize("edition", ["repoeval-function", "contextbench-50"])
def test_the_lines_that_an_item_shows_add_up_to_its_score(lake_folder: Path, edition: str) -> None:
    facts = TablesRead(LakeWithEditions(lake_folder))
    roster = Roster(build_board(facts, facts.boards(edition)[0]))
    where = {"granularity": "line", "metric": "line_precision", "k": roster.board.primary.k}
    scores = roster.lake.scan("scores", protocol=roster.board.protocol.name).filter(**where).collect()
    key, counts = scores.select("run_id", "item_id").rows(), scores.select("numerator", "denominator").rows()
    sums = dict(zip(key, counts, strict=True))
    # A partial run of one repository does not make the board one of intervals over items.
    assert not roster.board.is_of_items
    n_compared = 0
    for row in spans_by_item(roster).join(roster.items.select("item", "item_id"), on="item").iter_rows(named=True):
        gold = lines_in(row["gold"])
        for run, answer in zip(row["run"], row["answer"], strict=True):
            stored = sums.get((roster.runs[run].run_id, row["item_id"]), (None, None))
            if stored[0] is not None:
                returned = lines_in(answer)
                assert (len(returned & gold), len(returned)) == stored, row["item_id"]
                n_compared += 1
    assert n_compared > 600


def lines_in(ranges: list[int]) -> set[tuple[int, int]]:
    threes = zip(ranges[::3], ranges[1::3], ranges[2::3], strict=True)
    return {(file, line) for file, start, end in threes for line in range(start, end)}


def test_a_site_of_an_empty_lake_shows_what_ships(tmp_path: Path) -> None:
    site = ("--site", tmp_path / "site", "--published", EDITIONS)
    command("report", "--lake", tmp_path / "lake", *site).done()
    boards = {path.stem for path in (tmp_path / "site").glob("*.html")}
    assert boards >= {edition.name for edition in SHIPPED}


def test_what_ships_is_what_todays_code_computes(shared: Path, tmp_path: Path) -> None:
    lake, system = tmp_path / "lake", "fixed-nws-1500+bm25-okapi"
    command("ingest", "repoeval", "--source", shared, "--chunkers", "fixed-nws-1500", "--lake", lake).done()
    command("evaluate", "--systems", system, "--lake", lake).done()
    edition = LakeWithEditions(lake)
    for table, key in (
        ("scores", ["protocol", "item_id", "granularity", "metric", "k"]),
        ("hits", ["item_id", "rank"]),
    ):
        of_runs = edition.scan(table).join(edition.scan("runs").select("run_id", "system", "task"), on="run_id")
        of_runs = of_runs.filter(pl.col("task").str.ends_with("/prompt"), system=system)
        rows = of_runs.drop("run_id", "task", *LEFT_OUT.get(table, ())).collect()
        own, shipped = (rows.filter(benchmark=name).drop("benchmark") for name in ("repoeval", "repoeval-function"))
        if table == "scores":
            here = pl.col("protocol").str.split("@").list.last()
            own, shipped = (frame.with_columns(protocol=here) for frame in (own, shipped))
        else:
            own, shipped = (frame.filter(pl.col("rank") <= DEPTH) for frame in (own, shipped))
        assert_frame_equal(own.sort(key), shipped.sort(key), check_exact=True)
        assert own.height > 4_000
