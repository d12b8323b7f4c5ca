"""Where the gold of a benchmark's headline went, for the systems that matter: shares that add up to all of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from report.addresses import run_key
from report.facts import Facts
from report.leaderboard.board import Board
from report.leaderboard.rows import Row
from report.leaderboard.verdicts import full_name

CLASSES = {
    "found": "found",
    "past_budget": "returned past the budget",
    "seen": "seen, not kept",
    "other_lines": "right file, other lines",
    "not_returned": "file never returned",
    "unreachable": "in nothing that was searched",
    "no_answer": "no answer",
}
"""Class of the ledger → what it is called, in the order in which the bars have them."""

N_RETRIEVERS, N_AGENTS = 2, 3
"""So many of either are shown, the first of the board."""

NARROW = 0.045
"""A share below this is too narrow for its number, which the table beside it has."""


@dataclass(frozen=True)
class Share:
    """One part of a bar."""

    name: str
    title: str
    share: float

    @property
    def percent(self) -> str:
        """To whole per cent; what is not nothing never reads 0."""
        return f"{100 * self.share:.0f} %" if self.share >= 0.005 else "< 1 %"

    @property
    def width(self) -> str:
        """As a style has it."""
        return f"{100 * self.share:.3f}%"

    @property
    def is_narrow(self) -> bool:
        """Whether its number has no room in it."""
        return self.share < NARROW


@dataclass(frozen=True)
class Ledger:
    """The bars of a benchmark.

    Attributes:
        title: The benchmark.
        path: Its page.
        n_items: Over how many items the shares are.
        benchmark: Its name.
        bars: System, what names its run in an address, and its shares, those of nothing left out.
        classes: The classes that any bar has: name, title.
    """

    title: str
    path: str
    benchmark: str
    n_items: int
    bars: Sequence[tuple[str, str, Sequence[Share]]]
    classes: Sequence[tuple[str, str]]


def ledger_of(facts: Facts, board: Board, path: str) -> Ledger | None:
    """The bars of a board's first retrievers and agents; None where the ledger of none is kept."""
    shares = shares_of(facts, board)
    bars = [
        (full_name(facts, row.run), run_key(row.run.run_id), of)
        for row in shown_rows(board)
        if (of := shares.get(row.run.run_id))
    ]
    if not bars:
        return None
    present = {share.name for _, _, parts in bars for share in parts}
    classes = [(name, title) for name, title in CLASSES.items() if name in present]
    return Ledger(board.benchmark.title, path, board.benchmark.name, board.n_items, bars, classes)


def shares_of(facts: Facts, board: Board) -> dict[str, list[Share]]:
    """Where the gold of a board's items went, by run: the classes that hold some of it."""
    mine = facts.ledger.filter(
        pl.col("protocol") == board.protocol.name,
        pl.col("slice") == board.slice[0],
        pl.col("slice_value") == board.slice[1],
        pl.col("micro") > 0,
    )
    return {
        str(run_id): [Share(name, title, of[name]) for name, title in CLASSES.items() if name in of]
        for (run_id,), rows in mine.group_by("run_id", maintain_order=True)
        if (of := dict(rows.select("class", "micro").iter_rows()))
    }


def shown_rows(board: Board) -> list[Row]:
    """The best retrievers, each over the chunks on which it does best, and the best agents."""
    rows = [row for row in (*board.rows, *board.unranked) if not row.run.baseline and not row.run.limit]
    agents = [row for row in rows if row.run.has_steps]
    # Each retriever once, over the chunks on which it does best.
    retrievers = list({row.run.retriever: row for row in reversed(rows) if not row.run.has_steps}.values())[::-1]
    return [*retrievers[:N_RETRIEVERS], *agents[:N_AGENTS]]
