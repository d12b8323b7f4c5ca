"""Overview: the answer per benchmark with its interval, where the gold went, and every system on every benchmark."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from report.addresses import ledger_address
from report.charts.figures import Figure, files_of
from report.charts.kinds import kind_of
from report.entities import Benchmark, Run
from report.facts import Facts
from report.leaderboard.board import AVERAGES, Board, build_board
from report.leaderboard.columns import Column
from report.leaderboard.frontiers import Frontier, by_characters
from report.leaderboard.gold_ledger import ledger_of
from report.leaderboard.pictures import NUMBER, figure_of
from report.leaderboard.rows import Row
from report.leaderboard.verdicts import board_verdict, sentence, short_name
from report.publisher import Entry, Material, Page, Publisher
from report.shown import score, slug

PATH = "index.html"
QUESTION = "Does searching find the code that is needed?"

LEVELS = ("line", "file")
"""What an agent is held against a retriever by, where a benchmark counts both."""

FOREST_SYSTEMS = 3
"""So many systems stand in a card's picture beside the baselines, each retriever once."""


@dataclass(frozen=True)
class Card:
    """A benchmark at a glance; without a board where it has no protocol yet.

    Attributes:
        benchmark: Which.
        path: Its page.
        n_systems: How many systems were run on it, baselines left out.
        board: Its headline's leaderboard.
        average: How the primary metric is averaged.
        verdict: The sentence on its first system.
        forest: The systems that matter with their intervals.
    """

    benchmark: Benchmark
    path: str
    n_systems: int
    board: Board | None
    average: str
    verdict: str
    forest: Figure | None


def _pages(material: Material) -> Iterator[Page]:
    facts = material.facts
    cards = [_card(facts, name) for name in facts.benchmarks]
    ledgers = [found for card in cards if card.board and (found := ledger_of(facts, card.board, card.path))]
    # Of a benchmark with agents most can be told: what they saw and did not keep.
    ledgers.sort(key=lambda one: not any(name == "seen" for name, _ in one.classes))
    values = {
        "cards": cards,
        "ledgers": ledgers,
        "reading": _reading(facts, [card.board for card in cards if card.board]),
        "matrix": _matrix(facts, cards),
        "ledger_address": ledger_address,
    }
    said = " ".join(f"{card.benchmark.title}: {card.verdict}" for card in cards if card.verdict)
    # The pictures of what reading more is worth are the leaderboards'.
    files = files_of(card.forest for card in cards)
    yield Page(PATH, QUESTION, "overview.html", values, said=said, files=files)


def _reading(facts: Facts, boards: list[Board]) -> list[Frontier]:
    """How much of the gold lines reading more gets, per benchmark that counts lines; those with agents first."""
    boards.sort(key=lambda board: not any(row.run.has_steps for row in board.rows))
    found = [one for board in boards for one in by_characters(facts, board)]
    return [one for one in found if one.column.metric == "line_coverage"] or found[:1]


def _card(facts: Facts, name: str) -> Card:
    protocols = facts.boards(name)
    board = build_board(facts, protocols[0]) if protocols else None
    systems = {run.system for run in facts.runs_of(name) if not run.baseline}
    verdict = board_verdict(facts, board) if board and (board.rows or board.unranked) else None
    return Card(
        benchmark=facts.benchmarks[name],
        path=f"{slug(name)}.html",
        n_systems=len(systems),
        board=board,
        average=AVERAGES[board.average][1] if board else "",
        verdict=sentence(facts, verdict) if verdict else "",
        forest=_forest(facts, board, verdict.reference) if board and verdict else None,
    )


