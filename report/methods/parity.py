"""The results compared with those of other implementations, and with expectations stated before any result was known.

`python -m tests.parity` writes the table of parity; the tests compare it with what they find. Expectations are judged
by the verdicts of the board, which are adjusted for all pairs: a pair that is not significantly different neither
agrees nor disagrees with an expectation.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Literal, NamedTuple

import polars as pl

from lake.averages import ITEM, ITEM_NOTE
from lake.verdict import BETTER, EQUIVALENT, IN_WORDS, WORSE
from report.format import DASH, between, score, signed
from report.leaderboard.board import Board, build_board
from report.models import RunRow
from report.tables_read import TablesRead

AGREES, DISAGREES, UNTOLD, NOT_RUN = "agrees", "disagrees", "cannot tell", "not run"
_STATUS = {BETTER: AGREES, WORSE: DISAGREES, EQUIVALENT: DISAGREES}
"""Verdict on the system expected to be better → status of the expectation; UNTOLD for any other verdict."""


@dataclass(frozen=True)
class Expectation:
    """An order of chunkers or retrievers (`part`) that was expected before any result was known.

    `order` lists their names, the best first; `how` is the command that runs them.
    """

    name: str
    meaning: str
    source: str
    protocols: Sequence[str]
    part: Literal["chunker", "retriever"]
    order: Sequence[str]
    how: str


EXPECTATIONS: Sequence[Expectation] = (
    Expectation(
        name="syntax-over-fixed",
        meaning="Chunks cut along the syntax tree are retrieved far better than chunks of a fixed size.",
        source="the published table of code-chunk on RepoEval",
        protocols=("repoeval@code-chunk-v1", "repoeval@chunking-v1"),
        part="chunker",
        order=("syntax-1500", "fixed-nws-1500"),
        how='`python -m evaluate --systems "syntax-1500+*,fixed-nws-1500+*"`',
    ),
    Expectation(
        name="dense-over-lexical",
        meaning="UniXcoder ranks candidates better than CodeBERT, and CodeBERT better than BM25.",
        source="the expected order of encoders on RepoBench-R",
        protocols=("repobench-r@official-v1",),
        part="retriever",
        order=("unixcoder", "codebert", "bm25-okapi"),
        how='`python -m evaluate --systems "whole-file+unixcoder,whole-file+codebert"`, with the extra `dense`',
    ),
)


@dataclass(frozen=True)
class ExpectedOutcome:
    """A pair of systems, the one expected to be better first, with the status and the reason for it."""

    measured: str
    names: tuple[str, str]
    status: str
    why: str
    runs: tuple[RunRow | None, RunRow | None] = (None, None)
    values: tuple[str, str] = (DASH, DASH)
    difference: str = DASH
    interval: str = ""


def outcomes(facts: TablesRead) -> list[tuple[Expectation, list[ExpectedOutcome]]]:
    """The expectations on benchmarks in the lake, each with the pairs of systems that test it."""
    known = {name for name, protocol in facts.protocols.items() if protocol.benchmark in facts.benchmarks}
    return [
        (expectation, [outcome for name in names for outcome in _outcomes(facts, expectation, name)])
        for expectation in EXPECTATIONS
        if (names := [name for name in expectation.protocols if name in known])
    ]


def _outcomes(facts: TablesRead, expectation: Expectation, protocol: str) -> Iterator[ExpectedOutcome]:
    board = build_board(facts, facts.protocols[protocol])
    measured = f"{board.protocol.short}: {board.primary.title}, {board.averaging}, {board.n_items:,} items"
    is_chunker = expectation.part == "chunker"
    # Name in the expected order → the part that both systems of a pair share → run.
    runs: dict[str, dict[str, RunRow]] = {}
    for row in board.systems:
        chunker, retriever = str(row.run.chunker), str(row.run.retriever)
        ordered, shared = (chunker, retriever) if is_chunker else (retriever, chunker)
        runs.setdefault(ordered, {})[shared] = row.run
    for better, worse in pairwise(expectation.order):
        first, second = runs.get(better, {}), runs.get(worse, {})
        for shared in sorted(first.keys() & second.keys()):
            yield _compared(board, measured, first[shared], second[shared])
        if not first.keys() & second.keys():
            missing = [name for name in (better, worse) if name not in runs] or [better]
            why = f"no run of {' and '.join(missing)} in this lake"
            yield ExpectedOutcome(measured, (better, worse), NOT_RUN, why)


def _compared(board: Board, measured: str, better: RunRow, worse: RunRow) -> ExpectedOutcome:
    pair = board.compared().filter(run_a=worse.run_id, run_b=better.run_id)
    rows = pair.select("verdict", "delta", "low", "high", "unit").collect().rows()
    verdict, delta, low, high, unit = rows[0] if rows else (None,) * 5
    numbers = {row.run.run_id: score(row.number) for row in board.rows}
    values, names = (numbers[better.run_id], numbers[worse.run_id]), (better.system, worse.system)
    if verdict is None:
        return ExpectedOutcome(measured, names, UNTOLD, "too few items", (better, worse), values)
    why = f"on the board: {IN_WORDS.get(verdict, verdict)}{f', {ITEM_NOTE}' if unit == ITEM else ''}"
    status, interval = _STATUS.get(verdict, UNTOLD), between(low, high, signed)
    return ExpectedOutcome(measured, names, status, why, (better, worse), values, signed(delta), interval)


PARITY_TABLE = Path(__file__).with_suffix(".csv")


class Parity(NamedTuple):
    """One quantity compared with an implementation outside this project, the `reference`.

    `n_equal` of the `n_compared` values are equal to within 1e-12 (relative for values above 1). `explanation` is the
    known reason for differences.
    """

    reference: str
    quantity: str
    benchmark: str
    kind: str
    n_compared: int
    n_equal: int
    largest_difference: float | None
    explanation: str


def parity_rows() -> list[Parity]:
    """The rows of the table of parity, one per quantity compared."""
    kinds = {"n_compared": pl.Int64, "n_equal": pl.Int64, "largest_difference": pl.Float64}
    rows = pl.read_csv(PARITY_TABLE, schema={name: kinds.get(name, pl.String()) for name in Parity._fields})
    texts = pl.col(pl.String).fill_null("")
    return [Parity(*row) for row in rows.with_columns(texts).iter_rows()]
