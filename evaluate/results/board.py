"""The board of a task under a protocol: its runs with rank, interval and population, best first."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

import polars as pl

from evaluate.metrics import Metric, metric_named, metrics_of
from evaluate.results.exploring import Requested, aggregated, explored, why_not
from evaluate.retrievers import BASELINE, retrievers
from evaluate.selection import edition
from evaluate.statistics.headline import average_of, interval_of, slice_of
from lake.catalog.baselines import unbeaten_baselines
from lake.catalog.protocol import Protocol
from lake.catalog.protocols import protocols_of
from lake.catalog.task import Task
from lake.catalog.tasks import tasks_of
from lake.errors import Exit, GoldspanError
from lake.printed_table import PrintedTable
from lake.store import Lake
from lake.text import group_name, listed

MISSING = "–"


def shown(benchmarks: Sequence[str]) -> list[tuple[Task, Protocol]]:
    """What tables there are of some benchmarks."""
    tasks = [task for name in benchmarks for task in tasks_of(name)]
    return [(task, one) for task in tasks for one in protocols_of(task.name) if not one.parity_only]


def check_metrics(lake: Lake, benchmarks: Sequence[str], requested: Requested) -> None:
    """See that every metric that is asked for can be had in some table.

    Raises:
        GoldspanError: One can be had in none.
    """
    answered = set(lake.scan("runs").select("task").unique().collect()["task"]) if requested else set()
    # Nothing here answers a task whose runs are all imported, and where there is none there will be no table.
    tables = [one for one in shown(benchmarks) if not one[0].imported_only or one[0].name in answered]
    for metric, k in requested:
        reasons = [why_not(task, protocol, metric, k) for task, protocol in tables]
        if reasons and all(reasons):
            message = f"metric {called(metric, k)!r} cannot be had of {listed(benchmarks)}"
            hint = "python -m evaluate list metrics shows what there is."
            raise GoldspanError(message, examples=list(dict.fromkeys(reasons)), hint=hint, code=Exit.USAGE)


def called(metric: Metric, k: int) -> str:
    """A metric with its cut-off, as people write it."""
    return f"{metric.name}@{k}" if metric.has_cut_off else metric.name


def board(
    lake: Lake,
    task: Task,
    protocol: Protocol,
    requested: Requested = (),
    *,
    slice_name: str = "",
    systems: Sequence[str] = (),
    top: int | None = None,
) -> PrintedTable | None:
    """A task's runs under a protocol, best first, those over fewer items than others last; None where there is none.

    Args:
        lake: Where the numbers are.
        task: Whose runs.
        protocol: Under which they were scored.
        requested: The metrics and cut-offs; none for the primary, recall and reciprocal rank.
        slice_name: Over which items, as `level=function`; the slice that the protocol shows first without it.
        systems: Names, globs allowed; all without any.
        top: How many systems at most, baselines not counted.

    Raises:
        GoldspanError: The protocol's runs were not scored over that slice.
    """
    primary, benchmark = protocol.primary, task.benchmark
    runs = lake.scan("runs", benchmark=benchmark).filter(pl.col("task") == task.name)
    aggregates = lake.scan("aggregates", benchmark=benchmark, protocol=protocol.name)
    aggregates = aggregates.join(runs.select("run_id"), on="run_id", how="semi")
    usual = [(metric_named(primary.metric), primary.k), *(one for one in _USUAL if one in metrics_of(protocol))]
    columns = list(dict.fromkeys(requested or usual))
    reasons = {one: why_not(task, protocol, *one) for one in columns}
    if aggregates.head(1).collect().is_empty():
        return None
    slice_, value = slice_of(protocol, aggregates, slice_name)
    beside = [one for one in columns if not reasons[one] and one not in metrics_of(protocol)]
    if beside:
        found = aggregated(lake, task, protocol, explored(lake, task, protocol, beside))
        aggregates = pl.concat([aggregates.drop("benchmark"), found.lazy()], how="diagonal")
    of_slice = (pl.col("slice") == slice_) & (pl.col("slice_value") == value)
    is_whole = (pl.col("status") == "complete") & pl.col("limit").is_null()
    named = runs.select("run_id", "retriever", is_whole=is_whole, name="system", system=_SYSTEM)
    rows = aggregates.filter(of_slice).join(named, on="run_id").collect()
    if systems:
        rows = rows.filter(pl.col("name").map_elements(lambda name: is_any(name, systems), pl.Boolean))
    if rows.is_empty():
        return None
    ranks = lake.scan("ranks", benchmark=benchmark, protocol=protocol.name).filter(of_slice).collect()
    table = _pivoted(rows, protocol, columns).join(
        ranks.select("run_id", "rank_low", "rank_high", "tie_group", "too_few"), on="run_id", how="left"
    )
    if top is not None:
        is_baseline = pl.col("retriever").is_in(baseline_names()).fill_null(value=False)
        table = table.filter(is_baseline | ((~is_baseline).cum_sum() <= top))
    label = edition(lake, benchmark).label
    of = f" of {task.name}" if len(protocol.tasks) > 1 else ""
    notes = [*_beside(table, task, columns[0][0]), *(reason for reason in reasons.values() if reason)]
    notes += [f"{called(*one)} is exploratory: {protocol.name} does not declare it" for one in beside]
    names = [name for place, one in enumerate(columns) for name in _heads(place, called(*one))]
    return PrintedTable(
        f"{protocol.name}{of}, {slice_} {value}, {primary.aggregate}{f', {label}' if label else ''}",
        ["system", "rank", *names, "items"],
        [_cells(row, len(columns)) for row in table.iter_rows(named=True)],
        notes,
        texts=2,
    )


def _heads(place: int, name: str) -> list[str]:
    return [name, "low", "high"] if place == 0 else [name]


def _cells(row: dict[str, object], n_metrics: int) -> list[str]:
    items = f"{row['n_items']:,}" if row["n"] in (row["n_items"], None) else f"{row['n']:,} of {row['n_items']:,}"
    numbers = [row["0"], row["low"], row["high"], *(row[str(place)] for place in range(1, n_metrics))]
    return [str(row["system"]), _rank(row), *map(number_of, numbers), items]


def _rank(row: dict[str, object]) -> str:
    """`1-2 a`: the places that the verdicts leave, and the group of those that cannot be told apart."""
    if row["too_few"]:
        return "too few"
    if row["rank_low"] is None or not isinstance(row["tie_group"], int):
        return ""
    return f"{row['rank_low']}-{row['rank_high']} {group_name(row['tie_group'])}"


def number_of(value: object) -> str:
    """A score as it is printed."""
    return f"{value:.3f}" if isinstance(value, float) else MISSING


def is_any(name: str, patterns: Sequence[str]) -> bool:
    """Whether one of some patterns is a name's."""
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def baseline_names() -> list[str]:
    """The retrievers that are baselines."""
    return [name for name, retriever in retrievers().items() if BASELINE in retriever.tags]


