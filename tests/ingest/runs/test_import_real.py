"""The published rankings of the code-chunk evaluation: every document is found in the zipped repositories."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from evaluate.declared import declare
from evaluate.retrievers import retrievers
from ingest.runs.importing import import_run
from ingest.runs.request import ImportRequest
from lake.store import Lake
from tests.tiny import ingested

pytestmark = pytest.mark.shared

TASK = "repoeval/prompt-code-chunk"

CLAMPED = {"ast": 0, "fixed": 299}
"""Ranges that end one line past their file, as splitting on newlines alone gives them."""


@pytest.fixture(scope="module")
def data() -> Path:
    folder = Path(__file__).parents[3] / "../shared/data"
    if not folder.is_dir():
        pytest.skip("../shared/data, the real benchmark data, is not there")
    return folder.resolve()


@pytest.fixture(scope="module")
def lake(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    root = tmp_path_factory.mktemp("real")
    ingested(root, data, subsets=["function-2k"], chunkers=["whole-file"])
    lake = Lake(root)
    declare(lake, retrievers().values())
    yield lake
    shutil.rmtree(root)


def published(data: Path, chunker: str) -> pl.DataFrame:
    """item_id, document, rank and score: the lines there are 0-based, both ends included."""
    rows = pl.read_parquet(data / "repoeval/code-chunk/rankings.parquet").filter(pl.col("chunker") == chunker)
    document = pl.format("{}#L{}-L{}", "path", pl.col("start_line") + 1, pl.col("end_line") + 1)
    item = pl.format("function-2k/{}/{}", "repo", "n")
    return rows.select("path", "start_line", "end_line", "rank", "score", item_id=item, document=document)


@pytest.mark.parametrize("chunker", ["ast", "fixed"])
def test_every_published_document_is_found(data: Path, lake: Lake, tmp_path: Path, chunker: str) -> None:
    rows = published(data, chunker)
    file = tmp_path / "published.tsv"
    rows.select("item_id", "document", "rank", "score").write_csv(file, separator="\t")
    with lake.locked():
        result = import_run(lake, ImportRequest(file, "repoeval", f"published {chunker}", TASK), write=True)
    tally = result.counts
    assert (result.n_items, tally["n_done"], tally["n_missing"], result.n_rejected) == (373, 373, 0, 0)
    assert (tally["n_hits"], tally["n_unresolved"], tally["n_renumbered"]) == (rows.height, 0, 0)

    hits = lake.read("hits", run_id=result.run_id).select("item_id", "rank", "path", "line_start", "line_end")
    files = lake.read("files").filter(pl.col("pool_id").str.starts_with("repoeval/code-chunk/"))
    n_lines = files.join(lake.read("blobs"), on="sha256").select("pool_id", "path", "n_lines")
    pools = lake.read("items").select("item_id", pool_id=pl.lit("repoeval/code-chunk/") + pl.col("repo"))
    both = hits.join(rows, on=["item_id", "rank"], suffix="_published").join(pools, on="item_id")
    both = both.join(n_lines, on=["pool_id", "path"])
    assert both.height == rows.height
    assert both.filter(pl.col("path") != pl.col("path_published")).is_empty()
    assert both.filter(pl.col("line_start") != pl.col("start_line")).is_empty()
    end = pl.col("end_line") + 1
    assert both.filter(pl.col("line_end") != pl.min_horizontal(end, "n_lines")).is_empty()
    assert tally["n_clamped"] == both.filter(end == pl.col("n_lines") + 1).height == CLAMPED[chunker]


def test_paths_of_the_second_copy_mean_no_file_of_the_plain_task(data: Path, lake: Lake, tmp_path: Path) -> None:
    rows = published(data, "ast").select("item_id", "document", "rank", "score")
    rows.write_csv(tmp_path / "published.tsv", separator="\t")
    n_copied = rows.filter(pl.col("document").str.starts_with("build/lib/")).height
    result = import_run(lake, ImportRequest(tmp_path / "published.tsv", "repoeval", "x"), write=False)
    assert result.counts["n_unresolved"] == n_copied > 0
    assert (result.n_items, result.counts["n_done"], result.counts["n_not_asked"]) == (373, 373, 82)
