"""Items and pools as retrievers take them: one frame of chunks per chunker, one group of queries per pool."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl

from evaluate.lines import LineAxis
from evaluate.retrievers import Floats, Pool, Queries, Span, Vectors
from evaluate.similarity import similarities
from evaluate.tasks import QUERIES, Task
from lake.store import Lake
from lake.text import n_nws_per_line


@dataclass(frozen=True)
class ChunkedPools:
    """The pools of some items as one chunker cuts them.

    Attributes:
        chunker: Its name.
        chunks: pool_id, path, chunk_no, lines, bytes, n_nws and text of every chunk that is not white space alone, in
            the pools' own order; `chunk` counts them within their pool from 0.
    """

    chunker: str
    chunks: pl.DataFrame

    @cached_property
    def by_pool(self) -> dict[str, Pool]:
        """The same as columns per pool."""
        return {str(key[0]): _pool(str(key[0]), frame) for key, frame in self._groups}

    @cached_property
    def _groups(self) -> list[tuple[tuple[object, ...], pl.DataFrame]]:
        return list(self.chunks.group_by("pool_id", maintain_order=True))


def load_pools(lake: Lake, chunker: str, pool_ids: pl.Series) -> ChunkedPools:
    """Read the chunks of some pools, with their texts."""
    files = lake.scan("files").filter(pl.col("pool_id").is_in(pool_ids.unique().implode()))
    text = pl.col("text").cast(pl.Binary).bin.slice(pl.col("byte_start"), pl.col("byte_end") - pl.col("byte_start"))
    chunks = (
        lake.scan("chunks", chunker=chunker)
        .filter(pl.col("n_nws") > 0)
        .join(files, on="sha256")
        .join(lake.scan("blobs").select("sha256", "text", n_file_lines="n_lines"), on="sha256")
        .with_columns(text=text.cast(pl.String))
        .sort("pool_id", "position", "chunk_no")
        .with_columns(chunk=pl.int_range(pl.len()).over("pool_id"))
        .drop("sha256", "position", "chunker")
        .collect()
    )
    return ChunkedPools(chunker, chunks)


def relevance_rows(lake: Lake, pools: ChunkedPools, items: pl.DataFrame, gold: pl.DataFrame) -> pl.DataFrame:
    """How like its item's gold snippet every chunk is: rows of the table `relevance`.

    Args:
        lake: Where the snippets' own texts are.
        pools: The items' pools, cut.
        items: item_id, pool_id.
        gold: item_id, path: the candidate that is the gold snippet, whole.
    """
    files = lake.scan("files").join(gold.lazy().select("path").unique(), on="path", how="semi")
    snippets = (
        gold.lazy()
        .select("item_id", "path")
        .join(items.lazy().select("item_id", "pool_id"), on="item_id")
        .join(files, on=["pool_id", "path"])
        .join(lake.scan("blobs").select("sha256", "text"), on="sha256")
        .select("item_id", "text")
        .collect()
    )
    asked = items.select("item_id", "pool_id").join(pools.chunks, on="pool_id", maintain_order="left")
    texts = pl.concat([asked["text"], snippets["text"]]).unique(maintain_order=True).to_frame("text")
    texts = texts.with_row_index("text_id").with_columns(pl.col("text_id").cast(pl.Int64))
    chunks = asked.join(texts, on="text", maintain_order="left").select("item_id", "path", "chunk_no", "text_id")
    measured = similarities(chunks, texts, snippets.join(texts, on="text").select("item_id", "text_id"))
    return measured.with_columns(chunker=pl.lit(pools.chunker))


def load_axis(lake: Lake, pool_ids: pl.Series) -> LineAxis:
    """Every file of some pools, with the non-whitespace characters of each of its lines."""
    files = lake.scan("files").filter(pl.col("pool_id").is_in(pool_ids.unique().implode()))
    texts = lake.scan("blobs").select("sha256", "text").join(files.select("sha256"), on="sha256", how="semi").collect()
    counts = pl.DataFrame(
        {"sha256": texts["sha256"], "n_nws": [n_nws_per_line(text).tolist() for text in texts["text"]]},
        schema={"sha256": pl.String(), "n_nws": pl.List(pl.Int64())},
    )
    return LineAxis.of(files.join(counts.lazy(), on="sha256").select("pool_id", "path", "n_nws").collect())


def load_vectors(lake: Lake) -> Vectors | None:
    """The vectors that the lake was given; None where it was given none."""
    stored = lake.read("vectors").sort("model", "key")
    if stored.is_empty():
        return None
    dimensions = stored["vector"].list.len()[0]
    matrix = stored["vector"].list.to_array(dimensions).to_numpy().astype(np.float64)
    return Vectors(stored["model"][0], {key: row for row, key in enumerate(stored["key"])}, matrix)


def is_complete(lake: Lake, chunker: str, pool_ids: pl.Series) -> bool:
    """Whether some pools and their contents are there, and a chunker has cut every one that has a line."""
    part = lake.part("chunkers", chunker)
    if part is None:
        return False
    parameters = json.loads(lake.scan_parts([part], "chunkers").select("parameters").collect().item())
    stored = {stored.name for stored in lake.parts("chunks", chunker=chunker)}
    if not set(parameters["parts"]) <= stored:
        return False
    without = [sha256 for cut in parameters["parts"].values() for sha256 in cut["without_chunks"]]
    files = lake.scan("files").filter(pl.col("pool_id").is_in(pool_ids.unique().implode()))
    if files.select(pl.col("pool_id").n_unique()).collect().item() < pool_ids.n_unique():
        return False
    uncut = (
        files.select("sha256")
        .unique()
        .join(lake.scan("blobs").select("sha256", "n_lines"), on="sha256", how="left")
        .filter(pl.col("n_lines").is_null() | ((pl.col("n_lines") > 0) & ~pl.col("sha256").is_in(without)))
        .join(lake.scan("chunks", chunker=chunker).select("sha256"), on="sha256", how="anti")
    )
    return uncut.head(1).collect().is_empty()


def queries_by_pool(
    items: pl.DataFrame,
    task: Task,
    pools: ChunkedPools,
    *,
    gold: pl.DataFrame | None = None,
    gains: pl.DataFrame | None = None,
    vectors: Vectors | None = None,
) -> Iterator[tuple[Pool, Queries]]:
    """Each pool with the queries of its items; a pool without a chunk is left out, its items return nothing.

    Args:
        items: Rows of `items`.
        task: Says which column is the query.
        pools: The pools, cut.
        gold: Rows of `gold_spans` under one gold rule, for a retriever that is shown them.
        gains: item_id, path, chunk_no and `gain` of every chunk of the items' pools, likewise.
        vectors: Vectors given by hand, for a retriever that looks them up.
    """
    gained = _gains(items, pools, gains) if gains is not None else {}
    spans = _spans(gold) if gold is not None else {}
    asked = items.with_columns(query=QUERIES[task.query].fill_null(""))
    for (pool_id,), group in asked.sort("pool_id", "item_id").group_by("pool_id", maintain_order=True):
        pool = pools.by_pool.get(str(pool_id))
        if pool is None:
            continue
        item_ids = group["item_id"].to_list()
        yield (
            replace(pool, vectors=vectors),
            Queries(
                item_id=item_ids,
                text=group["query"].to_list(),
                target_path=group["target_path"].to_list(),
                target_line=group["target_line"].fill_null(-1).to_numpy().astype(np.int64),
                gold=[spans.get(item_id, []) for item_id in item_ids] if gold is not None else (),
                gains=[gained[item_id] for item_id in item_ids] if gains is not None else (),
            ),
        )


def _gains(items: pl.DataFrame, pools: ChunkedPools, gains: pl.DataFrame) -> dict[str, Floats]:
    """The gain of each chunk of an item's pool, in the pool's order."""
    ordered = (
        items.select("item_id", "pool_id")
        .join(pools.chunks.select("pool_id", "path", "chunk_no", "chunk"), on="pool_id")
        .join(gains, on=["item_id", "path", "chunk_no"], how="left")
        .sort("item_id", "chunk")
        .group_by("item_id", maintain_order=True)
        .agg(pl.col("gain").fill_null(0.0))
    )
    return {item_id: np.array(gain) for item_id, gain in ordered.iter_rows()}


def _spans(gold: pl.DataFrame) -> dict[str, list[Span]]:
    spans: dict[str, list[Span]] = {}
    for item_id, path, line_start, line_end in gold.select("item_id", "path", "line_start", "line_end").iter_rows():
        spans.setdefault(item_id, []).append(Span(path, line_start, line_end))
    return spans


def _pool(pool_id: str, chunks: pl.DataFrame) -> Pool:
    return Pool(
        pool_id=pool_id,
        path=chunks["path"].to_list(),
        chunk_no=chunks["chunk_no"].to_numpy(),
        line_start=chunks["line_start"].to_numpy(),
        line_end=chunks["line_end"].to_numpy(),
        n_file_lines=chunks["n_file_lines"].to_numpy(),
        text=chunks["text"].to_list(),
    )
