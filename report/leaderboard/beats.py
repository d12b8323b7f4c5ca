"""Who beats whom: the first systems of a board and its baselines, each against all that come behind it."""

from __future__ import annotations

from dataclasses import dataclass

from lake.verdict import BETTER, EQUIVALENT, WORSE
from report.addresses import compare_address
from report.facts import Facts
from report.leaderboard.board import Board
from report.leaderboard.pairs import pairs_of
from report.leaderboard.rows import Row

MOST_SYSTEMS = 20

_MARKS = {BETTER: "better", WORSE: "worse", EQUIVALENT: "equivalent"}


@dataclass(frozen=True)
class Cell:
    """A system against one that comes behind it.

    Attributes:
        shown: How far it is ahead.
        mark: What is concluded, as the style sheet knows it; empty where nothing can be.
        address: Where the two are compared item by item.
    """

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

    lines: tuple[tuple[Row, tuple[Cell | None, ...]], ...]
    n_systems: int


def beats_of(facts: Facts, board: Board) -> Beats | None:
    """The table of a board's first systems and the best of each of its baselines; None where no two were compared."""
    systems = [row for row in board.rows if not row.run.baseline]
    baselines = {row.run.retriever: row for row in reversed(board.rows) if row.run.baseline}.values()
    chosen = {row.run.run_id for row in (*systems[:MOST_SYSTEMS], *baselines)}
    rows = [row for row in board.rows if row.run.run_id in chosen]
    pairs = pairs_of(facts, board, [row.run.run_id for row in rows], board.slice[1])
    if pairs.is_empty():
        return None
    cells = {
        (b, a): _cell(board, rows[b], rows[a], delta, verdict)
        for b, a, delta, verdict in pairs.select("b", "a", "delta", "verdict").iter_rows()
    }
    lines = [
        (row, tuple(cells.get((place, other)) for other in range(1, len(rows)))) for place, row in enumerate(rows[:-1])
    ]
    return Beats((*lines, (rows[-1], ())), len(systems))


def _cell(board: Board, row: Row, other: Row, delta: float, verdict: str) -> Cell:
    shown = f"{delta:+.2f}".replace("-", "−")
    address = compare_address(board.protocol.name, [row.run.run_id, other.run.run_id])
    return Cell(shown, _MARKS.get(verdict, ""), address)
