"""A leaderboard's columns, which metrics at which cut-offs, the primary one first; and what stands in a cell."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from lake.errors import lookup
from report.models import Average, Metric, Protocol
from report.tables_read import TablesRead

Measure = tuple[str, str, int]


Interval = tuple[float | None, float | None]


@dataclass(frozen=True)
class Cell:
    """One metric of one run over one slice."""

    macro: float | None
    micro: float | None
    by_repo: float | None
    low: float | None
    high: float | None
    micro_low: float | None
    micro_high: float | None
    by_repo_low: float | None
    by_repo_high: float | None
    unit: str
    n: int
    n_items: int
    n_repos: int
    n_failed: int
    n_not_applicable: int
    rank: int | None
    rank_low: int | None
    rank_high: int | None
    tie_group: int | None
    too_few: bool | None
    share_of_oracle: float | None

    def average(self, name: Average) -> float | None:
        """The metric averaged one way."""
        return {"macro": self.macro, "micro": self.micro, "by_repo": self.by_repo}[name]

    def interval(self, name: Average) -> Interval:
        """The interval of that average."""
        micro, by_repo = (self.micro_low, self.micro_high), (self.by_repo_low, self.by_repo_high)
        return {"macro": (self.low, self.high), "micro": micro, "by_repo": by_repo}[name]


def cells_in(rows: pl.DataFrame) -> list[Cell]:
    """A cell per row of `aggregates` with its ranks."""
    return [Cell(**row) for row in rows.select(list(Cell.__dataclass_fields__)).iter_rows(named=True)]


class Column:
    """One metric at one cut-off (0: none), as the protocol averages it.

    Beside ratios of sums these are means over items of what has no such ratio and of what describes a run's steps.
    `name` is the metric with its cut-off, `quantity` what it measures whatever it counts (`coverage` of
    `line_coverage`), `measured` the metric as people say it, `title` the same with the cut-off, `cut` as in `@10`.
    """

    def __init__(self, measure: Measure, name: str, average: Average, rule: Metric) -> None:
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


def columns_of(
    facts: TablesRead, protocol: Protocol, rows: pl.DataFrame, primary: Measure | None = None
) -> tuple[Column, ...]:
    """The primary metric, where it is given, then the others in the protocol's order."""
    order = {name: place for place, name in enumerate(metric["metric"] for metric in protocol.metrics)}
    others = {tuple(row) for row in rows.select("granularity", "metric", "k").unique().iter_rows()} - {primary}
    rest = sorted(others, key=lambda measure: (order.get(measure[1], len(order)), measure[1], measure[0], measure[2]))
    measures: list[Measure] = [*([primary] if primary else []), *rest]
    names = [(metric, k) for _, metric, k in measures]

    def column(measure: Measure) -> Column:
        granularity, metric, k = measure
        name = f"{metric}@{k}" if k else metric
        alone = names.count((metric, k)) == 1
        rule, own = lookup(metric, "metric", facts.metrics), protocol.primary.aggregate
        average: Average = "macro" if own == "micro" and (rule.micro == "none" or rule.of_steps) else own
        return Column(measure, name if alone else f"{granularity} {name}", average, rule)

    return tuple(map(column, measures))
