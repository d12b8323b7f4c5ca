from pathlib import Path

import polars as pl
import pytest

from lake.store import Lake
from tests.tiny import command

pytestmark = pytest.mark.slow

FORMATS = ("trec", "tsv", "parquet")


def scores(lake: Lake, system: str) -> pl.DataFrame:
    (run_id,) = lake.read("runs").filter(pl.col("system") == system)["run_id"]
    return lake.read("scores").filter(pl.col("run_id") == run_id).drop("run_id")


@pytest.mark.parametrize("chunker", ["window-4-2", "chonkie-token-6"], ids=["shared lines", "many within a line"])
def test_every_format_of_rankings_gives_the_scores_that_it_was_written_with(
    chunker: str, source: Path, lake_folder: Path, tmp_path: Path
) -> None:
    lake, system = Lake(lake_folder), f"{chunker}+bm25-okapi"
    if lake.part("chunkers", chunker) is None:
        asked = ("repoeval", "--source", source, "--chunkers", chunker, "--lake", lake_folder)
        assert command("ingest", *asked).code == 0
        assert command("evaluate", "--systems", system, "--lake", lake_folder).code == 0
    for written in FORMATS:
        file = tmp_path / f"run.{written}"
        assert command("report", "export", system, "--format", written, "-o", file, "--lake", lake_folder).code == 0
        named = ("--benchmark", "repoeval", "--system", written, "--chunker", chunker)
        said = command("ingest", "run", file, *named, "--lake", lake_folder)
        assert (said.code, f"--format {written})" in said.err) == (0, True), said.err
    assert command("evaluate", "--systems", ",".join(FORMATS), "--lake", lake_folder).code == 0
    first = scores(lake, system)
    key = [name for name in first.columns if first[name].dtype != pl.Float64]
    assert first.height > 100
    for written in FORMATS:
        again = scores(lake, written)
        assert again.sort(key).equals(first.sort(key)), written
