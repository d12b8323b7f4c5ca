"""What agents used, a row per run, from what each of their items says."""

from __future__ import annotations

import polars as pl

from lake.store import Lake

USED = ("n_tokens", "usd", "seconds", "n_turns", "n_calls")
"""What is averaged over items; `n_tokens` are those of all kinds."""
TOKENS = ("n_input", "n_cached", "n_cache_written", "n_output")


def run_usage(lake: Lake) -> pl.LazyFrame:
    """What runs used per item, where their files say it: benchmark, run_id, models (text), n_items (of the run).

    n_tokens (of all kinds), usd, seconds, n_turns and n_calls are means over the items that say it, null where none
    does; `<name>_known` is how many do. n_resolved is of n_outcomes; prices are empty where dollars are the files' own.
    A run of which nothing is known has no row.
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
    """When runs had first seen a gold line, and how much a step of theirs shows.

    first_step, first_turn and first_call, from 1, are means over the n_found items in which they ever did and that know
    it; lines_per_step is the mean over all of a run's items that have steps.
    """
    steps = lake.scan("step_scores", protocol=protocol).filter(granularity="line")
    item, step = ["run_id", "item_id"], pl.col("step") - 1
    told = lake.scan("usage").select(*item, "step_turns", "step_calls")
    first = (
        steps.filter(pl.col("n_cumulative_hit") > 0)
        .group_by(item)
        .agg(pl.col("step").min())
        .join(told, on=item, how="left")
        .with_columns(
            turn=pl.col("step_turns").list.get(step, null_on_oob=True),
            call=pl.col("step_calls").list.get(step, null_on_oob=True),
        )
    )
    means = [pl.col(name).sort().mean().alias(f"first_{name}") for name in ("step", "turn", "call")]
    lines = steps.group_by(item).agg(pl.col("n_pred").sort().mean()).group_by("run_id")
    return (
        lines.agg(lines_per_step=pl.col("n_pred").sort().mean())
        .join(first.group_by("run_id").agg(*means, n_found=pl.len().cast(pl.Int64)), on="run_id", how="left")
        .with_columns(pl.col("n_found").fill_null(0))
        .sort("run_id")
    )
