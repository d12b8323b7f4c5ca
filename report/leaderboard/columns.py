"""A leaderboard's columns, which metrics at which cut-offs, the primary one first; and what stands in a cell."""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from lake.averages import Aggregate
from lake.errors import lookup
from report.models import MetricRow, ProtocolRow
from report.tables_read import TablesRead

Measure = tuple[str, str, int]

Interval = tuple[float | None, float | None]


class Cell(NamedTuple):
    """A run's number in a column, averaged one way over one slice: columns of table `boards`."""

    value: float | None
    low: float | None
    high: float | None
    unit: str
    n: int
    n_items: int
    n_repos: int
    n_failed: int
    n_not_applicable: int
    of_items: int
    state: str
    place: int
    rank: int | None
    rank_low: int | None
    rank_high: int | None
    tie_group: int | None
    too_few: bool | None
    share_of_oracle: float | None
    delta: float | None
    delta_low: float | None
    delta_high: float | None
    read: float | None

    @property
    def interval(self) -> Interval:
        """The interval of the number."""
        return self.low, self.high


def cells_in(rows: pl.DataFrame) -> list[Cell]:
    """A cell per row of `boards`."""
    return [Cell(*row) for row in rows.select(Cell._fields).iter_rows()]


class Column:
    """One metric at one cut-off (0: none), as the protocol averages it.

    Beside ratios of sums these are means over items of what has no such ratio and of what describes a run's steps.
    `name` is the metric with its cut-off, `quantity` what it measures whatever it counts (`coverage` of
    `line_coverage`), `measured` the metric as people say it, `title` the same with the cut-off, `cut` as in `@10`.
    """

    def __init__(self, measure: Measure, name: str, average: Aggregate, rule: MetricRow) -> None:
        self.measure, self.name, self.average, self.rule = measure, name, average, rule
        self.granularity, metric, self.k = measure
        self.where = {"granularity": self.granularity, "metric": metric, "k": self.k}
        self.lower_is_better = rule.direction == "lower"
        self.metric, at, k = name.partition("@")
        self.cut = at + k
        self.quantity = self.metric.removeprefix(f"{self.granularity}_")
        self.measured = rule.title or self.metric
        within = f" in {self.k:,} characters" if rule.cut == "budget" else f" at {self.k:,}"
        self.title = f"{self.measured}{within}" if self.k else self.measured


def columns_of(facts: TablesRead, rows: pl.DataFrame) -> tuple[Column, ...]:
    """The columns of rows of table `boards`, in their order."""
    columns = rows.filter("is_shown").select("position", *_MEASURE, "column", "average").unique().sort("position")
    return tuple(
        Column((granularity, metric, k), name, average, lookup(metric, "metric", facts.metrics))
        for _, granularity, metric, k, name, average in columns.iter_rows()
    )


_MEASURE = ("granularity", "metric", "k")


def primary_of(facts: TablesRead, protocol: ProtocolRow) -> Column:
    """The primary metric's column, of a board without a number."""
    rule = protocol.primary
    name = f"{rule.metric}@{rule.k}" if rule.k else rule.metric
    metric = lookup(rule.metric, "metric", facts.metrics)
    return Column((rule.granularity, rule.metric, rule.k), name, rule.aggregate, metric)
