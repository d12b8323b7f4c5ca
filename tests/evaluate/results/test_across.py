"""A system here against one of another lake, or of published scores, by the commands that anyone would type."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import polars as pl
import pytest

from lake.errors import Exit
from lake.store import Lake
from lake.tables import table
from tests.tiny import CATS, DOGS, Said, build, command, task

A, B = "whole-file+bm25-okapi", "whole-file+own-file"
BEST, WORST = "whole-file+own-file", "whole-file+random"
OF_THE_FAMILY = {"p_adjusted", "verdict", "exploratory"}


def across(there: Path, here: Path, *arguments: object) -> Said:
    return command("evaluate", "compare", *arguments, "--against", there, "--lake", here)


@pytest.fixture
def main(lake_folder: Path, tmp_path: Path) -> Path:
    """A second lake with the same in it."""
    return shutil.copytree(lake_folder, tmp_path / "main")


@pytest.fixture
def published(main: Path, tmp_path: Path) -> Path:
    """What a report on it publishes."""
    assert command("report", "--lake", main, "--site", tmp_path / "site", "--quiet").code == 0
    return tmp_path / "site/data/scores.parquet"


def change(lake: Path, name: str, change: pl.Expr) -> None:
    """Write every part of a table again, with a column changed."""
    store = Lake(lake)
    for part in store.parts(name):
        rows = store.scan_parts([part], name).select(*table(name).columns).with_columns(change).collect()
        store.write(name, rows, part=part.name, fingerprint="changed", **part.folders)


@pytest.mark.parametrize("there", ["main", "published"])
def test_the_numbers_are_those_of_one_lake(there: str, lake_folder: Path, request: pytest.FixtureRequest) -> None:
    place = request.getfixturevalue(there)
    flags = ("--metric", "precision@5,mrr", "--flips", "--json")
    apart = across(place, lake_folder, A, B, *flags)
    within = command("evaluate", "compare", A, B, *flags, "--lake", lake_folder)
    declared = [row for row in json.loads(within.out) if row["is_declared"]]
    assert [{**row, **dict.fromkeys(OF_THE_FAMILY)} for row in json.loads(apart.out)] == [
        {**row, **dict.fromkeys(OF_THE_FAMILY)} for row in declared
    ]
    assert len(declared) > 2


def test_one_name_is_that_system_in_both(main: Path, lake_folder: Path) -> None:
    said = across(main, lake_folder, A, "--json")
    rows = json.loads(said.out)
    assert [(row["delta"], row["wins"], row["losses"], row["ties"]) for row in rows] == [(0, 0, 0, 5)] * 3
    said = command("evaluate", "compare", A, "--lake", lake_folder)
    assert (said.code, "--against" in said.err) == (Exit.USAGE, True)


@pytest.mark.parametrize("there", ["main", "published"])
def test_a_drop_fails_the_gate(there: str, lake_folder: Path, request: pytest.FixtureRequest) -> None:
    place, gate = request.getfixturevalue(there), ("--fail-if", "mrr drops > 0.01")
    said = across(place, lake_folder, BEST, WORST, *gate)
    assert (said.code, "fails" in said.out) == (Exit.GATE, True)
    said = across(place, lake_folder, WORST, BEST, *gate)
    assert (said.code, "fails" in said.out) == (Exit.DONE, False)


def test_a_system_that_is_worse_fails_the_gate(tmp_path: Path) -> None:
    repos = [f"zoo_{number}" for number in range(6)]
    texts = {"cats.py": CATS, "dogs.py": DOGS}
    files = {f"{repo}/{path}": text.encode() for repo in repos for path, text in texts.items()}
    cuts = [
        ("cats.py", 0, 1, 1),
        ("cats.py", 0, 5, 2),
        ("cats.py", 4, 6, 1),
        ("dogs.py", 0, 6, 1),
        ("dogs.py", 0, 2, 1),
    ]
    rows = [task(repo, path, texts[path], *cut) for repo in repos for path, *cut in cuts]
    source, here, there = build(tmp_path / "source", rows, repositories=files), tmp_path / "here", tmp_path / "there"
    said = command("ingest", "repoeval", "--source", source, "--chunkers", "whole-file", "--lake", here)
    assert said.code == 0, said.err
    assert command("evaluate", "--lake", here, "--systems", f"{BEST},{WORST}").code == 0
    shutil.copytree(here, there)
    gate = ("--protocol", "repoeval@chunking-v1", "--fail-if", "line_f1@8000 is worse")
    said = across(there, here, BEST, WORST, *gate)
    assert (said.code, "B is worse than A" in said.out) == (Exit.GATE, True)
    assert across(there, here, WORST, BEST, *gate).code == Exit.DONE
    assert across(there, here, BEST, *gate).code == Exit.DONE


@pytest.mark.parametrize(
    ("name", "changed", "words"),
    [
        ("queries", pl.col("sha256").str.replace("^.", "x"), "the queries of 5 of 5 shared items differ"),
        ("gold_spans", pl.col("line_end") + 1, "the gold of 5 of 5 shared items differ"),
        ("files", pl.col("sha256").str.reverse(), "the searched files of 5 of 5 shared items differ"),
        ("scores", pl.col("protocol_hash").str.reverse(), "scored by different rules"),
        ("benchmarks", pl.lit("mined").alias("label"), "labelled '' here, 'mined' there"),
    ],
)
def test_other_data_and_other_rules_are_refused(
    name: str, changed: pl.Expr, words: str, main: Path, lake_folder: Path
) -> None:
    change(main, name, changed)
    said = across(main, lake_folder, A, "--fail-if", "mrr drops > 0.5")
    assert (said.code, said.out) == (Exit.INVALID, "")
    assert words in said.err
    assert len(said.err.splitlines()) <= 10


def test_published_gold_is_held_against_this_lakes(published: Path, lake_folder: Path) -> None:
    spans = published.with_name("gold_spans.parquet")
    pl.read_parquet(spans).with_columns(pl.col("path") + "x").write_parquet(spans)
    said = across(published, lake_folder, A)
    assert (said.code, "the gold of 5 of 5 shared items differ" in said.err) == (Exit.INVALID, True)


def test_items_of_one_lake_alone_are_named(main: Path, lake_folder: Path) -> None:
    store = Lake(main)
    for part in store.parts("scores"):
        rows = store.scan_parts([part], "scores").select(*table("scores").columns).collect()
        first = rows["item_id"].min()
        store.write("scores", rows.filter(item_id=first), part=part.name, fingerprint="one", **part.folders)
    said = across(main, lake_folder, A, "--protocol", "repoeval@chunking-v1")
    assert said.code == Exit.DONE
    assert "repoeval@chunking-v1: 4 items scored here alone: left out of the difference" in said.out
    assert "1 and 5" in said.out


def test_an_export_of_a_run_is_compared_and_says_what_it_cannot_tell(
    main: Path, lake_folder: Path, tmp_path: Path
) -> None:
    file = tmp_path / "main.parquet"
    flags = ("--table", "scores", "--format", "parquet", "-o", file)
    assert command("report", "export", A, *flags, "--lake", main).code == 0
    said = across(file, lake_folder, A)
    assert said.code == Exit.DONE
    unknown = "the benchmark's label, the queries, the gold, the searched files"
    assert f"repoeval: not published beside the scores, so not held against this lake's: {unknown}" in said.out


def test_what_holds_no_scores_is_refused(lake_folder: Path, tmp_path: Path) -> None:
    said = across(tmp_path / "nowhere", lake_folder, A)
    assert (said.code, "no lake and no file of scores" in said.err) == (Exit.MISSING, True)
    (tmp_path / "text.parquet").write_text("no Parquet")
    assert across(tmp_path / "text.parquet", lake_folder, A).code == Exit.INVALID
    pl.DataFrame({"item_id": ["a"]}).write_parquet(tmp_path / "other.parquet")
    said = across(tmp_path / "other.parquet", lake_folder, A)
    assert (said.code, "columns are missing: benchmark, system, run_id" in said.err) == (Exit.INVALID, True)


def test_a_metric_that_is_not_stored_and_an_unknown_system_are_refused(main: Path, lake_folder: Path) -> None:
    said = across(main, lake_folder, A, "--fail-if", "precision@2 drops > 0.1")
    assert (said.code, "precision@2" in said.err) == (Exit.MISSING, True)
    said = across(main, lake_folder, "whole-file+bm25", A)
    assert (said.code, "Did you mean 'whole-file+bm25-okapi'" in said.err) == (Exit.USAGE, True)
