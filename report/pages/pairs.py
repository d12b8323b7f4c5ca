"""Pairs: every two systems of a board and what the test says of them, for those who read without scripts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lake.verdict import BETTER, EQUIVALENT, INSEPARABLE, TOO_FEW, WORSE
from report.addresses import compare_address, pairs_path
from report.entities import Run
from report.facts import Facts
from report.leaderboard.board import AVERAGES, Board, build_board
from report.leaderboard.pairs import pairs_of
from report.publisher import Material, Page, Publisher
from report.shown import MISSING, plural, score

MOST_OPEN = 400
"""Of more pairs each system's are folded."""

_SUMMED = {
    BETTER: "better than {}",
    WORSE: "worse than {}",
    INSEPARABLE: "cannot be told from {}",
    EQUIVALENT: "equivalent to {}",
    TOO_FEW: "too few items to tell it from {}",
}


@dataclass(frozen=True)
class Pair:
    """Two systems, as they are shown.

    Attributes:
        run: The one that everything is said of.
        other: The one that it is held against.
        address: Where they are compared.
        delta: How far the first is above the other.
        interval: The 95 % interval of that.
        p: Adjusted for all pairs that are tested together, or of an exploratory pair that of it alone.
        is_exploratory: The pair is outside those that are tested together.
        verdict: On the first.
        counts: Items on which it is better, like the other, and worse.
        least: The smallest difference that would be found.
        n: Over how many items.
    """

    run: Run
    other: Run
    address: str
    delta: str
    interval: str
    p: str
    is_exploratory: bool
    verdict: str
    counts: tuple[int | None, int | None, int | None]
    least: str
    n: int


@dataclass(frozen=True)
class Group:
    """The pairs of a system with those that come behind it on the leaderboard, and the verdicts on it in words."""

    run: Run
    pairs: Sequence[Pair]

    @property
    def summed(self) -> str:
        """How many verdicts of each kind."""
        counts = Counter(pair.verdict for pair in self.pairs)
        return ", ".join(words.format(counts[verdict]) for verdict, words in _SUMMED.items() if counts[verdict])


def _pages(material: Material) -> Iterator[Page]:
    facts = material.facts
    for name, benchmark in facts.benchmarks.items():
        boards = [build_board(facts, protocol) for protocol in facts.boards(name)]
        shorts = [board.protocol.short for board in boards]
        paths = {short: pairs_path(name, short if place else "") for place, short in enumerate(shorts)}
        for board in boards:
            pairs = _pairs(facts, board)
            values = {
                "benchmark": benchmark,
                "board": board,
                "average": AVERAGES[board.average][1],
                "answer": _answer([pair for pair in pairs if not pair.is_exploratory]),
                "tested": _groups(pair for pair in pairs if not pair.is_exploratory),
                "others": _groups(pair for pair in pairs if pair.is_exploratory),
                "is_open": len(pairs) <= MOST_OPEN,
                "boards": paths,
                "benchmarks": {other.title: pairs_path(one) for one, other in facts.benchmarks.items()},
            }
            title = f"Pairs: {benchmark.title}, {board.protocol.short}"
            yield Page(paths[board.protocol.short], title, "pairs.html", values, said=str(values["answer"]))


def _answer(tested: Sequence[Pair]) -> str:
    """How many of the pairs that are tested together are told apart."""
    if not tested:
        return "No two systems are tested against one another here."
    counts = Counter(pair.verdict for pair in tested)
    if counts[TOO_FEW] == len(tested):
        return f"Too few items or repositories to tell any of {plural(len(tested), 'pair')} of systems apart."
    apart = counts[BETTER] + counts[WORSE]
    equal = f", {counts[EQUIVALENT]:,} are equivalent" if counts[EQUIVALENT] else ""
    return f"Of {plural(len(tested), 'pair')} of systems that are tested together {apart:,} are told apart{equal}."


def _groups(pairs: Iterator[Pair]) -> list[Group]:
    by_run: dict[str, list[Pair]] = {}
    for pair in pairs:
        by_run.setdefault(pair.run.run_id, []).append(pair)
    return [Group(mine[0].run, mine) for mine in by_run.values()]


def _pairs(facts: Facts, board: Board) -> list[Pair]:
    runs = [row.run for row in (*board.rows, *board.unranked)]
    found = pairs_of(facts, board, [run.run_id for run in runs], board.slice[1])
    return [_pair(board, runs[row["b"]], runs[row["a"]], row) for row in found.iter_rows(named=True)]


def _pair(board: Board, run: Run, other: Run, row: Mapping[str, float | None]) -> Pair:
    return Pair(
        run=run,
        other=other,
        address=compare_address(board.protocol.name, [other.run_id, run.run_id]),
        delta=_signed(row["delta"]),
        interval=MISSING if row["low"] is None else f"{_signed(row['low'])} to {_signed(row['high'])}",
        p=score(row["p"] if row["p_adjusted"] is None else row["p_adjusted"]),
        is_exploratory=bool(row["exploratory"]),
        verdict=str(row["verdict"] or MISSING),
        counts=(_whole(row["wins"]), _whole(row["ties"]), _whole(row["losses"])),
        least=score(row["smallest_detectable"]),
        n=int(row["n_items"] or 0),
    )


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)


def _signed(value: float | None) -> str:
    """With its sign, unless all that is shown is zero."""
    if value is None:
        return MISSING
    shown = f"{value:+.3f}".replace("-", "−")
    return shown if shown.strip("+−0.") else shown[1:]


PAIRS = Publisher(
    name="pairs",
    order=61,
    meaning="Every two systems of a benchmark with difference, interval and verdict, read without scripts.",
    entries=lambda _: [],
    pages=_pages,
)
