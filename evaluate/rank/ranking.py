"""From scores to ranked rows: the best chunks of a pool per query, with equal scores ordered by the task's tie rule."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

import dataframely as dy
import numpy as np
import polars as pl

from evaluate.rank.pools import ChunkedPools
from evaluate.retrievers import Floats, Integers, Pool, Queries, Retriever
from lake.catalog.protocol import CUT_OFFS, TieRule
from lake.errors import GoldspanError, file_of, located
from lake.fingerprint import seeded_hash
from lake.offsets import LineOffsets, added_lines
from lake.tables import DONE, LINES, RANKING, table
from lake.tables.of_runs import CostRows, Hits, RunItems
from lake.usage import hardware

HITS = {
    **dict.fromkeys(("run_id", "item_id", "part"), pl.String),
    **dict.fromkeys(("rank", "chunk"), pl.Int64),
    "score": pl.Float64,
}
"""The columns of ranked chunks; `chunk` is the row among the chunks of all pools."""


_Returned = tuple[str, Sequence[str], Integers, Integers, Integers, Floats]
"""The returned chunks of some queries, in order: part, the queries' ids, the query of each, rank, chunk, score."""


@dataclass
class Ranked:
    """The result of ranking some pools: `query_seconds` has one number per item, `failed` each failed item's error.

    `ties` are items and the cut-offs k for which ranks k and k + 1 have equal scores; an item's in ascending order.
    """

    returned: list[_Returned] = field(default_factory=list)
    ties: list[tuple[str, int]] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    index_seconds: float = 0.0
    index_bytes: int = 0
    query_seconds: list[float] = field(default_factory=list)


def rank(
    retriever: Retriever,
    pairs: Iterable[tuple[Pool, Queries]],
    *,
    tie: TieRule,
    depth: int | None,
    cut_offs: Sequence[int] = CUT_OFFS,
    zero_blank: bool = False,
    before: Ranked | None = None,
) -> Ranked:
    """Rank every pool for its queries. If the retriever fails on a pool, that pool's items fail and the rest goes on.

    The best `depth` results are kept (None: all). With `zero_blank`, texts of only white space score 0.
    """
    result = Ranked() if before is None else before
    for pool, queries in pairs:
        started = time.perf_counter()
        try:
            index = retriever.index(pool)
            indexed = time.perf_counter()
            answer = index.search(queries)
            tables = {RANKING: _checked(answer.scores, pool, queries)}
            if answer.lines is not None:
                tables[LINES] = _checked(answer.lines, pool, queries)
            n_bytes = int(index.n_bytes)
        except Exception as error:
            # A retriever may be anyone's code: its error becomes a row and does not end the run.
            is_ours = isinstance(error, GoldspanError)
            why = f"{type(error).__name__}: {error}" if is_ours else located(error, file_of(retriever.index))
            why = why.splitlines()[0][:300].encode(errors="backslashreplace").decode()
            result.failed.update(dict.fromkeys(queries.item_id, why))
            continue
        searched = time.perf_counter()
        result.index_seconds += indexed - started
        result.index_bytes += n_bytes
        result.query_seconds += [(searched - indexed) / len(queries)] * len(queries)
        for row, why in answer.failed.items():
            tables[RANKING][row] = np.nan
            result.failed[queries.item_id[row]] = why
        if zero_blank:
            is_zero = (queries.text.is_blank[:, None] | pool.spread(pool.text.is_blank)) & ~np.isnan(tables[RANKING])
            tables[RANKING][is_zero] = 0.0
        # Sort keys for equal scores, in ascending order.
        keys = np.broadcast_to(np.arange(pool.places.shape[1]), (len(queries), pool.places.shape[1]))
        if tie != "pool":
            item = np.array([seeded_hash(item_id) for item_id in queries.item_id], np.uint64)
            keys = mixed(item[:, None] ^ pool.spread(mixed(pool.hashes))).view(np.int64)
        for part, scores in tables.items():
            # From best to worst; chunks that are not returned come last.
            order = np.lexsort((keys, np.where(np.isnan(scores), np.inf, -scores)), axis=-1)
            ranked = np.take_along_axis(scores, order, axis=-1)
            if part == RANKING:
                equal = {k: ranked[:, k - 1] == ranked[:, k] for k in cut_offs if k < ranked.shape[1]}
                result.ties += [(queries.item_id[row], k) for k in equal for row in np.flatnonzero(equal[k]).tolist()]
            query, column = np.nonzero(~np.isnan(ranked[:, :depth]))
            first = pool.first + (np.cumsum(pool.sizes) - pool.sizes)[query if pool.side_by_side else 0]
            chunk, score = first + order[query, column], ranked[query, column]
            result.returned.append((part, queries.item_id, query, column + 1, chunk, score))
    return result


def _checked(scores: Floats, pool: Pool, queries: Queries) -> Floats:
    wanted = (len(queries), pool.places.shape[1])
    checked = np.array(scores, dtype=np.float64)
    if checked.shape != wanted:
        raise ValueError(f"scores: found {checked.shape}, not the shape (queries, chunks) = {wanted}")
    if np.isinf(checked).any():
        raise ValueError("scores: found an infinite one, not finite numbers, or NaN for what is not returned")
    if pool.side_by_side:
        checked[~pool.places] = np.nan
    return checked


