"""Results compared with other implementations' (a table by `python -m tests.parity`), and with prior expectations."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple

import polars as pl

from lake.averages import ITEM, ITEM_NOTE
from lake.verdict import BETTER, EQUIVALENT, IN_WORDS, WORSE
from report.leaderboard.board import BoardRow, build_board
from report.tables_read import TablesRead

AGREES, DISAGREES, UNTOLD, NOT_RUN = "agrees", "disagrees", "cannot tell", "not run"
_STATUS = {BETTER: AGREES, WORSE: DISAGREES, EQUIVALENT: DISAGREES}
"""Verdict on the system expected to be better → status of the expectation; UNTOLD for any other verdict."""


@dataclass(frozen=True)
class Expectation:
    """An order of chunkers or retrievers (`part`), the best first, expected before any result was known."""

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


def outcomes(facts: TablesRead) -> list[tuple[Expectation, list[dict[str, Any]]]]:
    """The expectations on benchmarks of the lake, by whose rules they are scored, with the pairs that test them.

    A pair has its `names`, the one expected to be better first, and its `rows` and comparison (`pair`) if it was run.
    """
    by_rule: dict[str, list[str]] = {}
    for name, protocol in facts.protocols.items():
        if protocol.benchmark in facts.benchmarks:
            rule = f"{facts.benchmarks[protocol.benchmark].kind}@{name.partition('@')[2]}"
            by_rule.setdefault(rule, []).append(name)
    return [
        (expectation, [outcome for name in names for outcome in _outcomes(facts, expectation, name)])
        for expectation in EXPECTATIONS
        if (names := [name for rule in expectation.protocols for name in by_rule.get(rule, ())])
    ]


def _outcomes(facts: TablesRead, expectation: Expectation, protocol: str) -> Iterator[dict[str, Any]]:
    board = build_board(facts, facts.protocols[protocol])
    over = f"{board.averaging}, {board.n_items:,} items"
    measured = f"{board.benchmark.title}, {board.protocol.short}: {board.primary.title}, {over}"
    # Name in the expected order → the part that both systems of a pair share → row.
    rows: dict[str, dict[str, BoardRow]] = {}
    for row in board.systems:
        chunker, retriever = str(row.run.chunker), str(row.run.retriever)
        ordered, shared = (chunker, retriever) if expectation.part == "chunker" else (retriever, chunker)
        rows.setdefault(ordered, {})[shared] = row
    for names in pairwise(expectation.order):
        first, second = (rows.get(name, {}) for name in names)
        for shared in sorted(first.keys() & second.keys()):
            better, worse = first[shared], second[shared]
            pair = board.pairs.get((worse.run.run_id, better.run.run_id))
            verdict = pair["verdict"] if pair else None
            note = f", {ITEM_NOTE}" if pair and pair["unit"] == ITEM else ""
            why = f"on the board: {IN_WORDS.get(verdict, verdict)}{note}" if verdict else "too few items"
            systems, status = (better.run.system, worse.run.system), _STATUS.get(verdict or "", UNTOLD)
            outcome = {"measured": measured, "names": systems, "status": status, "why": why}
            yield outcome | {"rows": (better, worse), "pair": pair if verdict else None}
        if not first.keys() & second.keys():
            missing = [name for name in names if name not in rows] or [names[0]]
            why = f"no run of {' and '.join(missing)} in this lake"
            yield {"measured": measured, "names": names, "status": NOT_RUN, "why": why, "rows": (), "pair": None}


PARITY_TABLE = Path(__file__).with_suffix(".csv")


class Parity(NamedTuple):
    """One quantity compared with an outside `reference`; equal means within 1e-12 (relative for values above 1)."""

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
    rows = pl.read_csv(PARITY_TABLE, schema_overrides={"largest_difference": pl.Float64, "explanation": pl.String})
    return [Parity(*row) for row in rows.with_columns(pl.col("explanation").fill_null("")).iter_rows()]
