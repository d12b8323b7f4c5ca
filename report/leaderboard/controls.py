"""What a leaderboard's view can be switched by: metric, cut-off, what is counted, average, kind of system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from report.leaderboard.board import AVERAGES, Board
from report.leaderboard.columns import Column

_LEVELS = ("line", "file", "symbol", "span")
"""What metrics count, in the order in which a switch has them; others follow as they come."""


@dataclass(frozen=True)
class Controls:
    """The choices of a board.

    Attributes:
        metrics: A column of each metric, whatever its cut-off.
        levels: What they count, where that can be switched: value and words.
        cut_title: What its cut-offs are.
        cuts: Every cut-off of any metric: value and words.
        averages: The ways of averaging.
        kinds: Kinds of systems, baselines aside.
    """

    metrics: Sequence[Column]
    levels: Sequence[tuple[str, str]]
    cut_title: str
    cuts: Sequence[tuple[str, str]]
    averages: Sequence[tuple[str, str]]
    kinds: Sequence[str]


def controls_of(board: Board) -> Controls:
    """The choices that a board has."""
    metrics = list({column.metric: column for column in reversed(board.columns)}.values())[::-1]
    levels = dict.fromkeys((*_LEVELS, *board.granularities)) if board.granularities else {}
    cuts = sorted({column.measure[2] for column in board.columns if column.measure[2]})
    both = {column.metric for column in board.columns if column.measure[2]}
    whole = [("", "final")] if any(not column.measure[2] and column.metric in both for column in board.columns) else []
    rows = [row for row in (*board.rows, *board.unranked) if not row.run.baseline]
    budgets = {column.measure[2] for column in board.columns if column.in_characters}
    return Controls(
        metrics=metrics,
        levels=[(name, name) for name in levels if name in board.granularities],
        cut_title="Budget" if budgets == set(cuts) else "Cut-off" if budgets else "Results",
        cuts=whole
        + [(str(cut), f"{cut // 1000}k" if cut in budgets and cut % 1000 == 0 else str(cut)) for cut in cuts],
        averages=[(name, words) for name, (words, _) in AVERAGES.items()],
        kinds=sorted({row.run.kind for row in rows}),
    )
