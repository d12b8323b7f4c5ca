"""Two systems under one protocol: how far apart the board's own numbers are, what that says, which items flipped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

import polars as pl

from evaluate.metrics import Metric, metric_named, metrics_of
from evaluate.results.exploring import aggregated, explored, why_not
from evaluate.runs.comparing import systems_of
from evaluate.statistics.comparisons import MEASURE, SLICE, compare_runs, mirrored
from evaluate.statistics.headline import average_of, slice_of
from evaluate.statistics.means import in_slice
from evaluate.statistics.pooling import pooled_whole
from lake.catalog.protocol import Aggregate, Protocol
from lake.catalog.protocols import protocol_named, protocols
from lake.catalog.references import REFERENCE, REFERENCES, USUAL
from lake.catalog.task import Task
from lake.catalog.tasks import TASKS
from lake.errors import Exit, GoldspanError, unknown_name
from lake.exact import exact_sum
from lake.store import Lake

Asked = tuple[Metric, int]


@dataclass(frozen=True)
class Compared:
    """One metric of two runs of a task under one protocol, over one slice.

    What follows `delta` is as table `comparisons` has it, the first being `run_a`.

    Attributes:
        average: How the metric is averaged.
        slice: The slice, and its value.
        a: The first's number as its leaderboard has it: over all items of the slice that it has a value for.
        b: The second's.
        n_a: How many items the first has a value for.
        n_b: How many the second has.
        n: How many both have.
        a_shared: The first's number over those.
        b_shared: The second's.
        delta: The second's less the first's, over those.
        is_declared: The protocol declares the metric with that cut-off.
        repositories: Each with the items that both have there, and the two numbers over them.
        flips: The items on which the two differ, with both values.
    """

    protocol: str
    task: str
    metric: str
    k: int
    average: Aggregate
    slice: str
    slice_value: str
    run_a: str
    run_b: str
    a: float
    b: float
    n_a: int
    n_b: int
    n: int
    a_shared: float
    b_shared: float
    delta: float
    low: float | None
    high: float | None
    p: float
    p_adjusted: float | None
    wins: int | None
    ties: int | None
    losses: int | None
    smallest_detectable: float | None
    equivalent: bool
    verdict: str | None
    exploratory: bool
    n_repos: int
    is_declared: bool
    repositories: tuple[tuple[str, int, float, float], ...]
    flips: tuple[tuple[str, float, float], ...]


_OF_TABLE = (
    *("delta", "low", "high", "p", "p_adjusted", "wins", "ties", "losses"),
    *("smallest_detectable", "equivalent", "verdict", "exploratory", "n_repos"),
)


def compare(
    lake: Lake, a: str, b: str, asked: Sequence[Asked], *, protocol_names: Sequence[str] = (), slice_name: str = ""
) -> list[Compared]:
    """Compare two systems under every protocol that scored both.

    Args:
        lake: Where their scores are; the caller holds its lock where something exploratory is asked for.
        a: A run's id, a system's name, or `reference` for the one that the task's benchmark declares.
        b: Another.
        asked: Metrics and cut-offs; none for each protocol's primary one.
        protocol_names: Under which protocols alone; none for all.
        slice_name: Over which items, as `subset=function-2k`; the slice that a protocol shows first without it.

    Raises:
        GoldspanError: There is no such run or system, a name means several runs, no protocol scored both, or none of
            those that did gives what is asked.
    """
    runs = lake.scan("runs").select("run_id", "system", "task", "retriever", "status").sort("run_id").collect()
    for name in {a, b} - {REFERENCE}:
        _check_known(runs, name)
    pairs = [
        (task, protocol, pair)
        for protocol in (map(protocol_named, protocol_names) if protocol_names else protocols().values())
        for task in map(TASKS.__getitem__, protocol.tasks)
        if (pair := _pair(lake, protocol, runs.filter(pl.col("task") == task.name), a, b))
    ]
    if not pairs:
        message = f"no protocol scored both {a} and {b}"
        raise GoldspanError(message, hint="They answer different tasks.", code=Exit.MISSING)
    for metric, k in asked:
        reasons = [why_not(task, protocol, metric, k) for task, protocol, _ in pairs]
        if all(reasons):
            message = f"metric {metric.name}@{k} cannot be had of {a} and {b}"
            raise GoldspanError(message, examples=list(dict.fromkeys(reasons)), code=Exit.USAGE)
    found = [one for task, protocol, pair in pairs for one in _under(lake, task, protocol, pair, asked, slice_name)]
    missing = {(metric.name, k) for metric, k in asked} - {(one.metric, one.k) for one in found}
    if missing or not found:
        message = f"no item has a value from both {a} and {b}"
        examples = [f"{metric}@{k}" for metric, k in sorted(missing)]
        raise GoldspanError(message, examples=examples, code=Exit.MISSING)
    return found


def _check_known(runs: pl.DataFrame, name: str) -> None:
    if runs.filter((pl.col("run_id") == name) | (pl.col("system") == name)).is_empty():
        kind = "run or system"
        raise unknown_name(kind, name, [*runs["system"], *runs["run_id"]])


def _pair(lake: Lake, protocol: Protocol, runs: pl.DataFrame, a: str, b: str) -> list[str]:
    """The runs of a task that two names mean, of those scored under a protocol; empty where one means none."""
    scored = {part.folders["run_id"] for part in lake.parts("aggregates", protocol=protocol.name)}
    pair = []
    known = runs.filter(pl.col("run_id").is_in(list(scored)))
    for name in (a, b):
        meant = reference_of(protocol, known["system"]) if name == REFERENCE else name
        mine = known.filter((pl.col("run_id") == meant) | (pl.col("system") == meant))
        complete = mine.filter(pl.col("status") == "complete")
        run_ids = (complete if mine.height > 1 and complete.height else mine)["run_id"].to_list()
        if not run_ids:
            return []
        if len(run_ids) > 1:
            message = f"{name} means {len(run_ids)} runs"
            raise GoldspanError(message, examples=run_ids, hint="Name one by its id.", code=Exit.USAGE)
        pair += run_ids
    return pair


def reference_of(protocol: Protocol, systems: Iterable[str]) -> str:
    """The system that a protocol's benchmark declares as reference, of those that there are; empty for none."""
    patterns = REFERENCES.get(protocol.name.partition("@")[0], USUAL)
    return next((name for one in patterns for name in sorted(systems) if fnmatchcase(name, one)), "")


