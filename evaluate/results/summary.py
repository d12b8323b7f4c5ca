"""What `python -m evaluate` says in the end of a benchmark: a verdict, the first systems, and the baselines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from evaluate.results.board import MISSING, best_first, called, is_of_items, items_of, number_of, primary_of, slice_rows
from evaluate.selection import edition
from lake.catalog.protocol import Aggregate, Protocol
from lake.catalog.protocols import protocols_of
from lake.catalog.references import reference_of
from lake.catalog.task import Task
from lake.catalog.tasks import tasks_of
from lake.catalog.unit import ITEM_INTERVALS
from lake.store import Lake
from lake.text import group_name
from lake.verdict import verdict_on

N_SHOWN = 3
"""How many systems are shown."""


def summary(lake: Lake, benchmark: str) -> Iterator[str]:
    """The lines on one benchmark, of its first task and protocol that have runs; none where there is no run."""
    for task in tasks_of(benchmark):
        for protocol in sorted(protocols_of(task.name), key=lambda one: one.place):
            rows = None if protocol.parity_only else slice_rows(lake, task, protocol)
            if rows is not None:
                yield from _lines(lake, task, protocol, best_first(lake, protocol, rows, [primary_of(protocol)]))
                return


def _lines(lake: Lake, task: Task, protocol: Protocol, rows: pl.DataFrame) -> Iterator[str]:
    primary, label = protocol.primary, edition(lake, task.benchmark).label
    slice_, value = rows.select("slice", "slice_value").row(0)
    # Where nothing is cut off, nothing is said of it.
    metric = called(*primary_of(protocol)).removesuffix("@0")
    over = "all items" if slice_ == value else f"items of {slice_} {value}"
    average = _AVERAGES[primary.aggregate]
    yield f"{task.benchmark}{f' ({label})' if label else ''}: {metric}, {average}, {over} ({protocol.name})"
    comparisons = lake.scan("comparisons", benchmark=task.benchmark, protocol=protocol.name).filter(
        metric=primary.metric, k=primary.k, slice=slice_, slice_value=value
    )
    verdict = verdict_on(rows, reference_of(protocol.name, rows["system"]), comparisons)
    yield f"  {verdict.sentence(dict(rows.select('run_id', 'system').iter_rows()).__getitem__)}"
    systems = rows.filter(~pl.col("is_baseline") & pl.col("is_whole"))
    first = systems.head(N_SHOWN).to_dicts()
    width = max((len(row["system"]) for row in first), default=0)
    for row in first:
        low, high, tie = row["low"], row["high"], row["tie_group"]
        interval = MISSING if low is None or high is None else f"{low:.3f} to {high:.3f}"
        group = f"tie {group_name(tie)}" if tie else "too few to rank" if row["too_few"] else ""
        number = f"{number_of(row['number'])} ({interval})"
        yield f"  {row['system']:{width}}  {number}  {items_of(row)} items  {group}".rstrip()
    if is_of_items(systems.head(N_SHOWN)):
        yield f"  {ITEM_INTERVALS}"
    # Each baseline once: the run that the verdict compares with, of others the best over whichever chunks.
    baselines = rows.filter("is_baseline")
    of_verdict = baselines.sort(pl.col("run_id") != verdict.reference, maintain_order=True)
    shown = of_verdict.unique("retriever", keep="first", maintain_order=True)["run_id"]
    best = baselines.filter(pl.col("run_id").is_in(shown.implode()))
    named = [f"{name} {number_of(number)}" for name, number in best.select("retriever", "number").iter_rows()]
    if named:
        yield f"  baselines: {', '.join(named)}"
    n_more = rows.height - len(first) - len(named)
    if n_more > 0:
        yield f"  {n_more:,} more: python -m evaluate table {task.benchmark}"


_AVERAGES: Mapping[Aggregate, str] = {
    "macro": "mean over items",
    "micro": "ratio of sums over items",
    "by_repo": "mean of the repositories' means",
}
