"""Whether the order of the first two systems depends on how one counts: on the gold rule, the cut-off, the average."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lake.averages import AVERAGES, Aggregate
from report.format import fixed
from report.leaderboard.board import Board

SAME = 5e-4
"""A smaller difference, which no page shows, turns nothing round."""


class WayToCount(NamedTuple):
    """A protocol's primary metric at one of its cut-offs, averaged one way, and the difference of the two systems."""

    protocol: str
    column: str
    average: Aggregate
    delta: float

    @property
    def shown(self) -> str:
        """The difference as a page shows it."""
        return fixed(self.delta, 3, sign=True)

    @property
    def named(self) -> str:
        """The reading in words."""
        return f"{self.protocol}, {self.column}, {AVERAGES[self.average].meaning}"


class WaysToCount:
    """The first system of a benchmark's first board against the second, under every reading that both are scored by.

    A reading is a gold rule (one per protocol of the benchmark), a cut-off of its primary metric, and an average. The
    difference is of means, without an interval: it says which of the two is ahead, not whether surely.

    Attributes:
        first: The system that leads by the headline's own reading; empty where there are not two.
        second: The one behind it.
        every: The readings, in the boards' order.
        turned: Those by which the second is ahead.
    """

    def __init__(self, boards: Sequence[Board]) -> None:
        runs = [row.run for row in boards[0].systems[:2]] if boards else []
        self.first, self.second = [run.full_name for run in runs] if len(runs) > 1 else ("", "")
        self.every = [reading for board in boards for reading in _readings(board, [run.system for run in runs])]
        self.turned = [reading for reading in self.every if reading.delta < -SAME]

    @property
    def sentence(self) -> str:
        """In how many readings the first is ahead, and in how many behind; empty where there is nothing to say."""
        if not self.every:
            return ""
        ahead = sum(reading.delta > SAME for reading in self.every)
        shown = f"{self.first} is ahead of {self.second} in {ahead} of {len(self.every)} ways to count"
        if not self.turned:
            return f"{shown}, and behind in none."
        worst = min(self.turned, key=lambda reading: reading.delta)
        return f"{shown}, and behind in {len(self.turned)}: most by {worst.named} ({worst.shown})."


def _readings(board: Board, systems: Sequence[str]) -> list[WayToCount]:
    rows = {row.run.system: row for row in reversed(board.rows)}
    if len(systems) < 2 or not rows.keys() >= set(systems):  # the first and the second
        return []
    sign = -1 if board.primary.lower_is_better else 1
    readings = []
    for column in board.columns:
        if (column.granularity, column.metric) != (board.primary.granularity, board.primary.metric):
            continue
        for average in AVERAGES:
            ahead, behind = (rows[system].value(column, average) for system in systems)
            if ahead is not None and behind is not None:
                readings.append(WayToCount(board.protocol.short, column.title, average, sign * (ahead - behind)))
    return readings
