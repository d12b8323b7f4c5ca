"""What a system did on one board: its numbers by slice beside the median's, and what it is held against."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import polars as pl

from lake.averages import Aggregate
from lake.verdict import EXPLORATORY, IN_WORDS, ITEM, ITEM_NOTE
from report.format import between, signed, two_digits
from report.leaderboard.board import Board, BoardRow
from report.leaderboard.columns import Cell, cells_in
from report.leaderboard.gold_ledger import GoldShare, precisions_of, shares_of
from report.models import ALL_ITEMS, RunRow
from report.slices import in_numbers_order, place_of, title_of
from report.systems.items import PickedItems, items_of, reference_run

LEAST_ITEMS = 5
"""Slices with fewer items are no difference to speak of."""

N_APART = 3


class SliceNumber:
    """A system's number over one slice value of `n` items, and how far it is above the median system, if known."""

    def __init__(self, slice_: str, value: str, cell: Cell, median_: float | None) -> None:
        self.slice, self.value, self.median, self.n = slice_, value, median_, cell.n
        self.number, self.interval = cell.value, cell.interval
        self.apart = None if self.number is None or median_ is None else self.number - median_


@dataclass(frozen=True)
class SystemOnBoard:
    """What a system did under one protocol, beside the median system (`middle`) and the reference (`against`).

    Of the system and of the median one it has where their gold went, and what share of the lines returned is gold.
    """

    board: Board
    row: BoardRow
    numbers: Sequence[SliceNumber]
    ledger: Sequence[GoldShare]
    precision: float | None
    middle: RunRow | None
    middle_ledger: Sequence[GoldShare]
    middle_precision: float | None
    items: PickedItems | None
    against: RunRow | None
    verdict: str

    @property
    def is_middle(self) -> bool:
        """It is itself the system in the middle."""
        return self.middle is not None and self.middle.run_id == self.row.run.run_id

    @property
    def furthest(self) -> tuple[list[SliceNumber], list[SliceNumber]]:
        """The slices on which it is furthest above the median, and below."""
        whole = {number.n for number in self.numbers if not number.slice}
        large = [
            number for number in self.numbers if number.apart and number.n >= LEAST_ITEMS and number.n not in whole
        ]
        ordered = sorted(large, key=lambda number: number.apart or 0.0)
        above = [number for number in ordered[: -N_APART - 1 : -1] if (number.apart or 0.0) > 0]
        return above, [number for number in ordered[:N_APART] if (number.apart or 0.0) < 0]

    @property
    def widest(self) -> float:
        """The largest difference to a median, for bars; 1 where there is none."""
        return max((abs(number.apart) for number in self.numbers if number.apart), default=1.0)


