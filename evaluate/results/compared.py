"""One metric of two runs under one protocol and over one slice: how far apart, which items flipped, and a gate."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import polars as pl

from evaluate.metrics import Metric, metrics_of, parse_metric
from evaluate.results.published import Published
from evaluate.statistics.comparisons import ScoreMatrix, compare_runs
from evaluate.statistics.headline import average_of
from evaluate.statistics.means import in_slice
from evaluate.statistics.pooling import pooled_whole
from lake.catalog.protocol import Aggregate, Protocol
from lake.catalog.task import Task
from lake.errors import Exit, GoldspanError
from lake.exact import exact_sum
from lake.store import Lake
from lake.tables import table
from lake.verdict import TOO_FEW, WORSE


@dataclass(frozen=True)
class Compared:
    """One metric of two runs of a task under one protocol, over one slice.

    `a` and `b` are the numbers as their leaderboard has them, over the `n_a` and `n_b` items of the slice that either
    has a value for; `a_shared` and `b_shared` are over the `n` that both have. From `delta` on, the second less the
    first over those, it is as table `comparisons` has it, the first being `run_a`.
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
    unit: str
    """What interval and test are over: the repository, or the item."""
    is_declared: bool
    """The protocol declares the metric with that cut-off."""
    repositories: tuple[tuple[str, int, float, float], ...]
    """Each with the items that both have there, and the two numbers over them."""
    flips: tuple[tuple[str, float, float], ...]
    """The items on which the two differ, with both values."""


_OF_TABLE = (
    *("delta", "low", "high", "p", "p_adjusted", "wins", "ties", "losses"),
    *("smallest_detectable", "equivalent", "verdict", "exploratory", "n_repos", "unit"),
)


class Pair(NamedTuple):
    """Two runs of a task that one protocol scored: where each lies, its id and its system."""

    task: Task
    protocol: Protocol
    sources: Sequence[Lake | Published]
    runs: Sequence[tuple[str, str]]

    @property
    def scores(self) -> list[pl.LazyFrame]:
        """Of each its rows of table `scores`."""
        folders = {"benchmark": self.task.benchmark, "protocol": self.protocol.name}
        sides = zip(self.sources, self.runs, strict=True)
        return [source.scan("scores", **folders, run_id=run_id) for source, (run_id, _) in sides]


def compared(
    pair: Pair,
    metric: Metric,
    k: int,
    where: tuple[str, str],
    scores: Sequence[pl.LazyFrame],
    items: pl.LazyFrame,
    expected: Sequence[bool],
    found: pl.DataFrame,
) -> Iterator[Compared]:
    """The comparison of two runs by a metric over a value of a slice; none without an item that both have.

    Of each run there are its rows of table `scores` by the metric, and whether these are expectations; `found` is the
    pair's row of table `comparisons`, which is worked out where there is none.
    """
    protocol = pair.protocol
    average, inside = average_of(protocol, metric), in_slice(items, *where)
    # Under the names `a` and `b`: a run may be compared with itself.
    a, b = (
        one.filter(pl.col("value").is_not_null())
        .join(inside, on="item_id", how="semi")
        .with_columns(run_id=pl.lit(side))
        for side, one in zip("ab", scores, strict=True)
    )
    if found.is_empty():
        # As it is not stored it is exploratory.
        key = {"granularity": metric.granularity, "metric": metric.name, "k": k}
        place = {**key, "slice": where[0], "slice_value": where[1], "in_family": False}
        kinds = {name: kind for name, kind in table("aggregates").columns.items() if name in place}
        rows = [{"run_id": side, "is_expected": one, **place} for side, one in zip("ab", expected, strict=True)]
        places = pl.DataFrame(rows, schema_overrides=kinds)
        found = compare_runs(protocol, places, ScoreMatrix(protocol, places, items, [a, b]))
    if found.is_empty():
        return
    row = found.row(0, named=True)
    both = [one.join(other, on="item_id", how="semi") for one, other in ((a, b), (b, a))]
    (own_a, n_a), (own_b, n_b) = _numbers(protocol, [a, b], inside, average)
    (shared_a, _), (shared_b, _) = _numbers(protocol, both, inside, average)
    columns = [one.select("item_id", "value", "numerator", "denominator") for one in both]
    by_item = columns[0].join(columns[1], on="item_id").join(items.select("item_id", "repo"), on="item_id").collect()
    yield Compared(
        protocol=protocol.name,
        task=pair.task.name,
        metric=metric.name,
        k=k,
        average=average,
        slice=where[0],
        slice_value=where[1],
        run_a=pair.runs[0][0],
        run_b=pair.runs[1][0],
        a=own_a,
        b=own_b,
        n_a=n_a,
        n_b=n_b,
        n=row["n_items"],
        a_shared=shared_a,
        b_shared=shared_b,
        **{name: row[name] for name in _OF_TABLE},
        is_declared=(metric, k) in metrics_of(protocol),
        repositories=_by_repository(by_item, average),
        flips=_flips(by_item),
    )


def _numbers(
    protocol: Protocol, sides: Sequence[pl.LazyFrame], items: pl.LazyFrame, average: Aggregate
) -> list[tuple[float, int]]:
    """Of each side its number over all the items that it has, and how many those are."""
    pooled = pooled_whole(protocol, pl.concat(sides), items).sort("run_id")
    return pooled.select(average, "n").collect().rows()


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


@dataclass(frozen=True)
class Gate:
    """A condition that fails a comparison.

    Attributes:
        metric: By which the two are compared.
        k: Its cut-off.
        change: `drops` or `rises`: the second's number lies so far below or above the first's; `is worse`: the verdict.
        by: How far; 0 for a verdict.
    """

    metric: Metric
    k: int
    change: str
    by: float

    def is_broken_by(self, compared: Compared) -> bool:
        """Whether a comparison of this metric fails it."""
        if (compared.metric, compared.k) != (self.metric.name, self.k):
            return False
        if self.change == "is worse":
            return compared.verdict == WORSE
        return (-compared.delta if self.change == "drops" else compared.delta) > self.by

    def is_undecided_by(self, compared: Compared) -> bool:
        """Whether a comparison of this metric has no verdict that could fail it."""
        if (compared.metric, compared.k) != (self.metric.name, self.k) or self.change != "is worse":
            return False
        return compared.verdict in {None, TOO_FEW}


_GATE = re.compile(r"\s*(\S+)\s+(?:(drops|rises)\s*>\s*(\d+(?:\.\d+)?)|is\s+worse)\s*")


def parse_gate(text: str) -> Gate:
    """`ndcg@10 drops > 0.01` or `ndcg@10 is worse` as a gate.

    Raises:
        GoldspanError: It is written otherwise, or names no metric.
    """
    found = _GATE.fullmatch(text)
    if found is None:
        message = f"--fail-if {text!r} is no condition"
        hint = 'Write it as "ndcg@10 drops > 0.01" (instead of drops: rises), or as "ndcg@10 is worse".'
        raise GoldspanError(message, hint=hint, code=Exit.USAGE)
    metric, k = parse_metric(found[1])
    return Gate(metric, k, found[2] or "is worse", float(found[3] or 0))
