"""What a board's systems are called, in tables and in addresses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from report.addresses import run_key
from report.entities import Run
from report.facts import Facts
from report.leaderboard.board import Board, Row
from report.shown import visible


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
