"""What runs cost, from what each of their parts did."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from lake.store import Lake


def run_costs(lake: Lake) -> pl.LazyFrame:
    """One row per run that was made here, by run: what ranking cost.

    The columns are benchmark, run_id, index_seconds and index_bytes (both in all), query_p50 and query_p95 (seconds;
    null where no query was answered), n_queries (that were timed) and hardware.
    """
    queries = pl.col("query_seconds").explode(empty_as_null=False)
    return (
        lake.scan("costs")
        .group_by("benchmark", "run_id")
        .agg(
            pl.col("index_seconds").sum(),
            queries.median().alias("query_p50"),
            queries.quantile(0.95, "linear").alias("query_p95"),
            pl.col("index_bytes").sum(),
            pl.col("query_seconds").list.len().sum().cast(pl.Int64).alias("n_queries"),
            pl.col("hardware").unique().sort().str.join("; ").alias("hardware"),
        )
        .sort("benchmark", "run_id")
    )


def on_frontier(costs: Sequence[float], values: Sequence[float], *, lower_is_better: bool = False) -> list[bool]:
    """Which of some systems none of the others beats: as good a value for no more cost, and one of the two better.

    Args:
        costs: What each costs.
        values: How good each is.
        lower_is_better: The least value is the best.
    """
    gains = [-value if lower_is_better else value for value in values]
    kept = [False] * len(gains)
    best = (0.0, float("-inf"))
    # The cheapest first, of equally cheap ones the best: what follows must be better than all before it, or the same.
    for place in sorted(range(len(gains)), key=lambda place: (costs[place], -gains[place])):
        here = (costs[place], gains[place])
        if here[1] > best[1] or here == best:
            best, kept[place] = here, True
    return kept
