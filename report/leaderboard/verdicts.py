"""What a board's systems are called, and what is concluded of the first, in the very words that `evaluate` prints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

import polars as pl

from lake.catalog.references import reference_of
from lake.verdict import Verdict, verdict_on
from report.addresses import run_key
from report.entities import Run
from report.facts import Facts
from report.leaderboard.board import Board, Row
from report.shown import visible

DIGITS = 2
"""So many decimals a verdict has: intervals are far wider than the next would tell."""


class Name(NamedTuple):
    """What a system is called in a table: by what it searches, and over which chunks."""

    name: str
    by: str


def short_name(facts: Facts, run: Run) -> str:
    """A retriever by its title, whatever it searched; anything else by its system's name."""
    known = facts.retrievers.get(run.retriever or "")
    return (known.title or run.system) if known else run.system


def full_name(facts: Facts, run: Run) -> str:
    """The same with the chunker, where the system has one."""
    return f"{short_name(facts, run)} over {run.chunker}" if run.chunker and run.retriever else run.system


def names_of(board: Board) -> Mapping[str, Name]:
    """By run: its retriever's title and its chunker; the system's own name where that means several."""
    runs = [row.run for row in board.every]
    names = {run.run_id: _name(board.facts, run) for run in runs}
    counts = Counter(names.values())
    return names | {run.run_id: Name(visible(run.system), "") for run in runs if counts[names[run.run_id]] > 1}


def _name(facts: Facts, run: Run) -> Name:
    if not (run.chunker and run.retriever):
        return Name(visible(run.system), "")
    known = facts.retrievers.get(run.retriever)
    return Name(visible((known.title if known else "") or run.retriever), visible(run.chunker))


def in_order_of_names(board: Board) -> list[Row]:
    """A board's runs, each at the place that its data has it at."""
    return sorted(board.every, key=lambda row: (row.run.system, row.run.run_id))


def keys_of(board: Board) -> Mapping[str, str]:
    """What names a run in the board's addresses; its place before it where the digits are those of others too."""
    run_ids = [row.run.run_id for row in in_order_of_names(board)]
    digits = Counter(map(run_key, run_ids))
    return {
        run_id: key if digits[key] == 1 else f"{place}.{key}"
        for place, run_id in enumerate(run_ids)
        for key in [run_key(run_id)]
    }


def board_verdict(board: Board) -> Verdict:
    """The verdict on a board's first system against the reference that its benchmark declares beforehand."""
    texts, flags = ("run_id", "system", "retriever"), ("is_baseline", "is_whole")
    schema = {**dict.fromkeys(texts, pl.String), "number": pl.Float64, **dict.fromkeys(flags, pl.Boolean)}
    lines = [
        (*(getattr(row.run, name) for name in texts), row.number, row.run.baseline, row.comparable)
        for row in board.every
    ]
    rows = pl.DataFrame(lines, schema, orient="row")
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