def systems_on(board: Board, rows: Sequence[BoardRow]) -> Iterator[SystemOnBoard]:
    """What the systems of some rows of a board did; the tables are read once for all of them."""
    systems = board.systems
    middle = systems[len(systems) // 2].run if len(systems) > 1 else None
    ledgers, precisions, items = shares_of(board), precisions_of(board), items_of(board)
    verdicts, numbers = _verdicts(board), _numbers(board)

    def gold(run_id: str) -> tuple[Sequence[GoldShare], float | None]:
        return ledgers.get(run_id, ()), precisions.get(run_id)

    of_middle = gold(middle.run_id if middle else "")
    for row in rows:
        run_id, against = row.run.run_id, reference_run(board, row.run)
        verdict = verdicts.get((against.run_id, run_id), "") if against else ""
        own = (numbers[run_id], *gold(run_id))
        yield SystemOnBoard(board, row, *own, middle, *of_middle, items.get(run_id), against, verdict)


def _verdicts(board: Board) -> dict[tuple[str, str], str]:
    """Of pairs of runs: how far the second is above the first, and what is concluded."""
    columns = ("run_a", "run_b", "delta", "low", "high", "verdict", "exploratory", "unit")
    rows = board.compared().filter(pl.col("verdict").is_not_null()).select(columns).collect()
    by_pair = {}
    for first, second, delta, low, high, verdict, exploratory, unit in rows.iter_rows():
        interval = f" ({ends})" if (ends := between(low, high, signed)) else ""
        notes = [f"exploratory: {EXPLORATORY}"] if exploratory else []
        notes += [ITEM_NOTE] if unit == ITEM else []
        after = f" ({'; '.join(notes)})" if notes else ""
        by_pair[first, second] = f"{signed(delta)}{interval}, {IN_WORDS.get(verdict, verdict)}{after}"
    return by_pair


def _numbers(board: Board) -> Mapping[str, list[SliceNumber]]:
    """The primary number of every run over each slice, the whole first, beside the median of the board's systems."""
    mine = board.by_slice
    of_systems = mine.filter(pl.col("run_id").is_in([row.run.run_id for row in board.systems]))
    medians = of_systems.group_by("slice", "slice_value").agg(pl.col("value").median())
    median_of = {(name, value): median for name, value, median in medians.iter_rows()}
    keys = mine.select("run_id", "slice", "slice_value").rows()
    cells = dict(zip(keys, cells_in(mine), strict=True))
    slices = sorted({name for _, name, _ in keys}, key=lambda name: (name != ALL_ITEMS, place_of(name)))
    by_run: dict[str, list[SliceNumber]] = {row.run.run_id: [] for row in board.every}
    for name in slices:
        title = "" if name == ALL_ITEMS else title_of(name)
        for value in in_numbers_order({value for _, of, value in keys if of == name}):
            median = median_of.get((name, value))
            for run_id, numbers in by_run.items():
                if cell := cells.get((run_id, name, value)):
                    numbers.append(SliceNumber(title, value, cell, median))
    return by_run


BREADTH = 1.5
"""Broad: this many times the median's lines for a line of gold, or more; narrow: the median's over this, or less."""

REDUNDANT = 0.1
"""Inefficient: its share of lines that it had seen already is this much above the median, or more."""

LATE = 0.75
"""Late: its AUC-coverage is this share of the median, or less."""


def profile(board: Board, row: BoardRow) -> str:
    """The sentence; empty where the board's metrics say nothing of it."""
    compared = [row for row in board.rows if not row.run.baseline]
    if row.head is None or len(compared) < 2:
        return ""
    parts = [sentence for say in (_breadth, _redundancy, _lateness) if (sentence := say(board, row, compared))]
    return f"{'; '.join(parts)}." if parts else ""


def _breadth(board: Board, row: BoardRow, compared: list[BoardRow]) -> str:
    def returned(row: BoardRow) -> float | None:
        """Lines returned for each line of gold: coverage over precision, both ratios of sums."""
        coverage, precision = (_value(row, metric, board.primary.measure[2]) for metric in ("coverage", "precision"))
        return coverage / precision if coverage and precision else None

    mine, middle = _beside(returned, row, compared)
    if mine is None or not middle:
        return ""
    times = mine / middle
    word = "Broad search" if times >= BREADTH else "Narrow search" if times <= 1 / BREADTH else "Balanced search"
    return f"{word}: {two_digits(mine)} lines returned for each line of gold, {two_digits(middle)} the median system"


def _redundancy(board: Board, row: BoardRow, compared: list[BoardRow]) -> str:
    mine, middle = _beside(lambda row: _value(row, "redundancy", 0), row, compared)
    if mine is None or middle is None:
        return ""
    word = "inefficient" if mine >= middle + REDUNDANT else "efficient" if mine <= middle - REDUNDANT else "usual"
    return f"{word} reading: {mine:.0%} of the lines seen again, {middle:.0%} the median".replace("%", " %")


def _lateness(board: Board, row: BoardRow, compared: list[BoardRow]) -> str:
    mine, middle = _beside(lambda row: _value(row, "auc", 0), row, compared)
    if mine is None or not middle:
        return ""
    word = "late" if mine <= LATE * middle else "early" if mine >= middle / LATE else "neither early nor late"
    return f"{word}: AUC-coverage of lines {mine:.2f}, {middle:.2f} the median"


def _value(row: BoardRow, metric: str, k: int) -> float | None:
    cells = (row.cells.get((("line", f"line_{metric}", k), average)) for average in _POOLED)
    return next((cell.value for cell in cells if cell and cell.value is not None), None)


_POOLED: tuple[Aggregate, Aggregate] = ("micro", "macro")


def _beside(
    of: Callable[[BoardRow], float | None], row: BoardRow, compared: list[BoardRow]
) -> tuple[float | None, float | None]:
    known = [number for row in compared if (number := of(row)) is not None]
    return of(row), median(known) if known else None
