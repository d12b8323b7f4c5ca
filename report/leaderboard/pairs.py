"""Every pair of a board's systems, as table `comparisons` has them, and what is said of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from lake.verdict import BETTER, EQUIVALENT, INSEPARABLE, TOO_FEW, WORSE
from report.leaderboard.board import Board

SENTENCES: Mapping[str, str] = {
    BETTER: "{system} beats {reference} by {by}.",
    WORSE: "{system} is behind {reference} by {by}.",
    INSEPARABLE: "{system} cannot be told from {reference}: {delta}; {least} or more would be found.",
    EQUIVALENT: "{system} and {reference} are equivalent: {delta}.",
    TOO_FEW: "Too few items or repositories to say how {system} does against {reference}: {delta}.",
}
"""Verdict on a system against another → what is said of any two."""

COLUMNS = (
    "a", "b", "delta", "low", "high", "p", "p_adjusted", "wins", "ties", "losses", "smallest_detectable", "verdict",
    "exploratory", "n_items", "n_repos",
)  # fmt: skip
"""What is told of a pair: the places of its systems on the board, then columns of table `comparisons`."""


def pairs_of(board: Board, run_ids: Sequence[str], value: str) -> pl.DataFrame:
    """The pairs of some runs by a board's primary metric, over one value of its slice.

    Of each pair `b` is the run that comes first, and everything is of it against `a`, the other.

    Args:
        board: Whose protocol and slice.
        run_ids: The runs in order: what numbers them.
        value: Of the slice.

    Returns:
        :data:`COLUMNS`, in the order of `b`, then of `a`.
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
