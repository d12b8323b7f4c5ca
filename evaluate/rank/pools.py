"""Items and pools in the form that retrievers take: one frame of chunks per chunker, one group of queries per pool."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise

import dataframely as dy
import numpy as np
import polars as pl

from evaluate.embedding.vectors import VectorStore
from evaluate.rank.chunk_texts import ChunkTexts
from evaluate.rank.similarity import similarities
from evaluate.retrievers import Floats, Pool, Queries, Span
from evaluate.texts.tokens import query_texts
from lake.offsets import LineOffsets
from lake.pools import chunks_of, files_of
from lake.store import Lake, contents_of
from lake.tables.evaluated import Relevance

POOL_FILES_AT_ONCE = 100_000
"""The approximate number of files in the pools whose chunks are in memory together; at least one pool."""

SMALL_POOL = 200
"""The mean number of chunks per pool up to which pools are scored side by side rather than one by one."""


@dataclass(frozen=True)
class ChunkedPools:
    """The pools of some items, chunked by one chunker.

    `chunks` has pool_id, path, chunk_no, lines, bytes and n_nws of every chunk, pool by pool in the pools' own order;
    `chunk` numbers them within their pool from 0, `text` is a row of `texts`, where a content in several pools is once.
    `first` is the row of the first chunk among those of all pools, in a batch of some.
    """

    chunker: str
    chunks: pl.DataFrame
    texts: ChunkTexts
    vectors: VectorStore | None = None
    first: int = 0
    _pools: dict[int, list[Pool]] = field(init=False, default_factory=dict)

    def side_by_side(self, n: int = 1) -> list[Pool]:
        """The pools as objects for retrievers, one per `n` pools side by side, in the order of the chunks."""
        if n not in self._pools:
            starts = np.flatnonzero(self.chunks["chunk"].to_numpy() == 0)
            ids, ends = self.chunks["pool_id"][starts].to_list(), [*starts.tolist(), self.chunks.height]
            some = [slice(first, first + n) for first in range(0, len(ids), n)]
            self._pools[n] = [self._pool(ids[at], ends[at.start : at.stop + 1], n) for at in some]
        return self._pools[n]

    def without_blank(self) -> ChunkedPools:
        """The same pools without chunks of only white space."""
        chunks = self.chunks.filter(pl.col("n_nws") > 0)
        if chunks.height == self.chunks.height:
            return self
        return replace(self, chunks=chunks.with_columns(chunk=pl.int_range(pl.len()).over("pool_id")))

    @cached_property
    def share_lines(self) -> bool:
        """Whether any line is in several chunks of a file."""
        # A file's chunks are in the order of their first lines; files are laid end to end, so one maximum does for all.
        is_first = (pl.col("chunk") == 0) | (pl.col("path") != pl.col("path").shift(1))
        offset = is_first.cum_sum().cast(pl.Int64) * (1 + pl.col("line_end").max())
        before = (offset + pl.col("line_end")).cum_max().shift(1)
        return bool(self.chunks.select((offset + pl.col("line_start") < before).any()).item())

    def batches(self, items: pl.DataFrame) -> Iterator[ChunkedPools]:
        """The same pools in batches whose texts fit in memory; small pools of one item each are not split."""
        n_bytes, bytes_at_once = pl.col("byte_end") - pl.col("byte_start"), 64_000_000
        if self.are_own(items) or self.chunks.select(n_bytes.sum()).item() <= bytes_at_once:
            yield self
            return
        size = self.chunks.group_by("pool_id", maintain_order=True).agg(n_bytes.sum())
        batch = size.select("pool_id", batch=pl.col("byte_end").cum_sum() // bytes_at_once)
        numbered = self.chunks.join(batch, on="pool_id", maintain_order="left")
        # Pools that are one repository at many commits share most texts, which are then tokenized once for all.
        is_shared = self.chunks.unique("text").select(n_bytes.sum()).item() <= bytes_at_once
        first = self.first
        for chunks in numbered.partition_by("batch", maintain_order=True, include_key=False):
            if is_shared:
                yield replace(self, chunks=chunks, first=first)
            else:
                rows = chunks["text"].unique().sort()
                own = chunks.with_columns(text=rows.search_sorted(chunks["text"]).cast(pl.Int64))
                yield replace(self, chunks=own, texts=self.texts.part(rows.to_numpy()), first=first)
            first += chunks.height

    def are_own(self, items: pl.DataFrame) -> bool:
        """Whether every item searches a small pool that no other item searches."""
        n_pools = items["pool_id"].n_unique()
        return n_pools == items.height and self.chunks.height <= SMALL_POOL * n_pools

    def _pool(self, ids: Sequence[str], ends: Sequence[int], n: int) -> Pool:
        """Some pools as one; `ends`: the start of the first among all chunks, and the end of each."""
        chunks, sizes = self.chunks[ends[0] : ends[-1]], np.diff(ends)
        return Pool(
            pool_id=", ".join(ids),
            path=chunks["path"].to_list(),
            chunk_no=chunks["chunk_no"].to_numpy(),
            line_start=chunks["line_start"].to_numpy(),
            line_end=chunks["line_end"].to_numpy(),
            n_file_lines=chunks["n_file_lines"].to_numpy(),
            text=self.texts.rows(chunks["text"].to_numpy(), np.repeat(np.arange(len(ids)), sizes) if n > 1 else None),
            vectors=self.vectors,
            side_by_side=dict(zip(ids, sizes.tolist(), strict=True)) if n > 1 else {},
            first=self.first + ends[0],
        )


def split_pools(lake: Lake, pool_ids: pl.Series, files_at_once: int) -> list[pl.Series]:
    """Pools in their order, in batches of about `files_at_once` files, to bound memory."""
    n_files = files_of(lake, pool_ids).group_by("pool_id").len("n")
    sized = pool_ids.rename("pool_id").to_frame().lazy().join(n_files, on="pool_id", how="left", maintain_order="left")
    batch = pl.col("n").fill_null(0).cast(pl.Int64).cum_sum() // files_at_once
    batches = sized.select("pool_id", batch=batch).collect().partition_by("batch", maintain_order=True)
    return [pools["pool_id"] for pools in batches]


def load_pools(lake: Lake, chunker: str, pool_ids: pl.Series, *, with_blank: bool = False) -> ChunkedPools:
    """Read the chunks of some pools; `with_blank` includes those of only white space and of files without lines."""
    rows = files_of(lake, pool_ids).sort("pool_id", "position").collect()
    contents = contents_of(lake, rows["sha256"], ["n_lines"])
    cut = chunks_of(lake, chunker, contents, with_blank=with_blank)
    whole = contents.lazy().rename({"n_lines": "n_file_lines"})
    spans = cut.join(whole, on="sha256").sort("sha256", "chunk_no").collect()
    key = ["sha256"]
    if spans["text"].null_count() == spans.height:
        spans = spans.drop("text")
    else:
        # A supplied text may contain the path, so each path has its own text.
        key.append("path")
        paths = rows.lazy().select("sha256", "path").unique().sort("sha256", "path")
        spans = paths.join(spans.lazy(), on="sha256", maintain_order="left_right").collect()
    numbered = spans.lazy().drop("text", strict=False).with_row_index("text")
    chunks = (
        rows.lazy()
        .join(numbered, on=key, maintain_order="left_right")
        .with_columns(pl.col("text").cast(pl.Int64), chunk=pl.int_range(pl.len()).over("pool_id"))
        .drop("sha256", "position")
        .collect()
    )
    return ChunkedPools(chunker, chunks, ChunkTexts(lake, spans), VectorStore(lake))


def relevance_rows(lake: Lake, pools: ChunkedPools, items: pl.DataFrame, gold: pl.DataFrame) -> dy.DataFrame[Relevance]:
    """The similarity of every chunk to its item's gold snippet: the whole file that the gold's path names."""
    rows, zero = list[pl.DataFrame](), pl.lit(0, pl.Int64)
    for some in pools.batches(items):
        pool_ids = some.chunks["pool_id"].unique()
        of_pools = items.filter(pl.col("pool_id").is_in(pool_ids.implode())).lazy().select("item_id", "pool_id")
        gold_files = gold.lazy().select("item_id", "path").join(of_pools, on="item_id")
        own = gold_files.join(files_of(lake, pool_ids), on=["pool_id", "path"]).select("item_id", "sha256").collect()
        # The whole files, as if each were one chunk.
        sizes = contents_of(lake, own["sha256"], ["n_lines", "n_bytes"]).lazy()
        spans = sizes.select("sha256", line_start=zero, line_end="n_lines", byte_start=zero, byte_end="n_bytes")
        whole = spans.collect()
        numbered = whole.lazy().select("sha256", snippet=pl.int_range(pl.len()))
        golden = own.lazy().join(numbered, on="sha256").select("item_id", "snippet").collect()
        pairs = of_pools.join(some.chunks.lazy(), on="pool_id", maintain_order="left_right")
        chunks = pairs.select("item_id", "path", "chunk_no", "text").collect()
        rows.append(similarities(chunks, some.texts.own, golden, ChunkTexts(lake, whole)))
    return Relevance.cast(pl.concat(rows).with_columns(chunker=pl.lit(pools.chunker)))


def load_axis(lake: Lake, pool_ids: pl.Series) -> LineOffsets:
    """The axis of lines of every file of some pools, with the non-whitespace characters per line."""
    rows = files_of(lake, pool_ids).select("pool_id", "path", "sha256").collect()
    counts = contents_of(lake, rows["sha256"], ["line_nws"]).lazy()
    of_files = rows.lazy().join(counts, on="sha256").select("pool_id", "path", n_nws="line_nws")
    return LineOffsets.of(of_files.collect())


def cut_files(lake: Lake, pool_ids: pl.Series) -> dict[str, tuple[bool, bool]]:
    """For each chunker, whether it has cut all files of some pools, and whether that gave any chunk."""
    files = files_of(lake, pool_ids).select("pool_id", "sha256")
    n_lines = lake.scan("blobs").select("sha256", "n_lines")
    of_contents = files.select("sha256").unique().join(n_lines, on="sha256", how="left")
    n_pools, contents = pl.collect_all([files.select(pl.col("pool_id").n_unique()), of_contents])
    has_pools = n_pools.item() == pool_ids.n_unique()
    to_cut = contents.lazy().filter(pl.col("n_lines").is_null() | (pl.col("n_lines") > 0))
    cut = lake.scan("chunk_status").join(to_cut, on="sha256", how="semi").group_by("chunker")
    counts = cut.agg(pl.col("sha256").n_unique(), (pl.col("n_chunks") > 0).any()).collect()
    of_chunker = {chunker: (n_cut, is_any) for chunker, n_cut, is_any in counts.iter_rows()}
    n_to_cut, has_lines = to_cut.select(pl.len(), (pl.col("n_lines") > 0).any()).collect().row(0)
    result = {}
    for name in [part.name for part in lake.parts("chunkers")]:
        n_cut, is_any = of_chunker.get(name, (0, False))
        listed, stored = ({part.name for part in lake.parts(of, chunker=name)} for of in ("chunk_status", "chunks"))
        result[name] = (has_pools and listed <= stored and n_cut == n_to_cut, is_any or not has_lines)
    return result


def queries_by_pool(
    items: pl.DataFrame, pools: ChunkedPools, n_side_by_side: int = 1
) -> Iterator[tuple[Pool, Queries]]:
    """Each pool that has chunks, or `n_side_by_side` small ones together, with the queries of its items."""
    made = pools.side_by_side(n_side_by_side)
    numbered = pools.chunks.lazy().select(pl.col("pool_id").unique(maintain_order=True)).with_row_index("pool")
    texts = query_texts(tuple(items["text"]))
    rows = items.lazy().with_row_index("row").sort("pool_id", "item_id")
    placed = rows.join(numbered, on="pool_id", maintain_order="left").select(
        "item_id",
        "row",
        "target_path",
        pl.col("target_line").fill_null(-1).cast(pl.Int64),
        number=pl.col("pool") // n_side_by_side,
    )
    columns = placed.collect().to_dict(as_series=False)
    numbers = np.array(columns.pop("number"), np.int64)
    for begin, end in pairwise([*np.flatnonzero(np.diff(numbers, prepend=-1)), len(numbers)]):
        item_id, row, path, line = (values[begin:end] for values in columns.values())
        text = texts.rows(np.array(row, np.int64))
        queries = Queries(item_id=item_id, text=text, target_path=path, target_line=np.array(line, np.int64))
        yield made[numbers[begin]], queries


def with_gold(
    pairs: Iterable[tuple[Pool, Queries]],
    items: pl.DataFrame,
    pools: ChunkedPools,
    gold: pl.DataFrame,
    relevance: pl.LazyFrame | None,
    similarity: str,
) -> Iterator[tuple[Pool, Queries]]:
    """Pools and queries with gold for the oracle, or with each chunk's `similarity`, a column of `relevance`."""
    spans: dict[str, list[Span]] = {}
    for item_id, *span in gold.select("item_id", "path", "line_start", "line_end", pl.col("grade").fill_null(1)).rows():
        spans.setdefault(item_id, []).append(Span(*span))
    gained: dict[str, Floats] = {}
    if relevance is not None:
        # The gains of the chunks of each item's pool, in the pool's order.
        ordered = (
            items.lazy()
            .select("item_id", "pool_id")
            .join(pools.chunks.lazy().select("pool_id", "path", "chunk_no", "chunk"), on="pool_id")
            .join(relevance, on=["item_id", "path", "chunk_no"], how="left")
            .sort("item_id", "chunk")
            .group_by("item_id", maintain_order=True)
            .agg(pl.col(similarity).fill_null(0.0))
        )
        gained = {item_id: np.array(gain) for item_id, gain in ordered.collect().iter_rows()}
    for pool, queries in pairs:
        gold_of = [spans.get(item_id, []) for item_id in queries.item_id]
        yield pool, replace(queries, gold=gold_of, gains=[gained[item_id] for item_id in queries.item_id if gained])