_USUAL = ((metric_named("recall"), 10), (metric_named("mrr"), 10))
_SYSTEM = pl.when(pl.col("status") == "complete").then("system").otherwise(pl.format("{} ({})", "system", "status"))


def _pivoted(rows: pl.DataFrame, protocol: Protocol, columns: Sequence[tuple[Metric, int]]) -> pl.DataFrame:
    """run_id, system, retriever, n_items, n of the first column with its interval, and a number per column, best first.

    Order and interval are the first column's.
    """
    key = ["run_id", "system", "retriever", "is_whole", "n_items"]
    of_first = (pl.col("metric") == columns[0][0].name) & (pl.col("k") == columns[0][1])
    low, high = interval_of(average_of(protocol, columns[0][0]))
    first = {"n": "n", "n_not_applicable": "n_not_applicable", "low": low, "high": high}
    table = rows.group_by(key).agg(
        pl.col(column).filter(of_first).first().alias(name) for name, column in first.items()
    )
    for place, (metric, k) in enumerate(columns):
        of_metric = (pl.col("metric") == metric.name) & (pl.col("k") == k)
        number = pl.col(average_of(protocol, metric)).alias(str(place))
        table = table.join(rows.filter(of_metric).select(*key, number), on=key, how="left", nulls_equal=True)
    return table.sort(*best_first(pl.col("0"), columns[0][0]), nulls_last=True)


def best_first(number: pl.Expr, metric: Metric) -> tuple[pl.Expr, ...]:
    """By what a board is sorted: runs over fewer items than others last, then by the number, then by name."""
    directed = number if metric.direction == "lower" else -number
    return ~over_all_items(), directed, pl.col("system"), pl.col("run_id")


def over_all_items() -> pl.Expr:
    """Whether a run's number is over all the items that a metric applies to; only such may be set beside others."""
    asked = (pl.col("n_items") - pl.col("n_not_applicable")).max()
    return pl.col("is_whole") & (pl.col("n") == asked).fill_null(value=False)


def _beside(table: pl.DataFrame, task: Task, metric: Metric) -> list[str]:
    """What is to be known where no system is above a baseline."""
    baselines = set(baseline_names())
    rows = ((name, name in baselines, value) for name, value in table.select("retriever", "0").iter_rows())
    return unbeaten_baselines(task.name, rows, lower_is_better=metric.direction == "lower")
