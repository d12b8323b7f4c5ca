"""What `python -m evaluate` says in the end of a benchmark: a verdict, the first systems, and the baselines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from evaluate.metrics import metric_named
from evaluate.results.board import MISSING, best_first, called, number_of, over_all_items
from evaluate.retrievers import BASELINE, retrievers
from evaluate.selection import edition
from evaluate.statistics.headline import average_of, headline_slice, interval_of
from lake.catalog.protocol import Aggregate, Protocol
from lake.catalog.protocols import protocols_of
from lake.catalog.references import reference_of
from lake.catalog.task import Task
from lake.catalog.tasks import tasks_of
from lake.store import Lake
from lake.text import group_name
from lake.verdict import verdict_on

N_SHOWN = 3
"""How many systems are shown."""


def summary(lake: Lake, benchmark: str) -> Iterator[str]:
    """The lines on one benchmark, of its first task and protocol that have runs; none where there is no run."""
    for task in tasks_of(benchmark):
        for protocol in sorted(protocols_of(task.name), key=lambda one: one.place):
            if not protocol.parity_only and (rows := _rows(lake, task, protocol)).height:
                yield from _lines(lake, task, protocol, rows)
                return


def _rows(lake: Lake, task: Task, protocol: Protocol) -> pl.DataFrame:
    """The runs with their primary number over the headline slice, best first."""
    folders = {"benchmark": task.benchmark, "protocol": protocol.name}
    runs = lake.scan("runs", benchmark=task.benchmark).filter(pl.col("task") == task.name)
    aggregates = lake.scan("aggregates", **folders).join(
        runs.select(
            "run_id",
            "system",
            "retriever",
            "status",
            is_whole=(pl.col("status") == "complete") & pl.col("limit").is_null(),
        ),
        on="run_id",
    )
    if aggregates.head(1).collect().is_empty():
        return pl.DataFrame()
    slice_, value = headline_slice(protocol, aggregates)
    primary = (pl.col("metric") == protocol.primary.metric) & (pl.col("k") == protocol.primary.k)
    where = (pl.col("slice") == slice_) & (pl.col("slice_value") == value)
    metric = metric_named(protocol.primary.metric)
    average = average_of(protocol, metric)
    low, high = interval_of(average)
    tagged = [name for name, one in retrievers().items() if BASELINE in one.tags]
    columns = ("run_id", "slice", "slice_value", "system", "status", "retriever", "is_whole", "n", "n_items")
    shown = aggregates.filter(primary, where).select(
        *columns,
        "n_not_applicable",
        number=average,
        low=low,
        high=high,
        is_baseline=pl.col("retriever").is_in(tagged).fill_null(value=False),
    )
    ranks = lake.scan("ranks", **folders).filter(primary, where).select("run_id", "rank", "tie_group", "too_few")
    joined = shown.join(ranks, on="run_id", how="left").collect()
    joined = joined.sort(*best_first(pl.col("number"), metric), nulls_last=True)
    return joined.with_columns(is_whole=over_all_items())


def _lines(lake: Lake, task: Task, protocol: Protocol, rows: pl.DataFrame) -> Iterator[str]:
    primary, label = protocol.primary, edition(lake, task.benchmark).label
    slice_, value = rows.select("slice", "slice_value").row(0)
    named = f"{task.benchmark}{f' ({label})' if label else ''}"
    # Where nothing is cut off, nothing is said of it.
    metric = called(metric_named(primary.metric), primary.k).removesuffix("@0")
    over = "all items" if slice_ == value else f"items of {slice_} {value}"
    yield f"{named}: {metric}, {_AVERAGES[primary.aggregate]}, {over} ({protocol.name})"
    systems = rows.filter(~pl.col("is_baseline") & pl.col("is_whole"))
    yield f"  {_verdict(lake, protocol, rows)}"
    width = max((len(name) for name in systems["system"].head(N_SHOWN)), default=0)
    for row in systems.head(N_SHOWN).iter_rows(named=True):
        group = (
            f"tie {group_name(row['tie_group'])}" if row["tie_group"] else "too few to rank" if row["too_few"] else ""
        )
        n = f"{row['n']:,}" if row["n"] == row["n_items"] else f"{row['n']:,} of {row['n_items']:,}"
        yield f"  {row['system']:{width}}  {number_of(row['number'])} {_interval(row)}  {n} items  {group}".rstrip()
    if best := list(_baselines(rows)):
        yield f"  baselines: {', '.join(best)}"
    n_more = rows.height - min(systems.height, N_SHOWN) - len(best)
    if n_more > 0:
        yield f"  {n_more:,} more: python -m evaluate table {task.benchmark}"


_AVERAGES: Mapping[Aggregate, str] = {
    "macro": "mean over items",
    "micro": "ratio of sums over items",
    "by_repo": "mean of the repositories' means",
}


def _verdict(lake: Lake, protocol: Protocol, rows: pl.DataFrame) -> str:
    slice_, value = rows.select("slice", "slice_value").row(0)
    benchmark = protocol.name.partition("@")[0]
    comparisons = lake.scan("comparisons", benchmark=benchmark, protocol=protocol.name).filter(
        pl.col("metric") == protocol.primary.metric,
        pl.col("k") == protocol.primary.k,
        pl.col("slice") == slice_,
        pl.col("slice_value") == value,
    )
    verdict = verdict_on(rows, reference_of(protocol.name, rows["system"]), comparisons)
    return verdict.sentence(dict(rows.select("run_id", "system").iter_rows()).__getitem__)


def _interval(row: Mapping[str, object]) -> str:
    low, high = row["low"], row["high"]
    both = isinstance(low, float) and isinstance(high, float)
    return f"({low:.3f} to {high:.3f})" if both else f"({MISSING})"


def _baselines(rows: pl.DataFrame) -> Iterator[str]:
    """Each baseline with its best number, over whichever chunks that is."""
    best = rows.filter("is_baseline").unique("retriever", keep="first", maintain_order=True)
    for name, number in best.select("retriever", "number").iter_rows():
        yield f"{name} {number_of(number)}"