def _forest(facts: Facts, board: Board, reference: str) -> Figure | None:
    """The systems that matter with their intervals: the best agent beside the reference, or the first of each."""
    shown = _by_level(facts, board, reference) or _first_of_each(facts, board)
    if not shown:
        return None
    from report.charts.scores import Point, forest_chart

    points = []
    for name, row, column in shown:
        low, high = row.cells[column.measure].interval(board.average)
        points.append(Point("", name, kind_of(row.run), row.value(column, board.average) or 0.0, low, high))
    measures = list(dict.fromkeys(column.title for _, _, column in shown))
    title = f"{' and '.join(measures)}, {AVERAGES[board.average][1]}, with 95 % intervals"
    said = "; ".join(f"{point.label} {score(point.value)}" for point in points)
    numbers = [
        (row.run.system, column.title, point.kind, point.value, point.low, point.high)
        for point, (_, row, column) in zip(points, shown, strict=True)
    ]
    picture = forest_chart(points, f"{title}: {said}.")
    return figure_of(board, "forest", title, picture, ("system", "metric", "kind", *NUMBER), numbers)


def _by_level(facts: Facts, board: Board, reference: str) -> list[tuple[str, Row, Column]]:
    """The reference and the agent that is best, by lines and by files; nothing where either is counted of none."""
    shown = []
    for level in LEVELS:
        wanted = (level, board.primary.quantity, board.primary.measure[2])
        column = next((one for one in board.columns if (one.granularity, one.quantity, one.measure[2]) == wanted), None)
        known = [row for row in board.rows if column and row.value(column, board.average) is not None]
        beside = next((row for row in known if row.run.run_id == reference), None)
        agents = [row for row in known if row.run.has_steps]
        if column is None or beside is None or not agents:
            return []
        best = max(agents, key=lambda row: row.cells[column.measure].average(board.average) or 0.0)
        named = ((short_name(facts, beside.run), beside), ("best agent", best))
        shown += [(f"{name}, {level}s", row, column) for name, row in named]
    return shown


def _first_of_each(facts: Facts, board: Board) -> list[tuple[str, Row, Column]]:
    """Every baseline and the first systems, each retriever once, over the chunks on which it does best."""
    first: dict[str, Row] = {}
    for row in board.rows:
        if row.value(board.primary, board.average) is not None:
            first.setdefault(short_name(facts, row.run), row)
    systems = [name for name, row in first.items() if not row.run.baseline][:FOREST_SYSTEMS]
    return [(name, row, board.primary) for name, row in first.items() if row.run.baseline or name in systems]


def _matrix(facts: Facts, cards: list[Card]) -> list[tuple[Run, list[tuple[str, str, bool]]]]:
    """System, and per benchmark: the number or what stands for it, a remark, and whether it is the best."""
    systems: dict[str, Run] = {}
    by_system: list[dict[str, Row]] = []
    for card in cards:
        rows: dict[str, Row] = {}
        for row in (*card.board.rows, *card.board.unranked) if card.board else ():
            systems.setdefault(row.run.system, row.run)
            # The first is the best of several: whole runs come before limited ones.
            rows.setdefault(row.run.system, row)
        by_system.append(rows)
    for run in facts.runs:
        systems.setdefault(run.system, run)
    scored = set(facts.aggregates["run_id"])
    lines = []
    for system, run in systems.items():
        cells = []
        for card, rows in zip(cards, by_system, strict=True):
            runs = [one for one in facts.runs_of(card.benchmark.name) if one.system == system]
            cells.append(_cell(card.board, rows.get(system), _elsewhere(runs, scored)))
        lines.append((run, cells))
    return lines


def _elsewhere(runs: list[Run], scored: set[str]) -> str:
    """What stands for a system that the headline protocol has no row of."""
    if any(run.run_id in scored for run in runs):
        return "other protocol"
    return runs[0].status if runs else "not run"


def _cell(board: Board | None, row: Row | None, elsewhere: str) -> tuple[str, str, bool]:
    if board is None or row is None:
        return (elsewhere, "", False)
    value = row.value(board.primary, board.average)
    if value is None:
        return (row.state or "no score", "", False)
    shown = score(value)
    best = not row.run.baseline and not row.state and shown == board.best(board.primary, board.average)
    return (shown, row.state, best)


PUBLISHER = Publisher(
    name="overview",
    order=0,
    meaning="The answer per benchmark with its interval, where the gold went, every system on every benchmark.",
    entries=lambda _: [Entry("Overview", PATH)],
    pages=_pages,
)
