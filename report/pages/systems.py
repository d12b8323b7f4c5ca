"""System: what one system is, its number on every benchmark with its interval, by slice, and where the gold went."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from report.board import AVERAGES, Board, build_board
from report.entities import Declaration, Run
from report.facts import Facts
from report.gold_ledger import Share, shares_of
from report.parameters import WHOLE
from report.publisher import Material, Page, Publisher
from report.rows import Cell, Row
from report.shown import score, slug
from report.slices import in_numbers_order, place_of, title_of


@dataclass(frozen=True)
class Number:
    """A system's number over one slice of the items.

    Attributes:
        slice: What the slice's items are alike in, in words.
        value: Of which value.
        shown: The number.
        interval: Its 95 % interval, or a dash.
        median: The median of the board's systems there, baselines left out.
        n: Over how many items.
    """

    slice: str
    value: str
    shown: str
    interval: str
    median: str
    n: int


@dataclass(frozen=True)
class Part:
    """What a system did under one protocol.

    Attributes:
        board: The protocol's leaderboard.
        row: The system's line on it.
        average: How its numbers are averaged, in words.
        place: Its rank with the places it may have, or why it has none.
        numbers: Its primary number over every slice.
        ledger: Where the gold went.
    """

    board: Board
    row: Row
    average: str
    place: str
    numbers: Sequence[Number]
    ledger: Sequence[Share]


def _pages(material: Material) -> Iterator[Page]:
    facts = material.facts
    boards = [build_board(facts, protocol) for name in facts.benchmarks for protocol in facts.boards(name)]
    by_system: dict[str, list[tuple[Board, Row]]] = {run.system: [] for run in facts.runs}
    for board in boards:
        for row in (*board.rows, *board.unranked):
            by_system[row.run.system].append((board, row))
    for system, lines in by_system.items():
        runs = [run for run in facts.runs if run.system == system]
        values = {
            "system": system,
            "runs": runs,
            "parts_of_system": [_part(facts, board, row) for board, row in lines],
            "paths": {name: f"{slug(name)}.html" for name in facts.benchmarks},
            "declared": [each for each in _declared(facts, runs[0]) if each is not None],
        }
        yield Page(facts.system_paths[system], system, "system.html", values)


def _declared(facts: Facts, run: Run) -> list[Declaration | None]:
    """The chunker and the retriever."""
    return [facts.chunkers.get(run.chunker or ""), facts.retrievers.get(run.retriever or "")]


def _part(facts: Facts, board: Board, row: Row) -> Part:
    return Part(
        board=board,
        row=row,
        average=AVERAGES[board.average][1],
        place=_place(row),
        numbers=_numbers(facts, board, row),
        ledger=shares_of(facts, board).get(row.run.run_id, ()),
    )


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


def _numbers(facts: Facts, board: Board, row: Row) -> list[Number]:
    """The primary number of a system over each slice, the whole first, beside the median of the board's systems."""
    granularity, metric, k = board.primary.measure
    systems = [one.run.run_id for one in board.rows if not one.run.baseline]
    mine = facts.aggregates.filter(
        pl.col("protocol") == board.protocol.name,
        pl.col("granularity") == granularity,
        pl.col("metric") == metric,
        pl.col("k") == k,
        pl.col("run_id").is_in([*systems, row.run.run_id]),
    )
    where = ["slice", "slice_value"]
    medians = mine.filter(pl.col("run_id").is_in(systems)).group_by(where).agg(pl.col(board.average).median())
    median_of = {(slice_, value): median for slice_, value, median in medians.iter_rows()}
    fields = list(Cell.__dataclass_fields__)
    own = {
        (found["slice"], found["slice_value"]): Cell(**{field: found[field] for field in fields})
        for found in mine.filter(pl.col("run_id") == row.run.run_id).iter_rows(named=True)
    }
    numbers = []
    for slice_ in sorted({slice_ for slice_, _ in own}, key=lambda name: (name != WHOLE, place_of(name))):
        for value in in_numbers_order(value for name, value in own if name == slice_):
            cell = own[slice_, value]
            low, high = cell.interval(board.average)
            interval = f"{score(low)} to {score(high)}" if low is not None and high is not None else score(None)
            shown, median = score(cell.average(board.average)), score(median_of.get((slice_, value)))
            numbers.append(Number(title_of(slice_), value, shown, interval, median, cell.n))
    return numbers


SYSTEMS = Publisher(
    name="systems",
    order=90,
    meaning="A page per system: what it is, its numbers with intervals, by slice, and where the gold went.",
    entries=lambda _: [],
    pages=_pages,
)
