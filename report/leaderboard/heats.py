"""The primary metric over the values of a slice: systems down, values across."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from report.entities import Protocol
from report.facts import Facts
from report.leaderboard.columns import Measure
from report.leaderboard.rows import Row
from report.parameters import WHOLE
from report.shown import fixed
from report.slices import in_numbers_order, place_of, title_of

HEAT_STEPS = 8

MIN_ITEMS = 5
"""A number over fewer items says little: its cell is hatched."""

Values = tuple[tuple[str, int], ...]
"""A slice's values, each with the items it holds."""


@dataclass(frozen=True)
class Heat:
    """The primary metric, averaged as the protocol does, over the values of one slice."""

    slice: str
    values: Values
    n_values: int
    """How many values the slice has; those with the most items are shown."""
    n_items: int
    """The items of all of them."""
    rows: tuple[tuple[Row, tuple[float | None, ...]], ...]

    @property
    def title(self) -> str:
        """What its items are told apart by, in words."""
        return title_of(self.slice)


def build_heats(
    facts: Facts, protocol: Protocol, mine: pl.DataFrame, primary: Measure, rows: Sequence[Row]
) -> tuple[Heat, ...]:
    """A table per slice with at least two values, the repositories first; of slices that are alike the first.

    Args:
        facts: Where the sizes of slices are.
        protocol: Whose board.
        mine: The aggregates of its runs.
        primary: The metric.
        rows: The systems, in order.
    """
    granularity, metric, k = primary
    of_metric = (pl.col("granularity") == granularity) & (pl.col("metric") == metric) & (pl.col("k") == k)
    shown = pl.col("run_id").is_in([row.run.run_id for row in rows])
    wanted = mine.filter(of_metric, shown, pl.col("slice") != WHOLE)
    tables: dict[object, Heat] = {}
    for name in sorted(wanted["slice"].unique(), key=place_of):
        heat = _heat(facts, protocol, wanted.filter(pl.col("slice") == name), name, rows)
        if len(heat.values) > 1:
            tables.setdefault((heat.values, tuple(numbers for _, numbers in heat.rows)), heat)
    return tuple(tables.values())


def _heat(facts: Facts, protocol: Protocol, part: pl.DataFrame, name: str, rows: Sequence[Row]) -> Heat:
    average = protocol.parameters.primary.aggregate
    sizes = dict(part.group_by("slice_value").agg(pl.col("n").max()).iter_rows())
    values = tuple((value, sizes[value]) for value in in_numbers_order(sizes))
    at = {(run, value): number for run, value, number in part.select("run_id", "slice_value", average).iter_rows()}
    lines = tuple((row, tuple(at.get((row.run.run_id, value)) for value, _ in values)) for row in rows)
    known = [facts.slice_sizes.get((protocol.name, task, name), (0, 0)) for task in {row.run.task for row in rows}]
    n_values, n_items = max(known, default=(0, 0))
    return Heat(name, values, max(n_values, len(values)), n_items, lines)


@dataclass(frozen=True)
class ShadedHeat:
    """A heat as it is shown: each number with its shade, the darker the higher among all that are there."""

    heat: Heat
    least: str
    most: str
    rows: tuple[tuple[Row, tuple[tuple[str, int], ...]], ...]

    def systems(self, most: int) -> list[tuple[Row, tuple[tuple[str, int], ...]]]:
        """The first of the systems, without baselines."""
        return [line for line in self.rows if not line[0].run.baseline][:most]


def shaded(heat: Heat, digits: int) -> ShadedHeat:
    """The shades run from the least to the greatest of the systems' numbers; baselines beyond are as the nearest."""
    lines = [values for row, values in heat.rows if not row.run.baseline] or [values for _, values in heat.rows]
    numbers = [value for values in lines for value in values if value is not None] or [0.0]
    least, most = min(numbers), max(numbers)
    width = (most - least) or 1.0

    def cell(value: float | None) -> tuple[str, int]:
        share = 0.0 if value is None else min(max((value - least) / width, 0.0), 1.0)
        return fixed(value, digits), math.floor(share * HEAT_STEPS + 0.5)

    rows = tuple((row, tuple(map(cell, values))) for row, values in heat.rows)
    return ShadedHeat(heat, fixed(least, digits), fixed(most, digits), rows)
