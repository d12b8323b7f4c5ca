"""The primary metric as shaded grids: systems by the values of a slice, chunkers by retrievers."""

from __future__ import annotations

import math

import polars as pl

from lake.averages import ITEM, REPOSITORY
from lake.verdict import which_matters_more
from report.format import in_numbers_order, place_of, title_of
from report.leaderboard.board import Board
from report.models import ALL_ITEMS

HEAT_STEPS = 8


class Heat:
    """The primary metric over the values of one slice with the most items, each with its number of items.

    The shades run from the least to the greatest of the systems' numbers, which are its `range`.
    """

    def __init__(self, board: Board, name: str, part: pl.DataFrame) -> None:
        self.slice, self.title = name, title_of(name)
        sizes = dict(part.group_by("slice_value").agg(pl.col("n").max()).iter_rows())
        self.values = tuple((value, sizes[value]) for value in in_numbers_order(sizes))
        n_values, self.n_items = board.slice_size(name)
        self.n_values = max(n_values, len(self.values))
        numbers = part.select("run_id", "slice_value", "value").iter_rows()
        at = {(run_id, value): number for run_id, value, number in numbers}
        self.rows = [(row, tuple(at.get((row.run.run_id, value)) for value, _ in self.values)) for row in board.rows]
        lines = [values for row, values in self.rows if not row.run.baseline] or [values for _, values in self.rows]
        known = [value for values in lines for value in values if value is not None] or [0.0]
        self.range = min(known), max(known)

    def shade(self, value: float | None) -> int:
        """The higher the darker; a baseline beyond the systems is as the nearest of them."""
        least, most = self.range
        share = 0.0 if value is None else min(max((value - least) / ((most - least) or 1.0), 0.0), 1.0)
        return math.floor(share * HEAT_STEPS + 0.5)


def heats_of(board: Board) -> list[Heat]:
    """A table per slice with at least two values, the repositories first; of slices that are alike the first."""
    is_compared = pl.col("run_id").is_in([row.run.run_id for row in board.rows])
    mine = board.by_slice.filter(is_compared, pl.col("slice") != ALL_ITEMS)
    heats = [Heat(board, name, mine.filter(slice=name)) for name in sorted(mine["slice"].unique(), key=place_of)]
    alike = {(heat.values, tuple(numbers for _, numbers in heat.rows)): heat for heat in reversed(heats)}
    return [heat for heat in heats if heat in alike.values() and len(heat.values) > 1]


class Choices:
    """The grid of a board's chunkers and retrievers, best rows and columns first.

    `means` has a system's mean by chunker and retriever; one of them is empty for the mean of a row or a column.
    """

    def __init__(self, board: Board, effects: pl.DataFrame) -> None:
        whole = effects.filter(repo="")
        cells = whole.filter(pl.col("mean").is_not_null())
        shares = whole.filter(pl.col("mean").is_null()).select("factor", "share", "low", "high").rows()
        sign = 1 if board.primary.lower_is_better else -1
        self.chunkers, self.retrievers = (
            {row[factor]: row for row in cells.filter(factor=factor).sort(sign * pl.col("mean"), factor).to_dicts()}
            for factor in ("chunker", "retriever")
        )
        means = cells.select("chunker", "retriever", "mean").rows()
        self.means: dict[tuple[str, str], float] = {(chunker, retriever): mean for chunker, retriever, mean in means}
        self.answer = which_matters_more(
            {factor: (share, low, high) for factor, share, low, high in shares},
            sum(bool(chunker and retriever) for chunker, retriever in self.means),
            too_few=any(row.head is not None and bool(row.head.too_few) for row in board.rows),
            unit=ITEM if board.is_of_items else REPOSITORY,
        )
        self.left_out = whole["left_out"].to_list()[0]
        grid = [self.means[chunker, retriever] for chunker in self.chunkers for retriever in self.retrievers]
        self._least, self._range = min(grid), (max(grid) - min(grid)) or 1.0

    def shade(self, chunker: str, retriever: str) -> int:
        """The higher the darker, from the least of the grid to the greatest."""
        return round((self.means[chunker, retriever] - self._least) / self._range * HEAT_STEPS)


def choices_of(board: Board) -> Choices | None:
    """The grid of a board's systems; None where there is none."""
    tasks = {board.protocol.task} if board.protocol.task else {row.run.task for row in board.rows}
    effects = board.facts.effects.filter(pl.col("task").is_in(tasks), **board.where)
    return Choices(board, effects) if effects.filter(repo="")["mean"].count() else None
