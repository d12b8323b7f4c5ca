"""The table that a leaderboard opens with: the primary metric with its interval drawn, and what it is held against."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import polars as pl

from lake.text import group_name
from lake.verdict import mirrored
from report.addresses import run_key
from report.charts.kinds import kind_of
from report.chunk_counts import ChunkCount
from report.facts import Facts
from report.leaderboard.board import Board
from report.leaderboard.rows import Row
from report.shown import count, fixed, measured, share, visible

N_SHOWN = 25
"""So many rows stand in the page; the others are loaded on demand, and are in the plain page."""

COARSE, FINE = 2, 3
_NARROW = 0.04
"""Where the middle one of the intervals is narrower, the third decimal says something."""

_FAR = 2.0
"""A baseline beyond so many times what the systems reach would squeeze their intervals: it is named at the edge."""


class Name(NamedTuple):
    """What a system is called in a table: by what it searches, and over which chunks."""

    name: str
    by: str


@dataclass(frozen=True)
class Bar:
    """An interval on a line, in per cent of its width."""

    kind: str
    start: float
    width: float
    at: float


@dataclass(frozen=True)
class Line:
    """A row as it is shown; texts are empty where there is nothing to say."""

    row: Row
    key: str
    name: Name
    rank: str
    places: str
    tie: str
    value: str
    interval: str
    bar: Bar | None
    delta: str
    delta_interval: str
    oracle: str
    n: str
    n_failed: int
    read: str
    time: str


@dataclass(frozen=True)
class Mark:
    """A baseline as a line through the intervals: where it lies, or at the edge where it is far beyond."""

    name: Name
    value: str
    interval: str
    at: float
    is_beyond: bool


@dataclass(frozen=True)
class MainTable:
    """A board's opening view.

    Attributes:
        lines: The first of the systems that are compared, then of those that are not.
        digits: How many decimals its numbers have.
        n_ranked: How many of them are compared.
        n_systems: How many there are in all.
        marks: The baselines.
        split_groups: Tie groups whose members do not stand together.
    """

    digits: int
    lines: tuple[Line, ...]
    n_ranked: int
    n_systems: int
    marks: tuple[Mark, ...]
    has_ranks: bool
    has_oracle: bool
    has_read: bool
    is_too_few: bool
    split_groups: tuple[str, ...]


def main_table(facts: Facts, board: Board, reference: Row | None) -> MainTable:
    """The opening view: the headline slice, averaged as the protocol does."""
    systems = [row for row in board.rows if not row.run.baseline]
    apart = [row for row in board.unranked if not row.run.baseline]
    shown = [*systems, *apart][:N_SHOWN]
    digits, names, keys = _digits(board, systems), named(facts, board), keys_of(board)
    marked = _marked([row for row in board.rows if row.run.baseline], reference)
    least, most = _scale(board, systems, marked)
    above, read = _above(facts, board, reference), _read(facts, board)

    def at(value: float) -> float:
        return 100 * min(max((value - least) / (most - least), 0.0), 1.0)

    def line(row: Row) -> Line:
        head, run = row.head, row.run
        value = row.value(board.primary, board.average)
        low, high = head.interval(board.average) if head else (None, None)
        delta, delta_low, delta_high = above.get(run.run_id, (None, None, None))
        bar = None
        if value is not None and low is not None and high is not None:
            bar = Bar(kind_of(run), at(low), at(high) - at(low), at(value))
        return Line(
            row=row,
            key=keys[run.run_id],
            name=names[run.run_id],
            rank="" if head is None else count(head.rank) if head.rank is not None else "",
            places=f"{head.rank_low}–{head.rank_high}" if head and head.rank_low is not None else "",
            tie=group_name(head.tie_group).upper() if head and head.tie_group else "",
            value=fixed(value, digits),
            interval=_between(low, high, digits),
            bar=bar,
            delta="reference" if row is reference else fixed(delta, digits, sign=True),
            delta_interval=_between(delta_low, delta_high, digits),
            oracle=share(head.share_of_oracle if head and board.average == "macro" else None),
            n=f"{count(head.n)}/{count(board.n_items)}" if head else fixed(None, digits),
            n_failed=head.n_failed if head else 0,
            read=count(read.get(run.run_id)),
            time=f"{measured(run.cost.query_p50, 1000)} ms" if run.cost and run.cost.query_p50 is not None else "",
        )

    def mark(row: Row) -> Mark:
        value = row.value(board.primary, board.average) or 0.0
        low, high = row.head.interval(board.average) if row.head else (None, None)
        beyond = value > most
        return Mark(names[row.run.run_id], fixed(value, digits), _between(low, high, digits), at(value), beyond)

    heads = [row.head for row in systems if row.head]
    return MainTable(
        digits=digits,
        lines=tuple(map(line, shown)),
        n_ranked=min(len(systems), N_SHOWN),
        n_systems=len(systems) + len(apart),
        marks=tuple(map(mark, marked)),
        has_ranks=any(head.rank is not None for head in heads),
        has_oracle=board.average == "macro" and any(head.share_of_oracle is not None for head in heads),
        has_read=any(row.run.run_id in read for row in systems),
        is_too_few=any(bool(head.too_few) for head in heads),
        split_groups=_split(systems),
    )


def named(facts: Facts, board: Board) -> dict[str, Name]:
    """What each system is called: its retriever's title and its chunker; its own name where that means several."""
    every = [*board.rows, *board.unranked]
    names = {row.run.run_id: _name(facts, row) for row in every}
    given = list(names.values())
    return {
        row.run.run_id: name if given.count(name) == 1 else Name(visible(row.run.system), "")
        for row in every
        for name in [names[row.run.run_id]]
    }


