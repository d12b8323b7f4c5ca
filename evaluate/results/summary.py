"""What `python -m evaluate` says in the end of a benchmark: a verdict, the first systems, and the baselines.

The verdict is on the system that ranks first, against the reference that the benchmark declares beforehand. Its words
are fixed, one sentence for each verdict; which one is said follows from table `comparisons` alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from evaluate.metrics import metric_named
from evaluate.results.board import MISSING, best_first, called, group_name, number_of, over_all_items
from evaluate.results.compare import reference_of
from evaluate.retrievers import BASELINE, retrievers
from evaluate.selection import edition
from evaluate.statistics.comparisons import BETTER, EQUIVALENT, INSEPARABLE, TOO_FEW, WORSE, mirrored
from evaluate.statistics.headline import average_of, headline_slice, interval_of
from lake.catalog.protocol import Aggregate, Protocol
from lake.catalog.protocols import protocols_of
from lake.catalog.task import Task
from lake.catalog.tasks import tasks_of
from lake.store import Lake

N_SHOWN = 3
"""How many systems are shown."""

SENTENCES: Mapping[str, str] = {
    BETTER: "{system}, {place}, beats {reference} by {by}.",
    WORSE: "No system beats {reference}: {system}, {place}, is behind by {by}.",
    INSEPARABLE: "{system}, {place}, cannot be told from {reference}: {delta}; {least} or more would be found.",
    EQUIVALENT: "{system}, {place}, and {reference} are equivalent: {delta}.",
    TOO_FEW: "Too few items or repositories to say how {system} does against {reference}: {delta}.",
}
"""Verdict on the first system → what is said. A comparison outside the declared family says that it is exploratory."""

NOT_RUN = "Nothing to compare: {reference} was not run."
NO_SYSTEM = "No system was run beside the baselines."
NONE_WHOLE = "No system has a number over all the items, so none is ranked."


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
    yield f"  {_verdict(lake, task, protocol, rows, systems)}"
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


def _verdict(lake: Lake, task: Task, protocol: Protocol, rows: pl.DataFrame, systems: pl.DataFrame) -> str:
    reference = reference_of(protocol, rows["system"])
    if systems.is_empty():
        return NO_SYSTEM if rows["is_baseline"].all() else NONE_WHOLE
    if not reference:
        return NOT_RUN.format(reference="the declared reference")
    first = next((row for row in systems.iter_rows(named=True) if row["system"] != reference), None)
    if first is None:
        return NO_SYSTEM
    other = rows.row(by_predicate=pl.col("run_id") == _run_of(rows, reference), named=True)
    stored = lake.scan("comparisons", benchmark=task.benchmark, protocol=protocol.name)
    pair = (
        pl.concat([stored, mirrored(stored)])
        .filter(
            pl.col("run_a") == other["run_id"],
            pl.col("run_b") == first["run_id"],
            pl.col("metric") == protocol.primary.metric,
            pl.col("k") == protocol.primary.k,
            pl.col("slice") == first["slice"],
            pl.col("slice_value") == first["slice_value"],
        )
        .collect()
    )
    if pair.is_empty() or (found := pair.row(0, named=True))["verdict"] is None:
        apart = (first["number"] or 0.0) - (other["number"] or 0.0)
        return SENTENCES[TOO_FEW].format(system=first["system"], reference=reference, delta=f"{apart:+.3f}")
    by = f"{abs(found['delta']):.3f}{_interval(found, is_size=True)}"
    sentence = SENTENCES[found["verdict"]].format(
        system=first["system"],
        place="ranked first" if first["run_id"] == systems["run_id"][0] else "the next",
        reference=reference,
        by=by,
        delta=f"{found['delta']:+.3f} {_interval(found)}".rstrip(),
        least=number_of(found["smallest_detectable"]),
    )
    return f"{sentence[:-1]} (exploratory)." if found["exploratory"] else sentence


def _run_of(rows: pl.DataFrame, system: str) -> str:
    return str(rows.filter(pl.col("system") == system).sort("status", "run_id")["run_id"][0])


def _interval(row: Mapping[str, object], *, is_size: bool = False) -> str:
    low, high = row["low"], row["high"]
    if not isinstance(low, float) or not isinstance(high, float):
        return "" if is_size else f"({MISSING})"
    if is_size:
        smaller, larger = (low, high) if abs(low) <= abs(high) else (-high, -low)
        return f" ({smaller:.3f} to {larger:.3f})"
    return f"({low:.3f} to {high:.3f})"


def _baselines(rows: pl.DataFrame) -> Iterator[str]:
    """Each baseline with its best number, over whichever chunks that is."""
    best = rows.filter("is_baseline").unique("retriever", keep="first", maintain_order=True)
    for name, number in best.select("retriever", "number").iter_rows():
        yield f"{name} {number_of(number)}"