def mixed(value: np.ndarray[tuple[int, ...], np.dtype[np.uint64]]) -> np.ndarray[tuple[int, ...], np.dtype[np.uint64]]:
    """The finaliser of splitmix64: every bit of the input affects every bit of the output."""
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


def hits_by_run(ranked: Mapping[str, Ranked]) -> pl.DataFrame:
    """The returned chunks of all runs as one frame: one for each of many small pools costs more than their ranking."""
    returned = [(run_id, *each) for run_id, of_run in ranked.items() for each in of_run.returned]
    if not returned:
        return pl.DataFrame(schema=HITS)
    run_ids, parts, item_ids, rows, *columns = zip(*returned, strict=True)
    row, *numbers = map(np.concatenate, (rows, *columns))
    sizes, n_queries = [*map(len, rows)], np.array([*map(len, item_ids)])
    row += np.repeat(np.cumsum(n_queries) - n_queries, sizes)
    # Gathered from series, so that rows share their texts, without a query plan.
    number = np.repeat(np.arange(len(returned)), sizes)
    run_id, part = (pl.Series(values, dtype=pl.String)[number] for values in (run_ids, parts))
    item_id = pl.Series(list(chain.from_iterable(item_ids)), dtype=pl.String)[row]
    return pl.DataFrame(dict(zip(HITS, (run_id, item_id, part, *numbers), strict=True)), schema=HITS)


def ranked_hit_rows(by_run: pl.DataFrame, pools: ChunkedPools, axis: LineOffsets | None) -> dy.DataFrame[Hits]:
    """The rows of `hits`; `axis` is needed if chunks overlap: the lines of the pools' files."""
    where = pools.chunks.drop("chunk")[by_run["chunk"]]
    hits = by_run.hstack(where.rename({"n_nws": "n_new_nws"}))
    rows = hits.lazy().with_columns(step=pl.lit(0, pl.Int64))
    if axis is not None:
        # Each hit counts the characters that it adds to those ranked before it.
        key = ["run_id", "item_id", "part", "rank"]
        added = added_lines(hits, ["run_id", "item_id", "pool_id", "part"]).lazy()
        new = axis.place(added).select(*key, n_new_nws=axis.n_nws()).group_by(key).agg(pl.col("n_new_nws").sum())
        rows = rows.drop("n_new_nws").join(new, on=key, how="left", maintain_order="left")
        rows = rows.with_columns(pl.col("n_new_nws").fill_null(0))
    return Hits.cast(pl.concat([Hits.create_empty(lazy=True), rows], how="diagonal_relaxed")).collect()


def run_item_rows(
    ranked: Mapping[str, Ranked], by_run: pl.DataFrame, items: pl.DataFrame, pools: ChunkedPools
) -> dy.DataFrame[RunItems]:
    """The outcome of each item of some runs, whose hits are `by_run`."""
    key = ["run_id", "item_id"]
    n_nws = pl.lit(pools.chunks["n_nws"]).gather(pl.col("chunk"))
    of_items = by_run.lazy().filter(pl.col("part") == RANKING).with_columns(n_nws=n_nws).group_by(key)
    returned = of_items.agg(n_returned=pl.len().cast(pl.Int64), n_nws=pl.col("n_nws").sum())
    # A row per cut-off: rows with lists are slow to read.
    ties = [(run_id, *tie) for run_id, of_run in ranked.items() for tie in of_run.ties]
    failed = [(run_id, *item) for run_id, of_run in ranked.items() for item in of_run.failed.items()]
    texts = dict.fromkeys(key, pl.String())
    tied = pl.LazyFrame(ties, {**texts, "ties": pl.Int64}, orient="row").group_by(key).agg("ties")
    known = (
        pl.LazyFrame({"run_id": list(ranked)}, {"run_id": pl.String})
        .join(items.lazy().select("item_id"), how="cross")
        .join(pl.LazyFrame(failed, {**texts, "error": pl.String}, orient="row"), on=key, how="left")
        .join(tied, on=key, how="left")
        .join(returned, on=key, how="left")
    )
    status = pl.when(pl.col("error").is_null()).then(pl.lit(DONE)).otherwise(pl.lit("failed"))
    nothing = pl.col("ties").fill_null([]), pl.col("n_returned", "n_nws").fill_null(0)
    rows = known.with_columns(*nothing, status=status)
    return RunItems.cast(pl.concat([RunItems.create_empty(lazy=True), rows], how="diagonal_relaxed")).collect()


def cost_rows(ranked: Sequence[Mapping[str, Ranked]], part: str) -> dy.DataFrame[CostRows]:
    """The cost of ranking a part, summed over batches of pools."""
    rows = [
        {
            "run_id": run_id,
            "part": part,
            "index_seconds": sum(some[run_id].index_seconds for some in ranked),
            "index_bytes": sum(some[run_id].index_bytes for some in ranked),
            "query_seconds": [seconds for some in ranked for seconds in some[run_id].query_seconds],
            "hardware": hardware(),
        }
        for run_id in ranked[0]
    ]
    return CostRows.cast(pl.DataFrame(rows, table("costs").columns))
