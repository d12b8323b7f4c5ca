"""What systems cost beside what they are worth, and which of them no other beats at their price."""

from __future__ import annotations

from dataclasses import dataclass

from report.facts import Facts
from report.leaderboard import frontiers
from report.leaderboard.board import Board
from report.leaderboard.frontiers import Frontier
from report.leaderboard.rows import Row
from report.shown import count, score


@dataclass(frozen=True)
class CostQuality:
    """A board's systems with what they cost.

    Attributes:
        rows: Each system with its number, the characters that are read and those that are returned.
        hardware: Where the times were measured.
        curves: Frontiers by what is read, of the primary metric, where it says something, and of what counts lines.
        by_time: The frontier by the median query.
    """

    rows: tuple[tuple[Row, str, str, str], ...]
    hardware: tuple[str, ...]
    curves: tuple[Frontier, ...]
    by_time: Frontier | None

    def cuts(self, row: Row) -> list[str]:
        """At which cut-offs a system is on the first of the curves."""
        return self.curves[0].cuts(row) if self.curves else []


def cost_quality(facts: Facts, board: Board) -> CostQuality | None:
    """What the systems of a board cost; None where nothing is known of any."""
    where = {"protocol": board.protocol.name, "slice": board.slice[0], "slice_value": board.slice[1]}
    stored = facts.characters.filter(**where).select("run_id", "k", "read", "returned")
    characters = {(run_id, k): (read, returned) for run_id, k, read, returned in stored.iter_rows()}
    every = [*board.rows, *board.unranked]
    rows = []
    for row in every:
        of_row = characters.get((row.run.run_id, board.primary.measure[2]))
        if row.run.cost is not None or of_row is not None:
            read, returned = (None, None) if of_row is None else map(round, of_row)
            rows.append((row, score(row.value(board.primary, board.average)), count(read), count(returned)))
    if not rows:
        return None
    curves = tuple(frontiers.by_characters(facts, board))
    return CostQuality(
        rows=tuple(rows),
        hardware=tuple(sorted({row.run.cost.hardware for row in every if row.run.cost is not None})),
        curves=curves,
        by_time=frontiers.by_time(facts, board),
    )
