"""A leaderboard's columns: which metrics at which cut-offs, the primary one first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import polars as pl

from report.entities import Declaration, Protocol
from report.facts import Facts
from report.parameters import MetricParameters

Measure = tuple[str, str, int]
"""Granularity, metric, k."""


@dataclass(frozen=True)
class Column:
    """One metric at one cut-off."""

    measure: Measure
    name: str
    better: Literal["higher", "lower", "neither"]
    micro: str
    of_steps: bool
    declaration: Declaration | None
    in_characters: bool = False
    """Its cut-off is a budget of non-whitespace characters."""

    @property
    def metric(self) -> str:
        """The metric's name alone."""
        return self.name.partition("@")[0]

    @property
    def granularity(self) -> str:
        """What it counts: chunks, lines, files."""
        return self.measure[0]

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
        k = self.measure[2]
        if not k:
            return self.measured
        return f"{self.measured} in {k:,} characters" if self.in_characters else f"{self.measured} at {k:,}"

    @property
    def cut(self) -> str:
        """The cut-off as it stands behind the name, `@10`, or nothing."""
        return self.name[len(self.metric) :]


def columns_of(facts: Facts, protocol: Protocol, primary: Measure, rows: pl.DataFrame) -> tuple[Column, ...]:
    """The primary metric, then the others in the protocol's order."""
    order = {name: place for place, name in enumerate(one.metric for one in protocol.parameters.metrics)}
    found = {tuple(row) for row in rows.select("granularity", "metric", "k").unique().iter_rows()} - {primary}
    rest = sorted(found, key=lambda measure: (order.get(measure[1], len(order)), measure[1], measure[0], measure[2]))
    measures: list[Measure] = [primary, *rest]
    named = [(metric, k) for _, metric, k in measures]
    columns = []
    for granularity, metric, k in measures:
        name = f"{metric}@{k}" if k else metric
        alone = named.count((metric, k)) == 1
        rule = facts.metric_parameters.get(metric)
        columns.append(
            Column(
                measure=(granularity, metric, k),
                name=name if alone else f"{granularity} {name}",
                better=_better(rule),
                micro="ratio" if rule is None else rule.micro,
                of_steps=rule is not None and rule.of_steps,
                declaration=facts.metrics.get(metric),
                in_characters=rule is not None and rule.cut == "budget",
            )
        )
    return tuple(columns)


def _better(rule: MetricParameters | None) -> Literal["higher", "lower", "neither"]:
    return "higher" if rule is None else rule.direction
