"""Pairs: every two systems of a benchmark with difference, interval and verdict, read without scripts."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from lake.averages import ITEM
from lake.text import counted
from lake.verdict import BETTER, EQUIVALENT, IN_WORDS, TOO_FEW, WORSE
from report.format import pairs_path
from report.leaderboard.verdicts import PAIR_SENTENCES, pairs_among
from report.models import RunRow
from report.publisher import Page, Publisher, SiteMaterial

_Pair = Mapping[str, float | str | None]


def _pages(material: SiteMaterial) -> Iterator[Page]:
    addresses = {benchmark.title: pairs_path(name) for name, benchmark in material.facts.benchmarks.items()}
    for board in (boards[0] for boards in material.boards.values() if boards):
        benchmark, runs = board.benchmark, list(board.runs.values())
        pairs = pairs_among(board, list(board.runs)).rows(named=True)
        tested = [pair for pair in pairs if not pair["exploratory"]]
        answer = _answer(tested)
        values = {
            "benchmark": benchmark,
            "board": board,
            "runs": runs,
            "answer": answer,
            "tested": _groups(runs, tested),
            "others": _groups(runs, [pair for pair in pairs if pair["exploratory"]]),
            # With more pairs, each system's are folded.
            "is_open": len(pairs) <= 400,
            "others_of": addresses,
            "is_of_items": any(pair["unit"] == ITEM for pair in pairs),
        }
        title = f"Pairs: {benchmark.title}, {board.protocol.short}"
        yield Page(pairs_path(benchmark.name), title, "pairs.html", values, answer)


def _answer(tested: Sequence[_Pair]) -> str:
    """A sentence: how many of the pairs that are tested together differ significantly."""
    if not tested:
        return "No two systems are tested against one another here."
    counts, n_pairs = Counter(pair["verdict"] for pair in tested), counted(len(tested), "pair")
    if counts[TOO_FEW] == len(tested):
        return f"Too few items to compare any of {n_pairs} of systems."
    equal = f", {counts[EQUIVALENT]:,} are equivalent" if counts[EQUIVALENT] else ""
    apart = counts[BETTER] + counts[WORSE]
    return f"{apart:,} of {n_pairs} of systems tested together differ significantly{equal}."


def _groups(runs: Sequence[RunRow], pairs: Sequence[_Pair]) -> list[tuple[RunRow, list[_Pair], str]]:
    """(system, its pairs with systems ranked below it, the counts of their verdicts in words), for each system."""
    groups = []
    for number, mine in groupby(pairs, key=lambda pair: pair["b"]):
        of_run = list(mine)
        counts = Counter(pair["verdict"] for pair in of_run)
        summed = ", ".join(
            f"{IN_WORDS.get(verdict, verdict)}: {counts[verdict]}" for verdict in PAIR_SENTENCES if counts[verdict]
        )
        groups.append((runs[int(str(number))], of_run, summed))
    return groups


PAIR_PAGES = Publisher("pairs", 61, __doc__, _pages)
