"""What `python -m evaluate` says in the end of a benchmark: a verdict, the first systems, and the baselines."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import polars as pl

from evaluate.results.board import (
    best_first,
    is_any,
    is_of_items,
    item_counts,
    number_of,
    primary_metric,
    primary_name,
    rows_of_board,
)
from evaluate.selection import edition
from lake.averages import AVERAGES, ITEM_INTERVALS
from lake.benchmarks import tasks_of
from lake.catalog.protocol import Protocol, Task
from lake.catalog.protocols import protocols_of
from lake.catalog.references import reference_of
from lake.hints import typed
from lake.store import Lake
from lake.text import NO_VALUE, group_name
from lake.verdict import Line, by_pair, verdict_on

_N_SHOWN, N_WANTED = 3, 20
"""How many systems are shown, and how many more at most of those that were asked for or scored now."""


def summary(lake: Lake, benchmark: str, patterns: Sequence[str] = (), made: Collection[str] = ()) -> Iterator[str]:
    """The lines on one benchmark, of its first task and protocol that have runs; none where there is no run.

    Systems that were asked for (`patterns`) are shown whatever their rank is; without any, so are runs that were scored
    now, as the parts that were `made` tell, unless all were.
    """
    for task in tasks_of(lake, benchmark):
        for protocol in sorted(protocols_of(task), key=lambda protocol: protocol.place):
            rows = None if protocol.parity_only else rows_of_board(lake, task, protocol)
            if rows is not None:
                table = best_first(rows, [primary_metric(protocol)])
                yield from _lines(lake, task, protocol, table, _wanted(lake, benchmark, table, patterns, made))
                return


def _wanted(
    lake: Lake, benchmark: str, rows: pl.DataFrame, patterns: Sequence[str], made: Collection[str]
) -> list[str]:
    """The runs that were asked for, or scored now where others were not."""
    if patterns:
        return [run_id for run_id, name in rows.select("run_id", "system").iter_rows() if is_any(name, patterns)]
    parts = lake.parts("scores", benchmark=benchmark)
    now = {part.folders["run_id"] for part in parts if part.relative_path in made}
    runs = rows["run_id"].to_list()
    return [] if now.issuperset(runs) else [run_id for run_id in runs if run_id in now]


def _lines(lake: Lake, task: Task, protocol: Protocol, rows: pl.DataFrame, wanted: Sequence[str]) -> Iterator[str]:
    primary, label = protocol.primary, edition(lake, task.benchmark).label
    slice_, value = rows.select("slice", "slice_value").row(0)
    over = "all items" if slice_ == value else f"items of {slice_} {value}"
    average = AVERAGES[primary.aggregate].meaning
    data = f"{task.benchmark}{f' ({label})' if label else ''}"
    yield f"{data}: {primary_name(protocol)}, {average}, {over} ({protocol.name})"
    comparisons = lake.scan("comparisons", benchmark=task.benchmark, protocol=protocol.name).filter(
        metric=primary.metric, k=primary.k, slice=slice_, slice_value=value
    )
    lines = [Line(*row) for row in rows.select(Line._fields).iter_rows()]
    verdict = verdict_on(lines, reference_of(task.kind, rows["system"]), by_pair(comparisons))
    yield f"  {verdict.sentence(dict(rows.select('run_id', 'system').iter_rows()).__getitem__)}"
    systems = rows.filter(~pl.col("is_baseline"))
    whole = systems.filter("is_whole")
    first = (whole if whole.height else systems).head(_N_SHOWN)
    yield from _systems(first)
    # Each baseline once: the run that the verdict compares with, of others the best over whichever chunks.
    baselines = rows.filter("is_baseline")
    of_verdict = baselines.sort(pl.col("run_id") != verdict.reference, maintain_order=True)
    shown = of_verdict.unique("retriever", keep="first", maintain_order=True)["run_id"]
    best = baselines.filter(pl.col("run_id").is_in(shown.implode()))
    baseline_names = [f"{name} {number_of(number)}" for name, number in best.select("retriever", "number").iter_rows()]
    if baseline_names:
        yield f"  baselines: {', '.join(baseline_names)}"
    others = rows.filter(pl.col("run_id").is_in(list(wanted)) & ~pl.col("run_id").is_in(first["run_id"].implode()))
    if others.height:
        yield "  those asked for or just run:"
        yield from _systems(others.head(N_WANTED))
    n_others = others.head(N_WANTED).filter(~pl.col("run_id").is_in(shown.implode())).height
    n_more = rows.height - first.height - len(baseline_names) - n_others
    if n_more > 0:
        yield f"  {n_more:,} more: {typed(f'python -m evaluate table {task.benchmark}')}"


def _systems(rows: pl.DataFrame) -> Iterator[str]:
    """A line for each of some rows, and what their intervals are over where that is not repositories."""
    width = max((len(name) for name in rows["system"]), default=0)
    for row in rows.iter_rows(named=True):
        low, high, tie = row["low"], row["high"], row["tie_group"]
        interval = NO_VALUE if low is None or high is None else f"{low:.3f} to {high:.3f}"
        group = f"tie {group_name(tie)}" if tie else "too few to rank" if row["too_few"] else ""
        number = f"{number_of(row['number'])} ({interval})"
        state = group if row["is_whole"] else "partial"
        yield f"  {row['system']:{width}}  {number}  {item_counts(row)} items  {state}".rstrip()
    if is_of_items(rows):
        yield f"  {ITEM_INTERVALS}"
