"""What is concluded on a board: the verdict on its first system, in the very words that `evaluate` prints."""

from __future__ import annotations

import polars as pl

from lake.catalog.references import reference_of
from lake.verdict import Verdict, verdict_on
from report.entities import Run
from report.facts import Facts
from report.leaderboard.board import Board

DIGITS = 2
"""So many decimals: intervals are far wider than the next would tell."""


def board_verdict(facts: Facts, board: Board) -> Verdict:
    """The verdict on a board's first system against the reference that its benchmark declares beforehand."""
    lines = [*board.rows, *board.unranked]
    rows = pl.DataFrame(
        {
            "run_id": [row.run.run_id for row in lines],
            "system": [row.run.system for row in lines],
            "retriever": [row.run.retriever for row in lines],
            "number": [row.value(board.primary, board.average) for row in lines],
            "is_baseline": [row.run.baseline for row in lines],
            "is_whole": [row.comparable for row in lines],
        },
        {
            "run_id": pl.String,
            "system": pl.String,
            "retriever": pl.String,
            "number": pl.Float64,
            "is_baseline": pl.Boolean,
            "is_whole": pl.Boolean,
        },
    )
    of_board = facts.comparisons.lazy().filter(
        pl.col("protocol") == board.protocol.name,
        pl.col("slice") == board.slice[0],
        pl.col("slice_value") == board.slice[1],
    )
    return verdict_on(rows, reference_of(board.protocol.name, rows["system"]), of_board)


def sentence(facts: Facts, verdict: Verdict) -> str:
    """The verdict in the names that people know; the chunkers are named where the retrievers' names do not tell."""
    runs = {run.run_id: run for run in facts.runs}
    names = {run_id: short_name(facts, runs[run_id]) for run_id in (verdict.run_id, verdict.reference) if run_id}
    if len(set(names.values())) < len(names):
        names = {run_id: full_name(facts, runs[run_id]) for run_id in names}
    text = verdict.sentence(names.__getitem__, DIGITS).replace("(-", "(−").replace(" -", " −")
    return text[0].upper() + text[1:]


def short_name(facts: Facts, run: Run) -> str:
    """A retriever by its title, whatever it searched; anything else by its system's name."""
    known = facts.retrievers.get(run.retriever or "")
    return (known.title or run.system) if known else run.system


def full_name(facts: Facts, run: Run) -> str:
    """The same with the chunker, where the system has one."""
    return f"{short_name(facts, run)} over {run.chunker}" if run.chunker and run.retriever else run.system
