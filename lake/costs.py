"""What runs cost, from what each of their parts did."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

import polars as pl

from lake.store import Lake
from lake.text import counted


def run_costs(lake: Lake) -> pl.LazyFrame:
    """What ranking cost, a row per run that was made here: benchmark, run_id, seconds and bytes of the index in all.

    Those are null where nobody knows, query_p50 and query_p95 (seconds) where none of the n_queries was answered.
    """
    queries = pl.col("query_seconds").explode(empty_as_null=False)
    return (
        lake.scan("costs")
        .group_by("benchmark", "run_id")
        .agg(
            _known("index_seconds"),
            queries.median().alias("query_p50"),
            queries.quantile(0.95, "linear").alias("query_p95"),
            _known("index_bytes"),
            pl.col("query_seconds").list.len().sum().cast(pl.Int64).alias("n_queries"),
            pl.col("hardware").unique().sort().str.join("; ").alias("hardware"),
        )
        .sort("benchmark", "run_id")
    )


def _known(name: str) -> pl.Expr:
    return pl.when(pl.col(name).count() > 0).then(pl.col(name).sum()).alias(name)


def pareto_front(costs: Sequence[float], values: Sequence[float], *, lower_is_better: bool = False) -> list[bool]:
    """Whether each system is on the Pareto front: no other is as good for no more cost, and better in one."""
    gains = [-value if lower_is_better else value for value in values]
    kept = [False] * len(gains)
    best = (0.0, float("-inf"))
    # The cheapest first, of equally cheap ones the best: what follows must be better than all before it, or the same.
    for number in sorted(range(len(gains)), key=lambda number: (costs[number], -gains[number])):
        here = (costs[number], gains[number])
        if here[1] > best[1] or here == best:
            best, kept[number] = here, True
    return kept


@cache
def hardware() -> str:
    """The processor, how many of it this process may use, the memory, and what runs on them."""
    known = Path("/proc/cpuinfo")
    lines = known.read_text(encoding="utf-8", errors="replace").splitlines() if known.is_file() else []
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    processor = next(models, "") or platform.processor() or platform.machine()
    n_cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    memory = ""
    with suppress(AttributeError, OSError, ValueError):  # Nobody says so there.
        memory = f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GB, "
    where = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    return f"{processor}, {counted(n_cores, 'core')}, {memory}{where}"
