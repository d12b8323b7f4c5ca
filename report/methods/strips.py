"""An answer to one item as strips: each file with gold, the lines of it that are gold, and those that were returned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from lake.store import Lake
from report.entities import Run
from report.items.answers import spans_by_item
from report.items.roster import Roster
from report.leaderboard.board import Board
from report.shown import plural

MAX_FILES = 3
"""So many files are shown, those with gold."""

_MAX_RANGES = 4

Ranges = Sequence[tuple[int, int]]
"""Lines from 0, half-open, apart from one another and in order."""


@dataclass(frozen=True)
class Strip:
    """A file with gold: how long it is, its gold lines, and those that were returned."""

    path: str
    n_lines: int
    gold: Ranges
    returned: Ranges

    @property
    def lanes(self) -> list[tuple[str, str, str, Ranges]]:
        """What is drawn one below the other: what it is called, its class, in words, its ranges."""
        kinds = (("gold", "gold", self.gold), ("returned", "retriever", self.returned))
        return [(name, kind, _said(ranges), ranges) for name, kind, ranges in kinds]


@dataclass(frozen=True)
class Answer:
    """What a run returned for an item: the first files with gold, and lines counted in all files.

    `n_both` are gold lines that were returned, `n_other_files` files without gold of which some were.
    """

    strips: Sequence[Strip]
    n_gold: int
    n_returned: int
    n_both: int
    n_other_files: int

    @property
    def divisions(self) -> set[str]:
        """Coverage, precision and F1 of these lines, as they are written out."""
        both = self.n_both
        sums = ((both, self.n_gold), (both, self.n_returned), (2 * both, self.n_gold + self.n_returned))
        return {f"{above:,} / {below:,}" for above, below in sums}


class _OneAnswer(Lake):
    """A lake of which the answer of one run to one item alone is seen: the rest is not read."""

    def __init__(self, lake: Lake, run: Run, item_id: str) -> None:
        super().__init__(lake.root)
        self._run, self._item_id = run, item_id

    def scan(self, name: str, **folders: str) -> pl.LazyFrame:
        if name not in {"hits", "run_items"}:
            return super().scan(name, **folders)
        return super().scan(name, **folders, run_id=self._run.run_id).filter(pl.col("item_id") == self._item_id)


def answer_of(lake: Lake, board: Board, run: Run, item_id: str) -> Answer | None:
    """An answer in lines; None where the board's primary metric does not count them, or nobody answered."""
    if board.primary.granularity != "line":
        return None
    roster = Roster(board)
    items = roster.items(lake).filter(pl.col("item_id") == item_id)
    found = spans_by_item(_OneAnswer(lake, run, item_id), roster, items, roster.gold(lake, items)).row(0, named=True)
    answers = dict(zip(found["run"], found["answer"], strict=True))
    number = roster.runs.index(run)
    if number not in answers:
        return None
    lengths = found["lengths"]
    gold, returned = (_by_file(flat, len(lengths)) for flat in (found["gold"], answers[number]))
    both = [(_lines(one), _lines(other)) for one, other in zip(gold, returned, strict=True)]
    strips = [
        Strip(path, lengths[file], gold[file], returned[file])
        for file, path in enumerate(found["files"])
        if gold[file] and lengths[file] > 0
    ]
    return Answer(
        strips=strips[:MAX_FILES],
        n_gold=sum(len(one) for one, _ in both),
        n_returned=sum(len(other) for _, other in both),
        n_both=sum(len(one & other) for one, other in both),
        n_other_files=sum(bool(other) and not one for one, other in both),
    )


def _by_file(flat: Sequence[int], n_files: int) -> list[Ranges]:
    """Ranges of each file, from three numbers a range: file, start, end; those that touch as one."""
    found: list[list[tuple[int, int]]] = [[] for _ in range(n_files)]
    for file, start, end in sorted(zip(flat[::3], flat[1::3], flat[2::3], strict=True)):
        held = found[file]
        if held and start <= held[-1][1]:
            held[-1] = (held[-1][0], max(held[-1][1], end))
        elif start < end:
            held.append((start, end))
    return [*found]


def _lines(ranges: Ranges) -> set[int]:
    return {line for start, end in ranges for line in range(start, end)}


def _said(ranges: Ranges) -> str:
    """Lines as people count them."""
    if not ranges:
        return "no line"
    lines = ", ".join(f"{start + 1:,}–{end:,}" for start, end in ranges[:_MAX_RANGES])
    more = len(ranges) - _MAX_RANGES
    rest = f" and {plural(more, 'range')} more" if more > 0 else ""
    return f"lines {lines}{rest}"
