"""The tables that `python -m evaluate` prints: one per task and protocol, a column per metric that was asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from evaluate.metrics import Metric, metric_named, metrics_of
from evaluate.results.compare import Compared
from evaluate.results.exploring import Requested, aggregated, explored, why_not
from evaluate.retrievers import BASELINE, retrievers
from evaluate.selection import edition
from evaluate.statistics.comparisons import (
    BETTER,
    EQUIVALENT,
    FEWEST_ITEMS,
    FEWEST_REPOS,
    INSEPARABLE,
    POINT,
    TOO_FEW,
    WORSE,
)
from evaluate.statistics.headline import average_of, headline_slice
from lake.catalog.baselines import unbeaten_baselines
from lake.catalog.protocol import Protocol
from lake.catalog.protocols import protocols_of
from lake.catalog.task import Task
from lake.catalog.tasks import tasks_of
from lake.errors import Exit, GoldspanError
from lake.store import Lake
from lake.text import counted


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
            message = f"metric {called(metric, k)!r} cannot be had of {', '.join(benchmarks)}"
            hint = "python -m evaluate list metrics shows what there is."
            raise GoldspanError(message, examples=list(dict.fromkeys(reasons)), hint=hint, code=Exit.USAGE)


def called(metric: Metric, k: int) -> str:
    """A metric with its cut-off, as people write it."""
    return f"{metric.name}@{k}" if metric.has_cut_off else metric.name


def table_of(lake: Lake, task: Task, protocol: Protocol, requested: Requested) -> Iterator[str]:
    """The lines of one table: the headline numbers of a task's runs, best first; none where there is no run.

    Args:
        lake: Where the numbers are.
        task: Whose runs.
        protocol: Under which they were scored.
        requested: The metrics and cut-offs; none for the primary, recall and reciprocal rank.
    """
    primary, benchmark = protocol.primary, task.benchmark
    runs = lake.scan("runs", benchmark=benchmark).filter(pl.col("task") == task.name)
    aggregates = lake.scan("aggregates", benchmark=benchmark, protocol=protocol.name)
    aggregates = aggregates.join(runs.select("run_id"), on="run_id", how="semi")
    slice_, value = headline_slice(protocol, aggregates)
    usual = [(metric_named(primary.metric), primary.k), *(one for one in _USUAL if one in metrics_of(protocol))]
    columns = list(dict.fromkeys(requested or usual))
    reasons = {one: why_not(task, protocol, *one) for one in columns}
    beside = [one for one in columns if not reasons[one] and one not in metrics_of(protocol)]
    if beside and aggregates.head(1).collect().height:
        found = aggregated(lake, task, protocol, explored(lake, task, protocol, beside))
        aggregates = pl.concat([aggregates.drop("benchmark"), found.lazy()], how="diagonal")
    of_slice = (pl.col("slice") == slice_) & (pl.col("slice_value") == value)
    named = runs.select("run_id", "retriever", system=_SYSTEM)
    rows = aggregates.filter(of_slice).join(named, on="run_id").collect()
    if rows.is_empty():
        return
    table = _pivoted(rows, protocol, columns)
    label = edition(lake, benchmark).label
    of = f" of {task.name}" if len(protocol.tasks) > 1 else ""
    yield f"{protocol.name}{of}, {slice_} {value}, {primary.aggregate}{f', {label}' if label else ''}"
    names = [called(metric, k) for metric, k in columns]
    widths = [max(16, len(name) + 2) for name in names]
    left = max(32, *(len(system) + 2 for system in table["system"]))
    yield f"{'system':{left}}{''.join(map(str.rjust, names, widths))}{'items':>8}"
    for system, _, n_items, n, *scores in table.iter_rows():
        items = f"{n_items:8,}" if n in (n_items, None) else f"{n:,} of {n_items:,}".rjust(16)
        texts = ("–" if one is None else f"{one:.3f}" for one in scores)
        yield f"{system:{left}}{''.join(map(str.rjust, texts, widths))}{items}"
    for sentence in _beside(table, task, columns[0][0]):
        yield f"  {sentence}"
    for one in columns:
        if reasons[one]:
            yield f"  {reasons[one]}"
        elif one in beside:
            yield f"  {called(*one)} is exploratory: {protocol.name} does not declare it"


def comparison(
    found: Sequence[Compared], broken: Sequence[Compared], *, flips: bool = False, names_runs: bool = False
) -> Iterator[str]:
    """The lines of a comparison: the numbers, once more where the two have numbers for different items, the verdict.

    Args:
        found: The comparisons.
        broken: Those that fail the gate.
        flips: Whether to name the items on which the two differ.
        names_runs: Whether to say which runs A and B are, as they were not named.
    """
    yield f"{'protocol, metric':44}{'A':>9}{'B':>9}{'B - A':>9}{'wins':>7}{'ties':>7}{'losses':>8}{'items':>8}  over"
    for one in found:
        several = len({other.task for other in found if other.protocol == one.protocol}) > 1
        named = f"{one.protocol}{f' of {one.task}' if several else ''} {called(metric_named(one.metric), one.k)}"
        label = named if one.is_declared else f"{named} (exploratory)"
        over = f"  {one.slice} {one.slice_value}, {one.average}{'  fails' if one in broken else ''}"
        counts = ((one.wins, 7), (one.ties, 7), (one.losses, 8))
        moved = "".join("–".rjust(width) if n is None else f"{n:{width},}" for n, width in counts)
        paired = f"{one.a_shared:9.3f}{one.b_shared:9.3f}{one.delta:+9.3f}{moved}{one.n:8,}"
        if one.n_a == one.n_b == one.n:
            yield f"{label:44}{paired}{over}"
        else:
            yield f"{label:44}{one.a:9.3f}{one.b:9.3f}{f'{one.n_a:,} and {one.n_b:,}':>39}{over}"
            yield f"{'  on the items that both have':44}{paired}"
        if names_runs:
            yield f"  A is {one.run_a}, B is {one.run_b}"
        yield f"  {_sentence(one)}"
        for repo, n, a, b in one.repositories[:_MOST_REPOSITORIES]:
            yield f"    {repo:40}{a:9.3f}{b:9.3f}{b - a:+9.3f}{n:30,}"
        if (n_more := len(one.repositories) - _MOST_REPOSITORIES) > 0:
            yield f"    {counted(n_more, 'more repository')}: --json"
        for item_id, a, b in one.flips if flips else ():
            yield f"    {item_id:40}{a:9.3f}{b:9.3f}{b - a:+9.3f}"
    if any(one.wins is None for one in found):
        yield "  –: random's numbers are expectations over all orders, which win, tie and lose nothing"


_MOST_REPOSITORIES = 10
_VERDICTS = {
    BETTER: "B is better than A",
    WORSE: "B is worse than A",
    INSEPARABLE: "A and B cannot be separated",
    EQUIVALENT: f"A and B are equivalent: less than {POINT} apart",
    TOO_FEW: f"too few to say which is better: under {FEWEST_REPOS} repositories or {FEWEST_ITEMS} items",
    None: "neither is better by this metric",
}


def _sentence(one: Compared) -> str:
    """The verdict, and the numbers that it is from."""
    interval = "" if one.low is None else f" ({one.low:+.3f} to {one.high:+.3f})"
    p = f"p {one.p:.3g}, exploratory" if one.p_adjusted is None else f"p {one.p_adjusted:.3g}, adjusted for all pairs"
    least = "" if one.smallest_detectable is None else f"; detectable from {one.smallest_detectable:.3f}"
    repos = counted(one.n_repos, "repository")
    return f"{_VERDICTS[one.verdict]}: {one.delta:+.3f}{interval}, {p}{least}; {repos}"


_USUAL = ((metric_named("recall"), 10), (metric_named("mrr"), 10))
_SYSTEM = pl.when(pl.col("status") == "complete").then("system").otherwise(pl.format("{} ({})", "system", "status"))


def _pivoted(rows: pl.DataFrame, protocol: Protocol, columns: Sequence[tuple[Metric, int]]) -> pl.DataFrame:
    """system, retriever, n_items, n of the first column and a number per column, best first by the first column."""
    key = ["run_id", "system", "retriever", "n_items"]
    of_first = (pl.col("metric") == columns[0][0].name) & (pl.col("k") == columns[0][1])
    table = rows.group_by(key).agg(pl.col("n").filter(of_first).first())
    for place, (metric, k) in enumerate(columns):
        of_metric = (pl.col("metric") == metric.name) & (pl.col("k") == k)
        number = pl.col(average_of(protocol, metric)).alias(str(place))
        table = table.join(rows.filter(of_metric).select(*key, number), on=key, how="left", nulls_equal=True)
    is_descending = columns[0][0].direction != "lower"
    table = table.sort("0", "system", "run_id", descending=[is_descending, False, False], nulls_last=True)
    return table.drop("run_id")


def _beside(table: pl.DataFrame, task: Task, metric: Metric) -> list[str]:
    """What is to be known where no system is above a baseline."""
    baselines = {name for name, retriever in retrievers().items() if BASELINE in retriever.tags}
    rows = ((name, name in baselines, value) for name, value in table.select("retriever", "0").iter_rows())
    return unbeaten_baselines(task.name, rows, lower_is_better=metric.direction == "lower")
