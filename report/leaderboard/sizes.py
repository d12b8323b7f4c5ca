"""Quality against the size of chunks: families of chunkers that were run in several sizes, each retriever a line."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from report.charts.figures import Figure
from report.charts.kinds import ORACLE
from report.leaderboard.board import Board, Row
from report.leaderboard.columns import Column
from report.leaderboard.pictures import MAX_CURVES, figure_of
from report.shown import count, score

MIN_SIZES = 3
"""Fewer make no line."""

_SIZED = re.compile(r"(.*[^\d-])-(\d+)")
_BUDGET = 8_000
"""Which budget is taken where the board is ordered by a metric that depends on how files are cut."""


@dataclass(frozen=True)
class SizedLine:
    """A family of chunkers with a retriever, or with a baseline.

    Attributes:
        family: The chunkers' name without their size.
        retriever: The retriever's.
        baseline: It is none that searches.
        at: Size in the name → the chunks' size as it was measured, and the number.
    """

    family: str
    retriever: str
    baseline: bool
    at: Mapping[int, tuple[float, float]]

    @property
    def name(self) -> str:
        """What it is called in a picture."""
        return f"{self.family}+{self.retriever}"

    @property
    def drawn(self) -> str:
        """Which of the kinds it is drawn as."""
        return ORACLE if self.retriever == ORACLE else "baseline" if self.baseline else "retriever"


@dataclass(frozen=True)
class Sizes:
    """A board's families of chunkers by size: a metric that does not depend on how files are cut, over every size."""

    column: Column
    figure: Figure
    n_drawn: int
    sizes: Sequence[int]
    lines: Sequence[SizedLine]


def sizes_of(board: Board) -> Sizes | None:
    """The sweep over sizes; None where no family was run in three, or every metric depends on how files are cut."""
    column = _neutral(board)
    lines = _lines(board, column) if column else []
    if column is None or all(line.baseline for line in lines):
        return None
    # Altair takes a third of a second to load: only a build that draws waits for it.
    from report.charts.curves import Curve, size_chart

    drawn = _drawn(lines, lower_is_better=column.better == "lower")
    curves = []
    for line in drawn:
        places, values = zip(*sorted(line.at.values()), strict=True)
        curves.append(Curve(line.name, values, line.drawn, places))
    ends = "; ".join(
        f"{curve.label} {score(curve.values[0])} at {count(curve.places[0])} to {score(curve.values[-1])} "
        f"at {count(curve.places[-1])}"
        for curve in curves
    )
    name = f"Line chart: {column.name} by the mean size of chunks, of {len(curves)} lines: {ends}."
    title = f"{column.title} by the size of chunks"
    numbers = [(line.name, line.drawn, size, *at) for line in lines for size, at in line.at.items()]
    columns = ("chunkers and retriever", "kind", "size", "characters", "value")
    picture = size_chart(curves, ("Non-whitespace characters per chunk", column.title), name)
    figure = figure_of(board, "sizes", title, picture, columns, numbers)
    return Sizes(column, figure, len(drawn), sorted({size for line in lines for size in line.at}), lines)


def _neutral(board: Board) -> Column | None:
    """The primary metric where it counts lines, else the lines' F1 at the budget nearest to the usual one."""
    if board.primary.granularity == "line":
        return board.primary
    found = [column for column in board.columns if column.metric == "line_f1"]
    return min(found, key=lambda column: abs(column.k - _BUDGET), default=None)


def _lines(board: Board, column: Column) -> list[SizedLine]:
    """Every family and retriever with enough sizes, by name."""
    found: dict[tuple[str, str, bool], dict[int, tuple[float, float]]] = {}
    for row in board.rows:
        sized, value = _SIZED.fullmatch(row.run.chunker or ""), row.value(column, board.averaged(column, board.average))
        if sized and value is not None:
            key = (sized[1], row.run.retriever or "", row.run.baseline)
            found.setdefault(key, {})[int(sized[2])] = (_measured(board, row, int(sized[2])), value)
    return [SizedLine(*key, at) for key, at in sorted(found.items()) if len(at) >= MIN_SIZES]


def _measured(board: Board, row: Row, size: int) -> float:
    """The mean size of the chunks; where that is not known, the size in the name."""
    measured = board.facts.chunks_of(row.run)
    return measured.mean_size if measured and measured.mean_size else float(size)


def _drawn(lines: Sequence[SizedLine], *, lower_is_better: bool) -> list[SizedLine]:
    """The oracles, then the best of those that search, in the order of their names."""

    def best(line: SizedLine) -> float:
        return max(value for _, value in line.at.values())

    ranked = sorted((line for line in lines if not line.baseline), key=best, reverse=not lower_is_better)
    chosen = [*(line for line in lines if line.drawn == ORACLE), *ranked][:MAX_CURVES]
    return [line for line in lines if line in chosen]