def _under(
    lake: Lake, task: Task, protocol: Protocol, pair: Sequence[str], asked: Sequence[Asked], slice_name: str
) -> Iterator[Compared]:
    """Every metric that is asked for and can be had of two runs under one protocol."""
    primary = (metric_named(protocol.primary.metric), protocol.primary.k)
    wanted = [one for one in dict.fromkeys(asked or [primary]) if not why_not(task, protocol, *one)]
    scores, aggregates = (_stored(lake, name, protocol, pair) for name in ("scores", "aggregates"))
    # Only a slice that both have: a run over one repository has no other in common with a run over all.
    is_shared = pl.col("run_id").n_unique().over("slice", "slice_value") == len({*pair})
    where = slice_of(protocol, aggregates.filter(is_shared), slice_name)
    beside = [one for one in wanted if one not in metrics_of(protocol)]
    if beside:
        found = explored(lake, task, protocol, beside, pair)
        scores = pl.concat([scores, found.lazy()])
        aggregates = pl.concat([aggregates, aggregated(lake, task, protocol, found).lazy()])
    items = in_slice(lake.scan("items", benchmark=task.benchmark), *where)
    aggregates = aggregates.filter(pl.col("slice") == where[0], pl.col("slice_value") == where[1])
    scores = scores.filter(pl.col("value").is_not_null()).join(items, on="item_id", how="semi")
    for metric, k in wanted:
        of_metric = (pl.col("metric") == metric.name) & (pl.col("k") == k)
        rows = aggregates.filter(of_metric).collect()
        found = _found(lake, task, protocol, pair, rows, scores.filter(of_metric))
        if found.is_empty():
            continue
        row = found.row(0, named=True)
        average = average_of(protocol, metric)
        both = scores.filter(of_metric, pl.col("run_id").n_unique().over("item_id", "metric", "k") == len({*pair}))
        shared = dict(pooled_whole(protocol, both, items).select("run_id", average).collect().iter_rows())
        own = {run_id: numbers for run_id, *numbers in rows.select("run_id", average, "n").iter_rows()}
        a, b = pair
        sides = [both.filter(pl.col("run_id") == one).select(*_SIDE) for one in pair]
        by_item = sides[0].join(sides[1], on="item_id").join(items.select("item_id", "repo"), on="item_id").collect()
        yield Compared(
            protocol=protocol.name,
            task=task.name,
            metric=metric.name,
            k=k,
            average=average,
            slice=where[0],
            slice_value=where[1],
            run_a=a,
            run_b=b,
            a=own[a][0],
            b=own[b][0],
            n_a=own[a][1],
            n_b=own[b][1],
            n=row["n_items"],
            a_shared=shared[a],
            b_shared=shared[b],
            **{name: row[name] for name in _OF_TABLE},
            is_declared=(metric, k) not in beside,
            repositories=_by_repository(by_item, average),
            flips=_flips(by_item),
        )


