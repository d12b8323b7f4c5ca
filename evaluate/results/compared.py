"""One metric of two runs under one protocol and over one slice: how far apart they are, and which items flipped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from evaluate.metrics import Metric
from evaluate.statistics.comparisons import compare_runs
from evaluate.statistics.headline import average_of
from evaluate.statistics.means import in_slice
from evaluate.statistics.pooling import pooled_whole
from lake.catalog.protocol import Aggregate, Protocol
from lake.catalog.task import Task
from lake.exact import exact_sum
from lake.tables import table


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


@dataclass(frozen=True)
class Measured:
    """What is compared: one metric of a task's runs under a protocol, over one slice."""

    task: Task
    protocol: Protocol
    metric: Metric
    k: int
    where: tuple[str, str]
    is_declared: bool = True

    def compared(
        self,
        pair: Sequence[str],
        scores: Sequence[pl.LazyFrame],
        items: pl.LazyFrame,
        expected: Sequence[bool],
        found: pl.DataFrame | None = None,
        own: Sequence[Sequence[float]] = (),
    ) -> Iterator[Compared]:
        """The comparison of two runs; none without an item that both have.

        Args:
            pair: The runs.
            scores: Of each its rows of table `scores` by the metric.
            items: Rows of table `items`.
            expected: Of each whether its values are expectations.
            found: The pair's row of table `comparisons`; worked out where there is none.
            own: Of each its number and over how many items that is; worked out without them.
        """
        average, inside = average_of(self.protocol, self.metric), in_slice(items, *self.where)
        # Under the names `a` and `b`: a run may be compared with itself.
        known = [one.filter(pl.col("value").is_not_null()).join(inside, on="item_id", how="semi") for one in scores]
        sides = {side: one.with_columns(run_id=pl.lit(side)) for side, one in zip("ab", known, strict=True)}
        both = {
            side: sides[side].join(sides[other], on="item_id", how="semi") for side, other in (("a", "b"), ("b", "a"))
        }
        if found is None or found.is_empty():
            found = self._worked_out(sides, items, dict(zip("ab", expected, strict=True)))
        if found.is_empty():
            return
        row = found.row(0, named=True)
        a, b = own or self._numbers(sides, inside, average)
        shared = self._numbers(both, inside, average)
        columns = [both[side].select(*_SIDE) for side in "ab"]
        by_item = (
            columns[0].join(columns[1], on="item_id").join(items.select("item_id", "repo"), on="item_id").collect()
        )
        yield Compared(
            protocol=self.protocol.name,
            task=self.task.name,
            metric=self.metric.name,
            k=self.k,
            average=average,
            slice=self.where[0],
            slice_value=self.where[1],
            run_a=pair[0],
            run_b=pair[1],
            a=a[0],
            b=b[0],
            n_a=int(a[1]),
            n_b=int(b[1]),
            n=row["n_items"],
            a_shared=shared[0][0],
            b_shared=shared[1][0],
            **{name: row[name] for name in _OF_TABLE},
            is_declared=self.is_declared,
            repositories=_by_repository(by_item, average),
            flips=_flips(by_item),
        )

    def _numbers(
        self, sides: Mapping[str, pl.LazyFrame], items: pl.LazyFrame, average: Aggregate
    ) -> list[tuple[float, int]]:
        """Of each side its number over all the items that it has, and how many those are."""
        pooled = pooled_whole(self.protocol, pl.concat(sides.values()), items).sort("run_id")
        return pooled.select(average, "n").collect().rows()

    def _worked_out(
        self, sides: Mapping[str, pl.LazyFrame], items: pl.LazyFrame, expected: Mapping[str, bool]
    ) -> pl.DataFrame:
        """The pair's row of table `comparisons`, as it is not stored: exploratory."""
        slice_, value = self.where
        key = {"granularity": self.metric.granularity, "metric": self.metric.name, "k": self.k}
        place = {**key, "slice": slice_, "slice_value": value, "in_family": False}
        kinds = {name: kind for name, kind in table("aggregates").columns.items() if name in place}
        rows = [{"run_id": side, "is_expected": expected[side], **place} for side in sides]
        frame = pl.DataFrame(rows, schema_overrides=kinds)
        return compare_runs(self.protocol, frame, items, sides)


_SIDE = ("item_id", "value", "numerator", "denominator")


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