def in_order_of_names(board: Board) -> list[Row]:
    """A board's runs, each at the place that its data has it at."""
    return sorted((*board.rows, *board.unranked), key=lambda row: (row.run.system, row.run.run_id))


def keys_of(board: Board) -> dict[str, str]:
    """What names a run in the board's addresses; its place before it where the digits are those of others too."""
    rows = in_order_of_names(board)
    digits = Counter(run_key(row.run.run_id) for row in rows)
    return {
        row.run.run_id: key if digits[key] == 1 else f"{place}.{key}"
        for place, row in enumerate(rows)
        for key in [run_key(row.run.run_id)]
    }


def position(facts: Facts, row: Row) -> ChunkCount | None:
    """Into how many chunks what it searches is cut."""
    return facts.chunk_counts.get((row.run.task, row.run.chunker or ""))


def _name(facts: Facts, row: Row) -> Name:
    if not (row.run.chunker and row.run.retriever):
        return Name(visible(row.run.system), "")
    known = facts.retrievers.get(row.run.retriever)
    return Name(visible((known.title if known else "") or row.run.retriever), visible(row.run.chunker))


def _digits(board: Board, systems: Sequence[Row]) -> int:
    """How many decimals the intervals warrant."""
    ends = [row.head.interval(board.average) for row in systems if row.head]
    widths = sorted(high - low for low, high in ends if low is not None and high is not None)
    return COARSE if widths and widths[(len(widths) - 1) // 2] >= _NARROW else FINE


def _between(low: float | None, high: float | None, digits: int) -> str:
    return "" if low is None or high is None else f"{fixed(low, digits)} to {fixed(high, digits)}"


def _marked(baselines: Sequence[Row], reference: Row | None) -> list[Row]:
    """Of each baseline the reference itself where it is one, else the best."""
    kept: dict[str, Row] = {}
    for row in baselines:
        kept.setdefault(row.run.retriever or "", row)
        if row is reference:
            kept[row.run.retriever or ""] = row
    return sorted(kept.values(), key=baselines.index)


def _scale(board: Board, systems: Sequence[Row], marked: Sequence[Row]) -> tuple[float, float]:
    """From where to where the intervals are drawn: from 0, and as far as the systems and what is near them reach."""
    values = [value for row in systems if (value := row.value(board.primary, board.average)) is not None]
    ends = [end for row in systems if row.head and (end := row.head.interval(board.average)[1]) is not None]
    reach = max([*values, *ends, 0.0])
    lines = [value for row in marked if (value := row.value(board.primary, board.average)) is not None]
    return 0.0, max([reach, *(value for value in lines if value <= _FAR * reach)]) or 1.0


def _above(facts: Facts, board: Board, reference: Row | None) -> dict[str, tuple[float, float | None, float | None]]:
    """How far each system is above the reference, with the interval of that."""
    if reference is None:
        return {}
    compared = facts.comparisons.lazy().filter(
        pl.col("protocol") == board.protocol.name,
        pl.col("granularity") == board.primary.granularity,
        pl.col("slice") == board.slice[0],
        pl.col("slice_value") == board.slice[1],
    )
    against = pl.concat([compared, mirrored(compared)]).filter(run_a=reference.run.run_id)
    found = {
        run_id: (delta, low, high)
        for run_id, delta, low, high in against.select("run_b", "delta", "low", "high").collect().iter_rows()
    }
    base = reference.value(board.primary, board.average)
    for row in (*board.rows, *board.unranked):
        value = row.value(board.primary, board.average)
        if value is not None and base is not None:
            found.setdefault(row.run.run_id, (value - base, None, None))
    return found


def _read(facts: Facts, board: Board) -> dict[str, int]:
    """The non-whitespace characters that are read of each system down to the primary metric's cut-off."""
    rows = facts.characters.filter(
        protocol=board.protocol.name, k=board.primary.measure[2], slice=board.slice[0], slice_value=board.slice[1]
    )
    return {run_id: round(read) for run_id, read in rows.select("run_id", "read").iter_rows()}


def _split(systems: Sequence[Row]) -> tuple[str, ...]:
    """The tie groups whose members do not follow each other in the order of ranks."""
    ranked = sorted(
        (row.head.rank, row.head.tie_group) for row in systems if row.head and row.head.rank and row.head.tie_group
    )
    groups = [group for _, group in ranked]
    runs = [group for place, group in enumerate(groups) if place == 0 or groups[place - 1] != group]
    return tuple(group_name(group).upper() for group in sorted({group for group in runs if runs.count(group) > 1}))
