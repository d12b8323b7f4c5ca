"""What a system did on one board: its place, its numbers by slice beside the median's, and what it is held against."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from lake.store import Lake
from lake.verdict import mirrored
from report.entities import Run
from report.facts import Facts
from report.leaderboard.board import AVERAGES, Board
from report.leaderboard.gold_ledger import Share, shares_of
from report.leaderboard.rows import Cell, Row
from report.parameters import WHOLE
from report.shown import score, signed
from report.slices import in_numbers_order, place_of, title_of
from report.systems.items import Items, items_of, reference_run
from report.systems.profile import profile

LEAST_ITEMS = 5
"""Slices with fewer items are no difference to speak of."""

N_APART = 3
"""So many slices above the median are named, and as many below."""


@dataclass(frozen=True)
class Number:
    """A system's number over one slice of the items.

    Attributes:
        slice: What the slice's items are alike in, in words; empty for all of them.
        value: Of which value.
        shown: The number.
        interval: Its 95 % interval; empty where there is none.
        median: The median of the board's systems there, baselines left out.
        apart: How far the system is above that; None where one of the two is not known.
        n: Over how many items.
    """

    slice: str
    value: str
    shown: str
    interval: str
    median: str
    apart: float | None
    n: int

    @property
    def difference(self) -> str:
        """How far the system is above the median, as it is shown."""
        return signed(self.apart)


@dataclass(frozen=True)
class Part:
    """What a system did under one protocol.

    Attributes:
        board: The protocol's leaderboard.
        row: The system's line on it.
        average: How its numbers are averaged, in words.
        place: Its rank with the places it may have, or why it has none.
        profile: How it searches, in a sentence; empty where no metric says so.
        numbers: Its primary number over every slice.
        above: The slices on which it is furthest above the median.
        below: Likewise below.
        ledger: Where the gold went.
        middle: The system in the middle of the board; None where it is the system itself or there is no other.
        is_middle: It is that system itself.
        middle_ledger: Where the gold of that went.
        items: Some of its items.
        against: The run that it is held against.
        verdict: The difference to that, with interval and verdict; empty where nothing was compared.
        characters: How many characters are read for the primary number, and returned in all; None where nobody knows.
    """

    board: Board
    row: Row
    average: str
    place: str
    profile: str
    numbers: Sequence[Number]
    above: Sequence[Number]
    below: Sequence[Number]
    ledger: Sequence[Share]
    middle: Run | None
    is_middle: bool
    middle_ledger: Sequence[Share]
    items: Items | None
    against: Run | None
    verdict: str
    characters: tuple[float, float] | None

    @property
    def number(self) -> str:
        """Its primary number."""
        return score(self.row.value(self.board.primary, self.board.average))

    @property
    def interval(self) -> str:
        """The 95 % interval of that; empty where there is none."""
        low, high = self.row.head.interval(self.board.average) if self.row.head else (None, None)
        return f"{score(low)} to {score(high)}" if low is not None and high is not None else ""

    @property
    def widest(self) -> float:
        """The largest difference to a median, for bars; 1 where there is none."""
        return max((abs(one.apart) for one in self.numbers if one.apart), default=0.0) or 1.0


def parts_of(lake: Lake, facts: Facts, board: Board) -> Iterator[tuple[str, Part]]:
    """What each system of a board did: its name, and its part. The tables are read once for all of them."""
    every = (*board.rows, *board.unranked)
    systems = [row for row in board.rows if not row.run.baseline]
    middle = systems[len(systems) // 2].run if len(systems) > 1 else None
    ledgers, items = shares_of(facts, board), items_of(lake, board)
    verdicts, numbers = _verdicts(facts, board), _numbers(facts, board, [row.run.run_id for row in systems])
    where = {"protocol": board.protocol.name, "slice": board.slice[0], "slice_value": board.slice[1]}
    stored = facts.characters.filter(**where, k=board.primary.measure[2]).select("run_id", "read", "returned")
    characters = {run_id: (read, returned) for run_id, read, returned in stored.iter_rows()}
    for row in every:
        run = row.run
        mine = numbers.get(run.run_id, [])
        whole = {one.n for one in mine if not one.slice}
        apart = sorted((one for one in mine if one.apart and one.n >= LEAST_ITEMS and one.n not in whole), key=_apart)
        against = reference_run(board, run)
        other = middle if middle is not None and middle.run_id != run.run_id else None
        yield (
            run.system,
            Part(
                board=board,
                row=row,
                average=AVERAGES[board.average][1],
                place=_place(row),
                profile=profile(board, row),
                numbers=mine,
                above=[one for one in apart[: -N_APART - 1 : -1] if _apart(one) > 0],
                below=[one for one in apart[:N_APART] if _apart(one) < 0],
                ledger=ledgers.get(run.run_id, ()),
                middle=other,
                is_middle=middle is not None and other is None,
                middle_ledger=ledgers.get(other.run_id, ()) if other else (),
                items=items.get(run.run_id),
                against=against,
                verdict=verdicts.get((against.run_id, run.run_id), "") if against else "",
                characters=characters.get(run.run_id),
            ),
        )


def _apart(number: Number) -> float:
    return number.apart or 0.0


def _place(row: Row) -> str:
    if row.run.baseline:
        return "a baseline: not ranked"
    if row.state or row.head is None:
        return f"not ranked: {row.state or 'no score'}"
    if row.head.rank is None:
        return "too few items or repositories to rank"
    if row.head.rank_low == row.head.rank_high:
        return f"rank {row.head.rank}"
    return f"rank {row.head.rank}, may be {row.head.rank_low} to {row.head.rank_high}"


def _verdicts(facts: Facts, board: Board) -> dict[tuple[str, str], str]:
    """Of pairs of runs: how far the second is above the first, and what is concluded."""
    of_board = facts.comparisons.lazy().filter(
        pl.col("protocol") == board.protocol.name,
        pl.col("slice") == board.slice[0],
        pl.col("slice_value") == board.slice[1],
        pl.col("verdict").is_not_null(),
    )
    columns = ("run_a", "run_b", "delta", "low", "high", "verdict", "exploratory")
    rows = pl.concat([of_board, mirrored(of_board)]).select(columns).collect()
    found = {}
    for first, second, delta, low, high, verdict, exploratory in rows.iter_rows():
        interval = "" if low is None else f" ({signed(low)} to {signed(high)})"
        found[first, second] = f"{signed(delta)}{interval}, {verdict}{', exploratory' if exploratory else ''}"
    return found


def _numbers(facts: Facts, board: Board, systems: Sequence[str]) -> Mapping[str, list[Number]]:
    """The primary number of every run over each slice, the whole first, beside the median of the board's systems."""
    granularity, metric, k = board.primary.measure
    runs = [row.run.run_id for row in (*board.rows, *board.unranked)]
    mine = facts.aggregates.filter(
        pl.col("run_id").is_in(runs), protocol=board.protocol.name, granularity=granularity, metric=metric, k=k
    )
    where = ["slice", "slice_value"]
    medians = mine.filter(pl.col("run_id").is_in(systems)).group_by(where).agg(pl.col(board.average).median())
    median_of = {(slice_, value): median for slice_, value, median in medians.iter_rows()}
    cells: dict[str, dict[tuple[str, str], Cell]] = {}
    fields = list(Cell.__dataclass_fields__)
    for found in mine.iter_rows(named=True):
        cell = Cell(**{field: found[field] for field in fields})
        cells.setdefault(found["run_id"], {})[found["slice"], found["slice_value"]] = cell
    order = _in_order({key for of in cells.values() for key in of})
    return {
        run_id: [_number(board, key, of[key], median_of.get(key)) for key in order if key in of]
        for run_id, of in cells.items()
    }


def _in_order(keys: set[tuple[str, str]]) -> list[tuple[str, str]]:
    slices = sorted({slice_ for slice_, _ in keys}, key=lambda name: (name != WHOLE, place_of(name)))
    return [
        (slice_, value)
        for slice_ in slices
        for value in in_numbers_order(value for name, value in keys if name == slice_)
    ]


def _number(board: Board, key: tuple[str, str], cell: Cell, median: float | None) -> Number:
    low, high = cell.interval(board.average)
    value = cell.average(board.average)
    return Number(
        slice="" if key[0] == WHOLE else title_of(key[0]),
        value=key[1],
        shown=score(value),
        interval=f"{score(low)} to {score(high)}" if low is not None and high is not None else "",
        median=score(median),
        apart=None if value is None or median is None else value - median,
        n=cell.n,
    )
