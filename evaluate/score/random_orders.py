"""Seeded random orders of each pool, and the mean scores of rankings in those orders."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from evaluate.metrics import Requested
from evaluate.score.coverage import OWN_TEXT, CutOff, sizes_of_walks
from evaluate.score.metric_values import BY_HITS, ScoringInputs, cut_offs_of, label, measure, measure_sets, of_shape
from lake.exact import exact_sum
from lake.fingerprint import sha256_of
from lake.offsets import LineOffsets
from lake.relevance import CHUNK_KEY, disjoint

N_ORDERS = 100


def mean_of_orders(inputs: ScoringInputs, requested: Requested) -> pl.LazyFrame:
    """Means over N_ORDERS orders of each pool, the same for all its items; columns as from :func:`measure`."""
    ranked, covered = of_shape(requested, *BY_HITS), of_shape(requested, "covered")
    heads = draw(inputs.chunks, inputs.axis, cut_offs_of([*ranked, *covered])).lazy()
    items = inputs.items.select("item_id", "pool_id", *OWN_TEXT)
    ordered_items = items.join(pl.LazyFrame({"order": range(N_ORDERS)}), how="cross")
    measured = ordered_items.select(_ASKED)
    if ranked:
        relevant = inputs.rule.pool(inputs.evidence).filter(pl.col("iou").is_not_null())
        shown = sorted({name for metric, _ in ranked for name in metric.reads} & {"iou", "share"})
        in_pool = relevant.select(*CHUNK_KEY, *shown).join(items, on="item_id")
        hits = in_pool.join(heads, on=["pool_id", "path", "chunk_no"]).select(*_ASKED, "rank", *shown)
        known = measured.join(inputs.judged, on="item_id", how="left")
        measured = measured.join(measure(hits, known, ranked, key=_ASKED).select(*_ASKED, *_columns(ranked)), on=_ASKED)
    if covered:
        assert inputs.axis is not None, "sets of lines are measured on the lines of the pools' files"
        pools = inputs.items.select("pool_id").unique().sort("pool_id").with_row_index("pool")
        walk = pl.col("pool").cast(pl.Int64) * N_ORDERS + pl.col("order")
        walks, lists = (rows.join(pools, on="pool_id").with_columns(item=walk) for rows in (heads, ordered_items))
        walks, gold = walks.drop("chunk_no", "pool", "order"), disjoint(inputs.gold)
        sets = sizes_of_walks(walks, lists, gold, inputs.axis, cut_offs_of(covered), _ASKED)
        measured = measured.join(measure_sets(sets, covered).select(*_ASKED, *_columns(covered)), on=_ASKED)
    means = [(exact_sum(pl.col(name)) / N_ORDERS).alias(name) for name in _columns(requested)]
    return measured.group_by("item_id").agg(means)


def draw(pool: pl.LazyFrame, axis: LineOffsets | None, cut_offs: Sequence[CutOff]) -> pl.DataFrame:
    """The heads of N_ORDERS random orders of each pool: its columns, `order` (from 0) and `rank` (from 1).

    A head has the results that the deepest cut-off takes, and as many as surely use up the largest budgets.
    """
    budgets, lines, results = ([k for cut, k in cut_offs if cut == kind] for kind in ("budget", "lines", "results"))
    n_results = max(results, default=0)
    # Files are placed end to end: each ends before the next begins.
    begin = pl.col("path").rank("dense").over("pool_id").cast(pl.Int64) * (1 + pl.col("line_end").max())
    columns = ("pool_id", "path", "chunk_no", "line_start", "line_end")
    chunks = pool.select(columns).sort("pool_id", "path", "chunk_no").with_columns(begin=begin).collect()
    starts, ends = ((chunks["begin"].to_numpy() + chunks[side].to_numpy()) for side in ("line_start", "line_end"))
    n_nws = np.zeros(chunks.height, np.int64)
    if axis is not None:
        placed = axis.place(chunks.lazy().with_row_index("row")).select("row", axis.n_nws().alias("n_nws")).collect()
        n_nws[placed["row"].to_numpy()] = placed["n_nws"].to_numpy()
    n_of = (chunks["line_end"] - chunks["line_start"]).to_numpy()
    most, most_lines = np.inf if 0 in budgets else max(budgets, default=-1), max(lines, default=-1)
    heads = [np.zeros((3, 0), np.int64)]
    first = 0
    for pool_id, n in zip(*np.unique(chunks["pool_id"].to_numpy(), return_counts=True), strict=True):
        # Seeded by the pool's name alone, so that equal pools always have equal orders.
        generator = np.random.default_rng(int(sha256_of(str(pool_id).encode())[:16], 16))
        orders = generator.permuted(np.tile(np.arange(n, dtype=np.int32), (N_ORDERS, 1)), axis=1)
        # A line is in at most `at_once` chunks: a head's new lines cost at least 1 / at_once of what its chunks cost.
        begin_at, end_at = np.sort(starts[first : first + n]), np.sort(ends[first : first + n])
        n_open = np.arange(1, n + 1) - np.searchsorted(end_at, begin_at, side="right")
        at_once = max(1, int(n_open.max(initial=0)))
        costs = [(sizes[first : first + n], k * at_once) for sizes, k in ((n_nws, most), (n_of, most_lines))]
        # No head is longer than one of the cheapest chunks.
        longest = [1 + np.searchsorted(np.sort(cost).cumsum(), limit, side="right") for cost, limit in costs]
        orders = orders[:, : max(n_results, *longest)]
        is_head = np.tile(np.arange(orders.shape[1]) < n_results, (N_ORDERS, 1))
        for cost, limit in costs:
            drawn = cost[orders]
            is_head |= drawn.cumsum(axis=1) - drawn <= limit
        order, position = np.nonzero(is_head)
        heads.append(np.stack([first + orders[order, position], order, position + 1]))
        first += n
    row, order, rank = np.concatenate(heads, axis=1)
    heads_of = chunks.lazy().drop("begin").select(pl.all().gather(row))
    return heads_of.with_columns(order=pl.Series(order), rank=pl.Series(rank)).collect()


_ASKED = ["item_id", "order"]


def _columns(requested: Requested) -> list[str]:
    return [f"{label(metric, k)}{part}" for metric, k in requested for part in ("/n", "/d", "")]
