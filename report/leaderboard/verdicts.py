"""What is concluded on a board: the verdict on its first system, in the very words that `evaluate` prints."""

from __future__ import annotations

import polars as pl

from lake.catalog.references import reference_of
from lake.verdict import Verdict, verdict_on
from report.facts import Facts
from report.leaderboard.board import Board
from report.leaderboard.names import full_name, short_name

DIGITS = 2
"""So many decimals: intervals are far wider than the next would tell."""

_ROWS = {
    "run_id": pl.String,
    "system": pl.String,
    "retriever": pl.String,
    "number": pl.Float64,
    "is_baseline": pl.Boolean,
    "is_whole": pl.Boolean,
}


def board_verdict(board: Board) -> Verdict:
    """The verdict on a board's first system against the reference that its benchmark declares beforehand."""
    lines = [
        (row.run.run_id, row.run.system, row.run.retriever, row.number, row.run.baseline, row.comparable)
        for row in board.every
    ]
    rows = pl.DataFrame(lines, _ROWS, orient="row")
    compared = board.facts.comparisons.lazy().filter(**board.where)
    return verdict_on(rows, reference_of(board.protocol.name, rows["system"]), compared)


def sentence(facts: Facts, verdict: Verdict) -> str:
    """The verdict in the names that people know; the chunkers are named where the retrievers' names do not tell."""
    runs = {run.run_id: run for run in facts.runs}
    names = {run_id: short_name(facts, runs[run_id]) for run_id in (verdict.run_id, verdict.reference) if run_id}
    if len(set(names.values())) < len(names):
        names = {run_id: full_name(facts, runs[run_id]) for run_id in names}
    text = verdict.sentence(names.__getitem__, DIGITS).replace("(-", "(−").replace(" -", " −")
    return text[0].upper() + text[1:]
