"""What agents used, a row per run, from what each of their items says."""

from __future__ import annotations

import polars as pl

from lake.store import Lake

USED = ("n_tokens", "usd", "seconds", "n_turns", "n_calls")
"""What is averaged over items; `n_tokens` are those of all kinds."""
TOKENS = ("n_input", "n_cached", "n_cache_written", "n_output")


def run_usage(lake: Lake) -> pl.LazyFrame:
    """What runs used per item, where their files say it.

    Returns:
        benchmark, run_id, models (text), n_items (of the run); means over the items that say it: n_tokens (of all
        kinds), usd, seconds, n_turns, n_calls, null where none does, and how many do as `<name>_known`; n_resolved of
        n_outcomes; prices (text, empty where dollars are the files' own). A run of which nothing is known has no row.
    """
    tokens = pl.sum_horizontal(pl.col(name).fill_null(0) for name in TOKENS)
    sizes = lake.scan("run_items").group_by("benchmark", "run_id").agg(n_items=pl.len().cast(pl.Int64))
    return (
        lake.scan("usage")
        .with_columns(n_tokens=pl.when(pl.col("n_input").is_not_null()).then(tokens))
        .group_by("benchmark", "run_id")
        .agg(
            pl.col("model").drop_nulls().unique().sort().str.join(", ").alias("models"),
            *(pl.col(name).sort().mean().alias(name) for name in USED),
            *(pl.col(name).count().cast(pl.Int64).alias(f"{name}_known") for name in USED),
            n_resolved=pl.col("resolved").sum().cast(pl.Int64),
            n_outcomes=pl.col("resolved").count().cast(pl.Int64),
            prices=pl.col("prices").drop_nulls().unique().sort().str.join("; "),
        )
        .join(sizes, on=["benchmark", "run_id"])
        .sort("benchmark", "run_id")
    )


def first_gold(lake: Lake, protocol: str) -> pl.LazyFrame:
    """At which step runs had first seen a gold line.

    Returns:
        run_id, first_step (from 1, the mean over the items in which it ever did), n_found (how many these are).
    """
    seen = lake.scan("step_scores", protocol=protocol).filter(granularity="line").filter(pl.col("n_cumulative_hit") > 0)
    first = seen.group_by("run_id", "item_id").agg(pl.col("step").min())
    steps = pl.col("step").sort()
    return first.group_by("run_id").agg(first_step=steps.mean(), n_found=steps.count().cast(pl.Int64)).sort("run_id")