_SIDE = ("item_id", "value", "numerator", "denominator")


def _found(
    lake: Lake, task: Task, protocol: Protocol, pair: Sequence[str], rows: pl.DataFrame, scores: pl.LazyFrame
) -> pl.DataFrame:
    """The pair's row of table `comparisons`, worked out where it is not stored; none without an item that both have."""
    if rows["run_id"].n_unique() < len({*pair}):
        return rows.clear()
    stored = lake.scan("comparisons", benchmark=task.benchmark, protocol=protocol.name)
    of_pair = pl.concat([stored, mirrored(stored)]).filter(pl.col("run_a") == pair[0], pl.col("run_b") == pair[1])
    found = of_pair.join(rows.lazy(), on=[*MEASURE, *SLICE], how="semi").collect()
    if found.height:
        return found
    # Under the names `a` and `b`: a run may be compared with itself.
    sides, systems = dict(zip("ab", pair, strict=True)), systems_of(lake, task)
    frames = [rows.filter(run_id=run_id).join(systems, on="run_id") for run_id in pair]
    placed = pl.concat(one.with_columns(run_id=pl.lit(side)) for side, one in zip(sides, frames, strict=True))
    of_side = {side: scores.filter(pl.col("run_id") == run_id) for side, run_id in sides.items()}
    items = lake.scan("items", benchmark=task.benchmark)
    return compare_runs(protocol, placed.with_columns(in_family=False), items, of_side)


def _by_repository(by_item: pl.DataFrame, average: Aggregate) -> tuple[tuple[str, int, float, float], ...]:
    """Each repository's items and two numbers, those of most items first."""

    def number(side: str) -> pl.Expr:
        if average == "micro":
            # Of nothing there is no share.
            return (pl.col(f"numerator{side}").sum() / pl.col(f"denominator{side}").sum()).fill_nan(0.0)
        return exact_sum(pl.col(f"value{side}")) / pl.len()

    numbers = by_item.group_by("repo").agg(pl.len().alias("n"), number("").alias("a"), number("_right").alias("b"))
    return tuple(numbers.sort("n", "repo", descending=[True, False]).iter_rows())


def _flips(by_item: pl.DataFrame) -> tuple[tuple[str, float, float], ...]:
    """The items on which the two differ, the largest rise first."""
    moved = by_item.filter(pl.col("value") != pl.col("value_right"))
    order = (pl.col("value_right") - pl.col("value"), pl.col("item_id"))
    return tuple(moved.sort(*order, descending=[True, False]).select("item_id", "value", "value_right").iter_rows())


def _stored(lake: Lake, name: str, protocol: Protocol, pair: Sequence[str]) -> pl.LazyFrame:
    parts = [part for run_id in {*pair} for part in lake.parts(name, protocol=protocol.name, run_id=run_id)]
    return lake.scan_parts(parts, name).drop("benchmark")
