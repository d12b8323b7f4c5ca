"""The package rank_bm25: the BM25 of every chunk that is returned, over RepoEval's repositories."""

from __future__ import annotations

import importlib
from collections.abc import Iterator

import numpy as np
import polars as pl

from evaluate.results.parity.reference import Reference, Values, Work
from lake.catalog.tasks import TASKS
from lake.text import words

_TASK = "repoeval/prompt"
_CHUNKER = "fixed-nws-1800"


def _values(work: Work) -> Iterator[Values]:
    """The scores of each item's list, from the first rank down: the same scores in the same places."""
    system = f"{_CHUNKER}+bm25-okapi"
    work.run("ingest", "repoeval", "--source", str(work.source), "--chunkers", _CHUNKER)
    work.run("evaluate", "--benchmarks", "repoeval", "--systems", system)
    runs = work.lake.scan("runs", benchmark="repoeval").filter(pl.col("system") == system, pl.col("task") == _TASK)
    hits = work.lake.scan("hits", benchmark="repoeval").join(runs.select("run_id"), on="run_id", how="semi")
    ours = hits.select("item_id", "rank", value="score").collect()
    yield Values("score at each rank", ours, _theirs(work, ours))


def _theirs(work: Work, ours: pl.DataFrame) -> pl.DataFrame:
    lake = work.lake
    queries = lake.scan("queries", benchmark="repoeval").filter(pl.col("query") == TASKS[_TASK].query)
    items = lake.scan("items", benchmark="repoeval").select("item_id", "pool_id").join(queries, on="item_id")
    ranked = items.join(ours.group_by("item_id").agg(n=pl.len()).lazy(), on="item_id").sort("item_id").collect()
    scores = []
    for (pool_id,), asked in ranked.group_by("pool_id", maintain_order=True):
        index = importlib.import_module("rank_bm25").BM25Okapi([words(text) for text in _chunks(work, str(pool_id))])
        for item_id, text, n in asked.select("item_id", "text", "n").iter_rows():
            best = np.sort(index.get_scores(words(text)))[::-1][:n]
            scores.append(pl.DataFrame({"value": best}).with_row_index("rank", 1).with_columns(item_id=pl.lit(item_id)))
    return pl.concat(scores).select("item_id", pl.col("rank").cast(pl.Int64), "value")


def _chunks(work: Work, pool_id: str) -> list[str]:
    """The texts of a pool's chunks, cut out of the files by their bytes."""
    files = work.lake.scan("files").filter(pl.col("pool_id") == pool_id).join(work.lake.scan("blobs"), on="sha256")
    chunks = work.lake.scan("chunks", chunker=_CHUNKER).filter(pl.col("n_nws") > 0)
    text = pl.col("text").cast(pl.Binary).bin.slice(pl.col("byte_start"), pl.col("byte_end") - pl.col("byte_start"))
    rows = files.join(chunks, on="sha256").sort("path", "chunk_no").select(text.cast(pl.String))
    return rows.collect()["text"].to_list()


RANK_BM25 = Reference(
    name="rank_bm25",
    benchmark="repoeval",
    kind="independent library",
    needs=("repoeval/repositories",),
    values=_values,
    packages=("rank_bm25",),
)
