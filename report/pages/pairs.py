"""Pairs: every two systems of a board and what the test says of them, for those who read without scripts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from report.addresses import compare_address
from report.board import AVERAGES, Board, build_board
from report.entities import Run
from report.facts import Facts
from report.pairs import pairs_of
from report.publisher import Material, Page, Publisher
from report.shown import MISSING, score, slug

MOST_IN_ONE = 400
"""So many pairs stand in one table; of more each system's are folded."""


@dataclass(frozen=True)
class Pair:
    """Two systems, as they are shown.

    Attributes:
        run: The one that everything is said of.
        other: The one that it is held against.
        address: Where they are compared.
        delta: How far the first is above the other.
        interval: The 95 % interval of that.
        p: Adjusted for all pairs that are tested together; in brackets that of the pair alone.
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
    verdict: str
    counts: tuple[int | None, int | None, int | None]
    least: str
    n: int


def pairs_path(board: Board, *, is_first: bool) -> str:
    """Where a board's pairs are listed: those of the first at the benchmark's own address."""
    name = slug(board.benchmark.name)
    return f"pairs/{name}.html" if is_first else f"pairs/{name}-{slug(board.protocol.short)}.html"


def _pages(material: Material) -> Iterator[Page]:
    facts = material.facts
    for name, benchmark in facts.benchmarks.items():
        boards = [build_board(facts, protocol) for protocol in facts.boards(name)]
        paths = {board.protocol.short: pairs_path(board, is_first=not place) for place, board in enumerate(boards)}
        for board in boards:
            pairs = _pairs(facts, board)
            groups: list[tuple[Run | None, Sequence[Pair]]] = [(None, pairs)] if pairs else []
            if len(pairs) > MOST_IN_ONE:
                groups = [
                    (run, [one for one in pairs if one.run is run]) for run in dict.fromkeys(p.run for p in pairs)
                ]
            values = {
                "benchmark": benchmark,
                "board": board,
                "average": AVERAGES[board.average][1],
                "groups": groups,
                "n_pairs": len(pairs),
                "boards": paths,
                "benchmarks": {other.title: f"pairs/{slug(one)}.html" for one, other in facts.benchmarks.items()},
            }
            title = f"Pairs: {benchmark.title}, {board.protocol.short}"
            yield Page(paths[board.protocol.short], title, "pairs.html", values)


def _pairs(facts: Facts, board: Board) -> list[Pair]:
    runs = [row.run for row in (*board.rows, *board.unranked)]
    found = pairs_of(facts, board, [run.run_id for run in runs], board.slice[1])
    return [
        Pair(
            run=runs[row["b"]],
            other=runs[row["a"]],
            address=compare_address(board.protocol.name, [runs[row["a"]].run_id, runs[row["b"]].run_id]),
            delta=_signed(row["delta"]),
            interval=MISSING if row["low"] is None else f"{_signed(row['low'])} to {_signed(row['high'])}",
            p=f"({row['p']:.3f})" if row["p_adjusted"] is None else f"{row['p_adjusted']:.3f}",
            verdict=row["verdict"] or MISSING,
            counts=(row["wins"], row["ties"], row["losses"]),
            least=score(row["smallest_detectable"]),
            n=row["n_items"],
        )
        for row in found.iter_rows(named=True)
    ]


def _signed(value: float) -> str:
    return f"{value:+.3f}".replace("-", "−")


PAIRS = Publisher(
    name="pairs",
    order=61,
    meaning="Every two systems of a benchmark with difference, interval and verdict, read without scripts.",
    entries=lambda _: [],
    pages=_pages,
)
