"""Every pair of a board's systems, as table `comparisons` has them, and who beats whom among the first of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import polars as pl

from lake.catalog.unit import ITEM
from lake.verdict import BETTER, EQUIVALENT, INSEPARABLE, TOO_FEW, WORSE
from report.addresses import compare_address
from report.leaderboard.board import Board, Row
from report.shown import fixed

SENTENCES: Mapping[str, str] = {
    BETTER: "{system} beats {reference} by {by}{interval}.",
    WORSE: "{system} scores {by} less than {reference}{interval}.",
    INSEPARABLE: "{system} is not significantly different from {reference}: {delta}; "
    "smallest detectable difference {least}.",
    EQUIVALENT: "{system} and {reference} are equivalent: {delta}.",
    TOO_FEW: "Too few items to compare {system} with {reference}: {delta}.",
}
"""Verdict on a system against another → what is said of any two."""

MOST_SYSTEMS = 20
_MARKS = {BETTER: "better", WORSE: "worse", EQUIVALENT: "equivalent"}

COLUMNS = (
    "a", "b", "delta", "low", "high", "p", "p_adjusted", "wins", "ties", "losses", "smallest_detectable", "verdict",
    "exploratory", "n_items", "n_repos", "unit",
)  # fmt: skip
"""What is told of a pair: the places of its systems on the board, then columns of table `comparisons`."""


def pairs_of(board: Board, run_ids: Sequence[str], value: str) -> pl.DataFrame:
    """The pairs of some runs by a board's primary metric, over one value of its slice: COLUMNS by `b`, then `a`.

    `b` is the run of the two that comes first in the order given; the numbers are of `b` against `a`.
    """
    places = pl.LazyFrame({"run": run_ids, "place": range(len(run_ids))}, {"run": pl.String, "place": pl.Int64})
    return (
        board.compared(value)
        .join(places.rename({"run": "run_a", "place": "a"}), on="run_a")
        .join(places.rename({"run": "run_b", "place": "b"}), on="run_b")
        .filter(pl.col("b") < pl.col("a"))
        .select(COLUMNS)
        .sort("b", "a")
        .collect()
    )


class Cell(NamedTuple):
    """The difference to a system that comes behind, its verdict's CSS class, and the address that compares the two."""

    shown: str
    mark: str
    address: str


class Beats(NamedTuple):
    """Who beats whom: the first MOST_SYSTEMS of `n_systems`, each with a cell per system from the second on."""

    lines: Sequence[tuple[Row, Sequence[Cell | None]]]
    n_systems: int
    is_of_items: bool


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
    return Beats([*lines, (rows[-1], [])], len(board.systems), ITEM in pairs["unit"])
