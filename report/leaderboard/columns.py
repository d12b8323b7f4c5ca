"""A leaderboard's columns, which metrics at which cut-offs, the primary one first; and what stands in a cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import polars as pl

from report.entities import Average, Metric, Protocol
from report.facts import Facts

Measure = tuple[str, str, int]
"""Granularity, metric, k."""


Interval = tuple[float | None, float | None]
"""The ends of a 95 % interval, where there is one."""


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


@dataclass(frozen=True)
class Column:
    """One metric at one cut-off; `in_characters`: its cut-off is a budget of non-whitespace characters.

    `average` is how the protocol averages it: beside ratios of sums, means over items of what has no such ratio and of
    what describes a run's steps.
    """

    measure: Measure
    name: str
    better: Literal["higher", "lower", "neither"]
    micro: str
    of_steps: bool
    average: Average
    declaration: Metric | None
    in_characters: bool = False

    @property
    def where(self) -> dict[str, str | int]:
        """Its rows of a table that has them by measure."""
        granularity, metric, k = self.measure
        return {"granularity": granularity, "metric": metric, "k": k}

    @property
    def metric(self) -> str:
        """The metric's name alone."""
        return self.name.partition("@")[0]

    @property
    def granularity(self) -> str:
        """What it counts: chunks, lines, files."""
        return self.measure[0]

    @property
    def k(self) -> int:
        """Its cut-off, 0 where it has none."""
        return self.measure[2]

    @property
    def quantity(self) -> str:
        """What it measures, whatever it counts: `coverage` of `line_coverage`."""
        return self.metric.removeprefix(f"{self.granularity}_")

    @property
    def measured(self) -> str:
        """The metric as people say it, wherever it is cut: `Line F1`."""
        return self.declaration.title if self.declaration and self.declaration.title else self.metric

    @property
    def title(self) -> str:
        """The metric as people say it: `Line F1 in 8,000 characters`."""
        if not self.k:
            return self.measured
        return f"{self.measured} in {self.k:,} characters" if self.in_characters else f"{self.measured} at {self.k:,}"

    @property
    def cut(self) -> str:
        """The cut-off as it stands behind the name, `@10`, or nothing."""
        return self.name[len(self.metric) :]


def columns_of(facts: Facts, protocol: Protocol, primary: Measure, rows: pl.DataFrame) -> tuple[Column, ...]:
    """The primary metric, then the others in the protocol's order."""
    order = {name: place for place, name in enumerate(one.metric for one in protocol.metrics)}
    found = {tuple(row) for row in rows.select("granularity", "metric", "k").unique().iter_rows()} - {primary}
    rest = sorted(found, key=lambda measure: (order.get(measure[1], len(order)), measure[1], measure[0], measure[2]))
    measures: list[Measure] = [primary, *rest]
    named = [(metric, k) for _, metric, k in measures]

    def column(measure: Measure) -> Column:
        granularity, metric, k = measure
        name = f"{metric}@{k}" if k else metric
        alone = named.count((metric, k)) == 1
        rule, own = facts.metrics.get(metric), protocol.primary.aggregate
        is_mean = rule is not None and own == "micro" and (rule.micro == "none" or rule.of_steps)
        return Column(
            measure=measure,
            name=name if alone else f"{granularity} {name}",
            better="higher" if rule is None else rule.direction,
            micro="ratio" if rule is None else rule.micro,
            of_steps=rule is not None and rule.of_steps,
            average="macro" if is_mean else own,
            declaration=rule,
            in_characters=rule is not None and rule.cut == "budget",
        )

    return tuple(map(column, measures))
