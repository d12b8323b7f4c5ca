"""Who beats whom: the first systems of a board and its baselines, each against all that come behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from lake.verdict import BETTER, EQUIVALENT, WORSE
from report.addresses import compare_address
from report.leaderboard.board import Board, Row
from report.leaderboard.pairs import pairs_of
from report.shown import fixed

MOST_SYSTEMS = 20

_MARKS = {BETTER: "better", WORSE: "worse", EQUIVALENT: "equivalent"}


class Cell(NamedTuple):
    """How far a system is ahead of another, what is concluded (as the style sheet knows it), where to compare them."""

    shown: str
    mark: str
    address: str


@dataclass(frozen=True)
class Beats:
    """Who beats whom.

    Attributes:
        lines: Each system, best first, with its cells: one per system from the second on, None where it is not ahead.
        n_systems: How many systems the board has; the first MOST_SYSTEMS are here.
    """

    lines: Sequence[tuple[Row, Sequence[Cell | None]]]
    n_systems: int


def beats_of(board: Board) -> Beats | None:
    """The table of a board's first systems and the best of each of its baselines; None where no two were compared."""
    baselines = {row.run.retriever: row for row in reversed(board.rows) if row.run.baseline}.values()
    chosen = {row.run.run_id for row in (*board.systems[:MOST_SYSTEMS], *baselines)}
    rows = [row for row in board.rows if row.run.run_id in chosen]
    ids = [row.run.run_id for row in rows]
    pairs = pairs_of(board, ids, board.slice[1])
    if pairs.is_empty():
        return None
    cells = {
        (b, a): Cell(
            fixed(delta, 2, sign=True), _MARKS.get(verdict, ""), compare_address(board.protocol.name, [ids[b], ids[a]])
        )
        for b, a, delta, verdict in pairs.select("b", "a", "delta", "verdict").iter_rows()
    }
    lines = [(row, [cells.get((place, other)) for other in range(1, len(rows))]) for place, row in enumerate(rows[:-1])]
    return Beats([*lines, (rows[-1], [])], len(board.systems))
