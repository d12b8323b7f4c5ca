"""The primary metric over the values of a slice: systems down, values across."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from report.leaderboard.board import Board, Row
from report.parameters import WHOLE
from report.slices import in_numbers_order, place_of, title_of

HEAT_STEPS = 8


@dataclass(frozen=True)
class Heat:
    """The primary metric, averaged as the protocol does, over the values of one slice.

    Attributes:
        slice: Which.
        values: The values with the most items, each with how many it holds.
        n_values: How many values there are.
        n_items: The items of all of them.
        rows: The systems with their numbers.
    """

    slice: str
    values: tuple[tuple[str, int], ...]
    n_values: int
    n_items: int
    rows: tuple[tuple[Row, tuple[float | None, ...]], ...]

    @property
    def title(self) -> str:
        """What its items are told apart by, in words."""
        return title_of(self.slice)

    @cached_property
    def range(self) -> tuple[float, float]:
        """The least and the greatest of the systems' numbers: the shades run from one to the other."""
        lines = [values for row, values in self.rows if not row.run.baseline] or [values for _, values in self.rows]
        numbers = [value for values in lines for value in values if value is not None] or [0.0]
        return min(numbers), max(numbers)

    def shade(self, value: float | None) -> int:
        """The higher the darker; a baseline beyond the systems is as the nearest of them."""
        least, most = self.range
        share = 0.0 if value is None else min(max((value - least) / ((most - least) or 1.0), 0.0), 1.0)
        return math.floor(share * HEAT_STEPS + 0.5)


def heats_of(board: Board) -> list[Heat]:
    """A table per slice with at least two values, the repositories first; of slices that are alike the first."""
    of_board = pl.col("run_id").is_in([row.run.run_id for row in board.rows]) & (pl.col("slice") != WHOLE)
    mine = board.facts.aggregates.filter(of_board, protocol=board.protocol.name, **board.primary.where)
    tables: dict[object, Heat] = {}
    for name in sorted(mine["slice"].unique(), key=place_of):
        part = mine.filter(slice=name)
        sizes = dict(part.group_by("slice_value").agg(pl.col("n").max()).iter_rows())
        values = tuple((value, sizes[value]) for value in in_numbers_order(sizes))
        found = part.select("run_id", "slice_value", board.average).iter_rows()
        at = {(run_id, value): number for run_id, value, number in found}
        rows = tuple((row, tuple(at.get((row.run.run_id, value)) for value, _ in values)) for row in board.rows)
        n_values, n_items = board.slice_size(name)
        if len(values) > 1:
            heat = Heat(name, values, max(n_values, len(values)), n_items, rows)
            tables.setdefault((values, tuple(numbers for _, numbers in rows)), heat)
    return list(tables.values())
