"""What `report export` writes of a run, `ingest run` reads as the same run: every score is the same."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from lake.store import Lake
from tests.tiny import command

CHUNKER, SYSTEM = "window-4-2", "window-4-2+bm25-okapi"
READ_AS = {
    "trec": "trec",
    "ranx": "json",
    "tsv": "tsv",
    "beir-results": "beir",
    "answers": "answers",
    "parquet": "parquet",
}


def scores(lake: Lake, system: str) -> pl.DataFrame:
    (run_id,) = lake.read("runs").filter(pl.col("system") == system)["run_id"]
    return lake.read("scores").filter(pl.col("run_id") == run_id).drop("run_id")


def test_every_format_of_rankings_gives_the_scores_that_it_was_written_with(lake_folder: Path, tmp_path: Path) -> None:
    lake = Lake(lake_folder)
    for written, read in READ_AS.items():
        file = tmp_path / f"run.{written}"
        assert command("report", "export", SYSTEM, "--format", written, "-o", file, "--lake", lake_folder).code == 0
        named = ("--benchmark", "repoeval", "--system", written, "--chunker", CHUNKER)
        said = command("ingest", "run", file, *named, "--lake", lake_folder)
        assert (said.code, f"--format {read})" in said.err) == (0, True), said.err
    assert command("evaluate", "--systems", ",".join(READ_AS), "--lake", lake_folder).code == 0
    first = scores(lake, SYSTEM)
    key = [name for name in first.columns if first[name].dtype != pl.Float64]
    assert first.height > 100
    for written in READ_AS:
        again = scores(lake, written)
        assert again.sort(key).equals(first.sort(key)), written
