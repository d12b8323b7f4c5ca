"""A line of a leaderboard: a run's numbers, over how many items they are, and whether they may stand beside others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lake.text import counted
from report.entities import Run
from report.leaderboard.columns import Column, Measure
from report.parameters import Average


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
    n: int
    n_items: int
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

    def interval(self, name: Average) -> tuple[float | None, float | None]:
        """The 95 % interval of that average."""
        micro, by_repo = (self.micro_low, self.micro_high), (self.by_repo_low, self.by_repo_high)
        return {"macro": (self.low, self.high), "micro": micro, "by_repo": by_repo}[name]


@dataclass(frozen=True)
class Row:
    """One run's line.

    Attributes:
        run: Whose.
        cells: Its numbers.
        primary: What it is ranked by.
        n_asked: The items that the primary metric applies to: a mean over fewer is none of theirs.
        n_items: The scorable items of the slice, the same for every run.
    """

    run: Run
    cells: Mapping[Measure, Cell]
    primary: Measure
    n_asked: int
    n_items: int

    @property
    def head(self) -> Cell | None:
        """The primary metric's cell."""
        return self.cells.get(self.primary)

    def value(self, column: Column, average: Average) -> float | None:
        """What stands in a column."""
        cell = self.cells.get(column.measure)
        return None if cell is None else cell.average(average)

    @property
    def comparable(self) -> bool:
        """Whether its numbers may stand beside others: means over the same items."""
        return self.run.comparable and self.head is not None and self.head.n == self.n_asked

    @property
    def state(self) -> str:
        """What keeps it from being compared, in a word or two; empty when nothing does."""
        if self.run.limit is not None:
            return f"limited to {self.run.limit:,}"
        if not self.run.comparable or self.comparable:
            return "" if self.run.comparable else self.run.status
        return f"{self.head.n if self.head else 0:,} of {counted(self.n_items, 'item')}"
