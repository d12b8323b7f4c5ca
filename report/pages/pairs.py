"""Pairs: every two systems of a benchmark with difference, interval and verdict, read without scripts."""

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from lake.text import counted
from lake.verdict import BETTER, EQUIVALENT, IN_WORDS, TOO_FEW, WORSE
from report.format import page_path
from report.leaderboard.board import Board
from report.leaderboard.verdicts import PAIR_SENTENCES
from report.publisher import Page, Publisher, SiteMaterial
from report.tables_read import RunRow


def _pages(material: SiteMaterial) -> Iterator[Page]:
    addresses = {benchmark.title: page_path("pairs", name) for name, benchmark in material.benchmarks.items()}
    for board in (boards[0] for boards in material.written_boards.values() if boards):
        tested, others = (_groups(board, exploratory=flag) for flag in (False, True))
        answer = _answer(sum((counts for _, _, counts in tested), Counter[str]()))
        values = {
            "benchmark": board.benchmark,
            "board": board,
            "answer": answer,
            "tested": tested,
            "others": others,
            "verdicts": {verdict: IN_WORDS.get(verdict, verdict) for verdict in PAIR_SENTENCES},
            # With more pairs, each system's are folded.
            "is_open": sum(len(pairs) for _, pairs, _ in chain(tested, others)) <= 400,
            "others_of": addresses,
        }
        title = f"Pairs: {board.benchmark.title}, {board.protocol.short}"
        yield Page(page_path("pairs", board.benchmark.name), title, "pairs.html", values, answer)


def _groups(
    board: Board, *, exploratory: bool
) -> list[tuple[RunRow, list[tuple[RunRow, Mapping[str, Any]]], Counter[str]]]:
    """A system, its comparisons with those ranked below it, and the number of these with each verdict."""
    groups, runs = [], list(board.runs.values())
    for number, run in enumerate(runs, 1):
        behind = [(other, board.pairs.get((other.run_id, run.run_id))) for other in runs[number:]]
        pairs = [(other, pair) for other, pair in behind if pair and pair["exploratory"] is exploratory]
        if pairs:
            groups.append((run, pairs, Counter(pair["verdict"] for _, pair in pairs)))
    return groups


def _answer(counts: Counter[str]) -> str:
    """A sentence: how many of the pairs that are tested together differ significantly."""
    if not counts:
        return "No two systems are tested against one another here."
    n_pairs = counted(counts.total(), "pair")
    if counts[TOO_FEW] == counts.total():
        return f"Too few items to compare any of {n_pairs} of systems."
    equal = f", {counts[EQUIVALENT]:,} are equivalent" if counts[EQUIVALENT] else ""
    apart = counts[BETTER] + counts[WORSE]
    return f"{apart:,} of {n_pairs} of systems tested together differ significantly{equal}."


PAIR_PAGES = Publisher("pairs", 61, __doc__, _pages)
