"""The table that a leaderboard opens with: the primary metric with its interval drawn, and what it is held against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lake.text import group_name
from report.leaderboard.board import Board, Row

N_SHOWN = 25
"""So many rows stand in the page; the others are loaded on demand, and are in the plain page."""

COARSE, FINE = 2, 3
_NARROW = 0.04
"""Where the middle one of the intervals is narrower, the third decimal says something."""

_FAR = 2.0
"""A baseline beyond so many times what the systems reach would squeeze their intervals: it is named at the edge."""


@dataclass(frozen=True)
class MainTable:
    """A board's opening view: the headline slice, averaged as the protocol does.

    Attributes:
        rows: The first of the systems that are compared, then of those that are not.
        n_ranked: How many of these are compared.
        n_systems: How many systems there are in all.
        digits: How many decimals its numbers have.
        marks: The baselines, each a line through the intervals.
        reach: As far as the intervals are drawn, from 0; a baseline beyond is named at the edge.
        above: Run → how far it is above the reference, and the interval of that.
        read: Run → the characters that are read of it down to the primary metric's cut-off.
    """

    rows: Sequence[Row]
    n_ranked: int
    n_systems: int
    digits: int
    marks: Sequence[Row]
    reach: float
    above: Mapping[str, tuple[float, float | None, float | None]]
    read: Mapping[str, int]
    has_ranks: bool
    has_oracle: bool
    has_read: bool
    is_too_few: bool
    split_groups: Sequence[str]

    def at(self, value: float) -> float:
        """Where a number lies, in per cent of the width."""
        return 100 * min(max(value / self.reach, 0.0), 1.0)


def main_table(board: Board, reference: Row | None) -> MainTable:
    """The opening view; all systems are held against the reference."""
    systems = board.systems
    apart = [row for row in board.unranked if not row.run.baseline]
    heads = [row.head for row in systems if row.head]
    marks = _marks(board, reference)
    read = {run_id: round(read) for (run_id, k), (read, _) in board.characters.items() if k == board.primary.k}
    return MainTable(
        rows=[*systems, *apart][:N_SHOWN],
        n_ranked=min(len(systems), N_SHOWN),
        n_systems=len(systems) + len(apart),
        digits=_digits(systems),
        marks=marks,
        reach=_reach(systems, marks),
        above=_above(board, reference) if reference else {},
        read=read,
        has_ranks=any(head.rank is not None for head in heads),
        has_oracle=board.average == "macro" and any(head.share_of_oracle is not None for head in heads),
        has_read=any(row.run.run_id in read for row in systems),
        is_too_few=any(head.too_few for head in heads),
        split_groups=_split(systems),
    )


def _digits(systems: Sequence[Row]) -> int:
    """How many decimals the intervals warrant."""
    ends = [row.interval for row in systems]
    widths = sorted(high - low for low, high in ends if low is not None and high is not None)
    return COARSE if widths and widths[(len(widths) - 1) // 2] >= _NARROW else FINE


def _marks(board: Board, reference: Row | None) -> list[Row]:
    """Of each baseline the reference itself where it is one, else the best."""
    baselines = [row for row in board.rows if row.run.baseline]
    best = {row.run.retriever: row for row in reversed(baselines)}
    best |= {row.run.retriever: row for row in baselines if row is reference}
    return [row for row in baselines if best[row.run.retriever] is row]


def _reach(systems: Sequence[Row], marks: Sequence[Row]) -> float:
    """As far as the systems and what is near them reach."""
    ends = [end for row in systems for end in (row.number, row.interval[1]) if end is not None]
    reach = max([*ends, 0.0])
    return max([reach, *(row.number for row in marks if row.number is not None and row.number <= _FAR * reach)]) or 1.0


def _above(board: Board, reference: Row) -> dict[str, tuple[float, float | None, float | None]]:
    """As the comparisons have it, without an interval where two were not compared."""
    against = board.compared().filter(run_a=reference.run.run_id).select("run_b", "delta", "low", "high").collect()
    apart = {
        row.run.run_id: (row.number - reference.number, None, None)
        for row in board.every
        if row.number is not None and reference.number is not None
    }
    return {**apart, **{run_id: (delta, low, high) for run_id, delta, low, high in against.iter_rows()}}


def _split(systems: Sequence[Row]) -> list[str]:
    """The tie groups whose members do not follow each other in the order of ranks."""
    ranked = sorted(
        (head.rank, head.tie_group) for row in systems if (head := row.head) and head.rank and head.tie_group
    )
    groups = [group for _, group in ranked]
    runs = [group for place, group in enumerate(groups) if place == 0 or groups[place - 1] != group]
    return [group_name(group).upper() for group in sorted({group for group in runs if runs.count(group) > 1})]
