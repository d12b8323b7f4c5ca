import json
import shutil
from pathlib import Path

import polars as pl
import pytest

from lake.errors import Exit
from tests.tiny import Said, command

pytestmark = pytest.mark.slow

A, B = "whole-file+bm25-okapi", "whole-file+own-file"
BEST, WORST = "whole-file+own-file", "whole-file+random"
OF_THE_FAMILY = {"p_adjusted", "verdict", "exploratory"}


def across(there: Path, here: Path, *arguments: object) -> Said:
    return command("evaluate", "compare", *arguments, "--against", there, "--lake", here)


@pytest.fixture(scope="module")
def site(_made_once: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    lake = shutil.copytree(_made_once / "lake", folder / "lake")
    command("report", "--lake", lake, "--site", folder / "site", "--quiet").done()
    return folder / "site"


@pytest.fixture
def published(site: Path, tmp_path: Path) -> Path:
    return shutil.copytree(site / "data", tmp_path / "data") / "scores.parquet"


def test_the_numbers_are_those_of_one_lake(published: Path, lake_folder: Path) -> None:
    flags = ("--metric", "precision@5,mrr", "--flips", "--json")
    apart = across(published, lake_folder, A, B, *flags)
    within = command("evaluate", "compare", A, B, *flags, "--lake", lake_folder)
    declared = [row for row in json.loads(within.out) if row["is_declared"]]
    assert [{**row, **dict.fromkeys(OF_THE_FAMILY)} for row in json.loads(apart.out)] == [
        {**row, **dict.fromkeys(OF_THE_FAMILY)} for row in declared
    ]
    assert len(declared) > 2


@pytest.mark.parametrize(
    ("name", "changed", "words"),
    [
        ("queries", pl.col("sha256").str.replace("^.", "x"), "the queries of 5 of 5 shared items differ"),
        ("gold_spans", pl.col("line_end") + 1, "the gold of 5 of 5 shared items differ"),
        ("gold_spans", pl.col("path") + "x", "the gold of 5 of 5 shared items differ"),
        ("scores", pl.col("protocol_hash").str.reverse(), "scored by different rules"),
        ("benchmarks", pl.lit("mined").alias("label"), "labelled '' here, 'mined' there"),
    ],
)
def test_other_data_and_other_rules_are_refused(
    name: str, changed: pl.Expr, words: str, published: Path, lake_folder: Path
) -> None:
    file = published.with_name(f"{name}.parquet")
    pl.read_parquet(file).with_columns(changed).write_parquet(file)
    said = across(published, lake_folder, A, "--fail-if", "mrr drops > 0.5")
    assert (said.code, said.out) == (Exit.INVALID, "")
    assert words in said.err
    assert len(said.err.splitlines()) <= 10


def test_items_of_one_side_alone_are_named(published: Path, lake_folder: Path) -> None:
    scores = pl.read_parquet(published)
    scores.filter(item_id=scores["item_id"].min()).write_parquet(published)
    said = across(published, lake_folder, A, "--protocol", "repoeval@chunking-v1").done()
    assert "repoeval@chunking-v1: 4 items scored here alone: left out of the difference" in said.out
    assert "1 and 5" in said.out


def test_an_export_of_a_run_is_compared_and_says_what_it_cannot_tell(lake_folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "main.parquet"
    flags = ("--table", "scores", "--format", "parquet", "-o", file)
    assert command("report", "export", A, *flags, "--lake", lake_folder).code == 0
    said = across(file, lake_folder, A).done()
    unknown = "the benchmark's label, the queries, the gold, the searched files"
    assert f"repoeval: not published beside the scores, so not compared with this lake's: {unknown}" in said.out


def test_what_holds_no_scores_is_refused(lake_folder: Path, tmp_path: Path) -> None:
    for folder in (tmp_path / "nowhere", lake_folder):
        said = across(folder, lake_folder, A)
        assert (said.code, "no such file of scores" in said.err) == (Exit.MISSING, True)
    (tmp_path / "text.parquet").write_text("no Parquet")
    assert across(tmp_path / "text.parquet", lake_folder, A).code == Exit.INVALID
    pl.DataFrame({"item_id": ["a"]}).write_parquet(tmp_path / "other.parquet")
    said = across(tmp_path / "other.parquet", lake_folder, A)
    assert (said.code, "lacks the columns benchmark, system, run_id" in said.err) == (Exit.INVALID, True)


def test_a_metric_that_is_not_stored_and_an_unknown_system_are_refused(published: Path, lake_folder: Path) -> None:
    said = across(published, lake_folder, A, "--fail-if", "precision@2 drops > 0.1")
    assert (said.code, "precision@2" in said.err) == (Exit.MISSING, True)
    said = across(published, lake_folder, "whole-file+bm25", A)
    assert (said.code, "Did you mean 'whole-file+bm25-okapi'" in said.err) == (Exit.USAGE, True)
