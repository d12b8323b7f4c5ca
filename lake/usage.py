"""Costs and agent usage per run."""

import os
import platform
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import polars as pl

from lake.exact import exact_mean
from lake.store import Lake
from lake.text import counted


def run_costs(lake: Lake) -> pl.LazyFrame:
    """The cost of ranking per run made here: total index seconds and bytes (null if unknown), and query times."""
    queries = pl.col("query_seconds").explode(empty_as_null=False)
    return (
        lake.scan("costs")
        .group_by("benchmark", "run_id")
        .agg(
            pl.when(pl.col("index_seconds").count() > 0).then(pl.col("index_seconds").sum()),
            query_p50=queries.median(),
            query_p95=queries.quantile(0.95, "linear"),
            index_bytes=pl.when(pl.col("index_bytes").count() > 0).then(pl.col("index_bytes").sum()),
            n_queries=pl.col("query_seconds").list.len().sum().cast(pl.Int64),
            hardware=pl.col("hardware").unique().sort().str.join("; "),
        )
        .sort("benchmark", "run_id")
    )


def pareto_front(costs: Sequence[float], values: Sequence[float], *, lower_is_better: bool = False) -> list[bool]:
    """Whether each system is on the Pareto front: no other is at least as good and as cheap, and better in one."""
    points = [(cost, -value if lower_is_better else value) for cost, value in zip(costs, values, strict=True)]
    kept, best = set[tuple[float, float]](), float("-inf")
    # By cost, then best first: each next one must beat all before it.
    for cost, gain in sorted(points, key=lambda point: (point[0], -point[1])):
        if gain > best:
            best = gain
            kept.add((cost, gain))
    return [point in kept for point in points]


@cache
def hardware() -> str:
    """The processor, its cores available to this process, the memory, the system and the Python version."""
    known = Path("/proc/cpuinfo")
    lines = known.read_text(encoding="utf-8", errors="replace").splitlines() if known.is_file() else []
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    processor = next(models, "") or platform.processor() or platform.machine()
    n_cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    where = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    return f"{processor}, {counted(n_cores, 'core')}, {memory:.0f} GB, {where}"


USED = ("n_tokens", "usd", "seconds", "n_turns", "n_calls")
"""The columns averaged over items; `n_tokens` sums all kinds of tokens."""
TOKENS = ("n_input", "n_cached", "n_cache_written", "n_output")


def run_usage(lake: Lake) -> pl.LazyFrame:
    """The usage of runs per item, where files report it: models (text), n_items of the run, n_resolved of n_outcomes.

    USED are means over the `<name>_known` items that report them; `prices` is empty if dollars come from the files.
    """
    tokens = pl.sum_horizontal(pl.col(name).fill_null(0) for name in TOKENS)
    sizes = lake.scan("run_items").group_by("benchmark", "run_id").agg(n_items=pl.len().cast(pl.Int64))
    return (
        lake.scan("usage")
        .with_columns(n_tokens=pl.when(pl.col("n_input").is_not_null()).then(tokens))
        .group_by("benchmark", "run_id")
        .agg(
            pl.col("model").drop_nulls().unique().sort().str.join(", ").alias("models"),
            *(exact_mean(pl.col(name)).alias(name) for name in USED),
            *(pl.col(name).count().cast(pl.Int64).alias(f"{name}_known") for name in USED),
            n_resolved=pl.col("resolved").sum().cast(pl.Int64),
            n_outcomes=pl.col("resolved").count().cast(pl.Int64),
            prices=pl.col("prices").drop_nulls().unique().sort().str.join("; "),
        )
        .join(sizes, on=["benchmark", "run_id"])
        .sort("benchmark", "run_id")
    )


def first_gold(lake: Lake, protocol: str) -> pl.LazyFrame:
    """The mean step, turn and call (from 1) that first showed a gold line, over the `n_found` items that have one."""
    steps = lake.scan("step_scores", protocol=protocol).filter(granularity="line")
    item, step = ["run_id", "item_id"], pl.col("step") - 1
    counts = lake.scan("usage").select(*item, "step_turns", "step_calls")
    first = (
        steps.filter(pl.col("n_cumulative_hit") > 0)
        .group_by(item)
        .agg(pl.col("step").min())
        .join(counts, on=item, how="left")
        .with_columns(
            turn=pl.col("step_turns").list.get(step, null_on_oob=True),
            call=pl.col("step_calls").list.get(step, null_on_oob=True),
        )
    )
    means = [exact_mean(pl.col(name)).alias(f"first_{name}") for name in ("step", "turn", "call")]
    lines = steps.group_by(item).agg(n_pred=exact_mean(pl.col("n_pred"))).group_by("run_id")
    return (
        lines.agg(lines_per_step=exact_mean(pl.col("n_pred")))
        .join(first.group_by("run_id").agg(*means, n_found=pl.len().cast(pl.Int64)), on="run_id", how="left")
        .with_columns(pl.col("n_found").fill_null(0))
        .sort("run_id")
    )
