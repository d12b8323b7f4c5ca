"""What was expected of the results beside what came out, from table `comparisons` alone.

The pairs are declared before any number is known, so each is judged by its own 95 % interval; the verdict of the board,
which is adjusted for all pairs that there are, stands beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

import polars as pl

from lake.catalog.expectations import EXPECTATIONS, Expectation
from lake.verdict import EQUIVALENT, mirrored
from report.entities import Run
from report.facts import Facts
from report.leaderboard.board import AVERAGES, Board, build_board
from report.shown import MISSING, score, signed

AGREES, DISAGREES, UNTOLD, NOT_RUN = "agrees", "disagrees", "cannot be told", "not run"


@dataclass(frozen=True)
class Outcome:
    """A pair of systems of which one is expected to be better.

    Attributes:
        measured: By what: protocol, metric, average, items.
        better: The run that is expected to be better; None where it was not run.
        worse: The other, likewise.
        names: What the two are called.
        values: Their numbers.
        difference: How far the first is above the second.
        interval: The 95 % interval of that; empty where there is none.
        status: agrees, disagrees, cannot be told, not run.
        why: What the status follows from.
    """

    measured: str
    better: Run | None
    worse: Run | None
    names: tuple[str, str]
    values: tuple[str, str]
    difference: str
    interval: str
    status: str
    why: str


def outcomes(facts: Facts) -> list[tuple[Expectation, list[Outcome]]]:
    """Each expectation of the benchmarks in the lake, with the pairs that show whether it came so."""
    known = {name for name, one in facts.protocols.items() if one.benchmark in facts.benchmarks}
    return [
        (one, [outcome for name in names for outcome in _outcomes(facts, one, name)])
        for one in EXPECTATIONS
        if (names := [name for name in one.protocols if name in known])
    ]


def _outcomes(facts: Facts, expectation: Expectation, protocol: str) -> Iterator[Outcome]:
    board = build_board(facts, facts.protocols[protocol])
    runs = {(run.chunker, run.retriever): run for run in (row.run for row in board.rows) if not run.baseline}
    is_chunker = expectation.part == "chunker"
    for better, worse in pairwise(expectation.order):
        others = sorted({str(pair[is_chunker]) for pair in runs if pair[not is_chunker] in (better, worse)})
        keys = [[(name, other) if is_chunker else (other, name) for name in (better, worse)] for other in others]
        both = [pair for pair in keys if all(key in runs for key in pair)]
        for first, second in both:
            yield _compared(facts, board, runs[first], runs[second])
        if not both:
            missing = [name for name in (better, worse) if not any(name in pair for pair in runs)]
            why = f"no run of {' and '.join(missing or [better])} in this lake"
            yield Outcome(_measured(board), None, None, (better, worse), (MISSING, MISSING), MISSING, "", NOT_RUN, why)


def _compared(facts: Facts, board: Board, better: Run, worse: Run) -> Outcome:
    of_board = facts.comparisons.lazy().filter(
        pl.col("protocol") == board.protocol.name,
        pl.col("slice") == board.slice[0],
        pl.col("slice_value") == board.slice[1],
    )
    pair = pl.concat([of_board, mirrored(of_board)]).filter(run_a=worse.run_id, run_b=better.run_id).collect()
    values = {row.run.run_id: score(row.value(board.primary, board.average)) for row in board.rows}
    difference, interval, status, why = MISSING, "", UNTOLD, "too few items or repositories"
    if pair.height and pair["verdict"][0] is not None:
        row = pair.row(0, named=True)
        interval = "" if row["low"] is None else f"{signed(row['low'])} to {signed(row['high'])}"
        difference = signed(row["delta"])
        status, why = _status(row), f"on the board: {row['verdict']}"
    numbers = (values[better.run_id], values[worse.run_id])
    return Outcome(
        _measured(board), better, worse, (better.system, worse.system), numbers, difference, interval, status, why
    )


def _status(row: Mapping[str, float | str | None]) -> str:
    if row["verdict"] == EQUIVALENT:
        return DISAGREES
    low, high = row["low"], row["high"]
    if not isinstance(low, float) or not isinstance(high, float):
        return UNTOLD
    return AGREES if low > 0 else DISAGREES if high < 0 else UNTOLD


def _measured(board: Board) -> str:
    average = AVERAGES[board.average][1]
    return f"{board.protocol.short}: {board.primary.title}, {average}, {board.n_items:,} items"
