"""What was expected of the results beside what came out, from table `comparisons` alone.

Each pair is judged by the verdict of the board, which is adjusted for all pairs that there are. What cannot be
separated there agrees with no expectation, and disagrees with none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from lake.verdict import BETTER, EQUIVALENT, IN_WORDS, ITEM, ITEM_NOTE, WORSE
from report.format import DASH, between, score, signed
from report.leaderboard.board import Board, build_board
from report.methods.expectations import EXPECTATIONS, Expectation
from report.models import RunRow
from report.tables_read import TablesRead

AGREES, DISAGREES, UNTOLD, NOT_RUN = "agrees", "disagrees", "cannot tell", "not run"
_STATUS = {BETTER: AGREES, WORSE: DISAGREES, EQUIVALENT: DISAGREES}
"""Verdict on the system that is expected to be better → what becomes of the expectation; else it cannot be told."""


@dataclass(frozen=True)
class ExpectedOutcome:
    """A pair of systems, the one that is expected to be better first, with its status and the reason for it."""

    measured: str
    names: tuple[str, str]
    status: str
    why: str
    runs: tuple[RunRow | None, RunRow | None] = (None, None)
    values: tuple[str, str] = (DASH, DASH)
    difference: str = DASH
    interval: str = ""


def outcomes(facts: TablesRead) -> list[tuple[Expectation, list[ExpectedOutcome]]]:
    """Each expectation of the benchmarks in the lake, with the pairs that show whether it came so."""
    known = {name for name, protocol in facts.protocols.items() if protocol.benchmark in facts.benchmarks}
    return [
        (expectation, [outcome for name in names for outcome in _outcomes(facts, expectation, name)])
        for expectation in EXPECTATIONS
        if (names := [name for name in expectation.protocols if name in known])
    ]


def _outcomes(facts: TablesRead, expectation: Expectation, protocol: str) -> Iterator[ExpectedOutcome]:
    board = build_board(facts, facts.protocols[protocol])
    measured = f"{board.protocol.short}: {board.primary.title}, {board.averaging}, {board.n_items:,} items"
    runs = {(row.run.chunker, row.run.retriever): row.run for row in board.systems}
    is_chunker = expectation.part == "chunker"
    for better, worse in pairwise(expectation.order):
        others = sorted({str(pair[is_chunker]) for pair in runs if pair[not is_chunker] in (better, worse)})
        keys = [[(name, other) if is_chunker else (other, name) for name in (better, worse)] for other in others]
        both = [pair for pair in keys if all(key in runs for key in pair)]
        for first, second in both:
            yield _compared(board, measured, runs[first], runs[second])
        if not both:
            missing = [name for name in (better, worse) if not any(name in pair for pair in runs)]
            why = f"no run of {' and '.join(missing or [better])} in this lake"
            yield ExpectedOutcome(measured, (better, worse), NOT_RUN, why)


def _compared(board: Board, measured: str, better: RunRow, worse: RunRow) -> ExpectedOutcome:
    pair = board.compared().filter(run_a=worse.run_id, run_b=better.run_id)
    rows = pair.select("verdict", "delta", "low", "high", "unit").collect().rows()
    verdict, delta, low, high, unit = rows[0] if rows else (None, None, None, None, None)
    numbers = {row.run.run_id: score(row.number) for row in board.rows}
    if verdict is None:
        status, why, delta = UNTOLD, "too few items", None
    else:
        why = f"on the board: {IN_WORDS.get(verdict, verdict)}{f', {ITEM_NOTE}' if unit == ITEM else ''}"
        status = _STATUS.get(verdict, UNTOLD)
    return ExpectedOutcome(
        measured=measured,
        names=(better.system, worse.system),
        status=status,
        why=why,
        runs=(better, worse),
        values=(numbers[better.run_id], numbers[worse.run_id]),
        difference=signed(delta),
        interval=between(low, high, signed) if verdict else "",
    )
