"""fixed-nws against the line ranges that the published code-chunk evaluation ranked."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

import polars as pl
import pytest

from ingest.contents.chunkers import Document
from ingest.contents.chunkers.lines import fixed_nws
from lake.text import decode

DATA = Path(__file__).parents[3] / "../shared/data/repoeval"
RANKINGS = DATA / "code-chunk/rankings.parquet"
REPOSITORIES = DATA / "repositories/function_level.zip"


@pytest.mark.shared
@pytest.mark.skipif(not RANKINGS.exists() or not REPOSITORIES.exists(), reason="../shared/data/repoeval is not there")
def test_every_published_fixed_range_is_a_chunk_of_fixed_nws_1800() -> None:
    published = (
        pl.read_parquet(RANKINGS)
        .filter(chunker="fixed")
        # There patchcore had a built copy of its sources, which the archive does not hold.
        .with_columns(pl.col("path").str.replace("^build/lib/", "src/"))
        .select("repo", "path", "start_line", "end_line")
        .unique()
    )
    found = n_past_the_end = 0
    with ZipFile(REPOSITORIES) as archive:
        for (repo, path), ranges in published.group_by("repo", "path"):
            document = Document(decode(archive.read(f"function_level/{repo}/{path}"))[0], "python")
            chunks, n_lines = set(fixed_nws(document, 1800).ranges), len(document.lines)
            for start, last in ranges.select("start_line", "end_line").iter_rows():
                # Their split at newlines counts an empty line after the last one.
                n_past_the_end += last == n_lines
                found += last <= n_lines and (start, min(last + 1, n_lines)) in chunks
    assert (published.height, found) == (published.height, published.height)
    assert published.height > 350
    assert n_past_the_end > 0
