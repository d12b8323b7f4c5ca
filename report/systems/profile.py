"""How a system searches, in one computed sentence: how much it returns, what it reads twice, how late it finds gold.

Each is held against the median of the board's systems by a fixed threshold, and said only where the metric exists.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import median

from report.leaderboard.board import Board, Row
from report.leaderboard.columns import Cell
from report.shown import measured

BREADTH = 1.5
"""Broad: this many times the median's lines for a line of gold, or more; narrow: the median's over this, or less."""

REDUNDANT = 0.1
"""Inefficient: its share of lines that it had seen already is this much above the median, or more."""

LATE = 0.75
"""Late: its AUC-coverage is this share of the median, or less."""


def profile(board: Board, row: Row) -> str:
    """The sentence; empty where the board's metrics say nothing of it."""
    compared = [one for one in board.rows if not one.run.baseline]
    if row.head is None or len(compared) < 2:
        return ""
    parts = [said for say in (_breadth, _redundancy, _lateness) if (said := say(board, row, compared))]
    return f"{'; '.join(parts)}." if parts else ""


def _breadth(board: Board, row: Row, compared: list[Row]) -> str:
    def returned(one: Row) -> float | None:
        """Lines returned for each line of gold: coverage over precision, both ratios of sums."""
        coverage, precision = (_value(one, metric, board.primary.measure[2]) for metric in ("coverage", "precision"))
        return coverage / precision if coverage and precision else None

    mine, middle = _beside(returned, row, compared)
    if mine is None or not middle:
        return ""
    times = mine / middle
    word = "Broad search" if times >= BREADTH else "Narrow search" if times <= 1 / BREADTH else "Balanced search"
    return f"{word}: {measured(mine)} lines returned for each line of gold, {measured(middle)} the median system"


def _redundancy(board: Board, row: Row, compared: list[Row]) -> str:
    mine, middle = _beside(lambda one: _value(one, "redundancy", 0), row, compared)
    if mine is None or middle is None:
        return ""
    word = "inefficient" if mine >= middle + REDUNDANT else "efficient" if mine <= middle - REDUNDANT else "usual"
    return f"{word} reading: {mine:.0%} of the lines seen again, {middle:.0%} the median".replace("%", " %")


def _lateness(board: Board, row: Row, compared: list[Row]) -> str:
    mine, middle = _beside(lambda one: _value(one, "auc", 0), row, compared)
    if mine is None or not middle:
        return ""
    word = "late" if mine <= LATE * middle else "early" if mine >= middle / LATE else "neither early nor late"
    return f"{word}: AUC-coverage of lines {mine:.2f}, {middle:.2f} the median"


def _value(row: Row, metric: str, k: int) -> float | None:
    cell: Cell | None = row.cells.get(("line", f"line_{metric}", k))
    return None if cell is None else cell.macro if cell.micro is None else cell.micro


def _beside(of: Callable[[Row], float | None], row: Row, compared: list[Row]) -> tuple[float | None, float | None]:
    """A system's number and the median of those of all."""
    known = [number for one in compared if (number := of(one)) is not None]
    return of(row), median(known) if known else None
