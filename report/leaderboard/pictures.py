"""The figures of a leaderboard: a mark per system, a curve per trajectory, a line per family of chunkers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from lake.text import counted
from report.charts.curves import Curve, size_chart, step_chart
from report.charts.drawing import Picture
from report.charts.figures import Figure
from report.charts.scores import Point, score_chart
from report.format import count, score, slug
from report.leaderboard.board import Board, BoardRow
from report.leaderboard.columns import Column
from report.models import ALL_ITEMS, ORACLE_KIND, RunRow

MAX_CURVES = 8
"""More in one picture cannot be told apart; the table has them all."""

STEPS_SHOWN = (1, 2, 3, 5, 10, 15, 20)

MIN_SIZES = 3

_SIZED = re.compile(r"(.*[^\d-])-(\d+)")
_BUDGET = 8_000
"""Which budget is taken where the board is ordered by a metric that depends on how files are cut."""

NUMBER = ("value", "low", "high")


def figure_of(
    board: Board,
    what: str,
    title: str,
    picture: Picture,
    columns: Sequence[str],
    rows: Sequence[Sequence[str | float | int | None]],
) -> Figure:
    """A figure of a board; `what` tells it from the board's others."""
    name = f"{slug(board.benchmark.name)}/{slug(board.protocol.short)}-{what}"
    part = "" if board.slice[0] == ALL_ITEMS else f", {board.slice[1]}"
    population = f"{board.benchmark.title}, {board.protocol.short}{part}, {counted(board.n_items, 'item')}"
    return Figure(name, title, population, picture, columns, rows)


def score_picture(board: Board) -> Figure | None:
    """The primary metric per system, the retrievers in the order of their best system."""
    average = board.average
    points = [(row, row.number) for row in board.rows if row.number is not None]
    if not points:
        return None
    by_group: dict[str, list[tuple[BoardRow, Point]]] = {}
    for row, value in points:
        group = row.run.retriever or row.run.system
        point = Point(group, row.run.chunker or "", row.run.drawn, value, *row.interval)
        by_group.setdefault(group, []).append((row, point))
    ordered = [pair for pairs in by_group.values() for pair in pairs]
    (best, top), (worst, bottom) = points[0], points[-1]
    name = (
        f"Dot chart: {board.primary.name}, {board.averaging}, of {len(points)} systems on "
        f"{board.benchmark.title} under {board.protocol.short}, from {score(top)} ({best.run.system}) "
        f"to {score(bottom)} ({worst.run.system}). The table below holds every number."
    )
    title = f"{board.primary.title}, {board.averaging}"
    numbers = [
        (row.run.system, point.kind, point.value, point.low, point.high, row.head.n if row.head else None)
        for row, point in ordered
    ]
    picture = score_chart([point for _, point in ordered], title, name)
    return figure_of(board, f"scores-{average}", title, picture, ("system", "kind", *NUMBER, "n"), numbers)


class Steps:
    """Coverage by step at the primary metric's granularity: the best systems' curves, if any, and each row's coverage.

    Systems `without` steps are left out: chance is a mean over many orders.
    """

    def __init__(self, board: Board) -> None:
        self.granularity, self.at = board.primary.granularity, STEPS_SHOWN
        mine = board.facts.steps.filter(protocol=board.protocol.name, granularity=self.granularity)
        curves: Mapping[object, tuple[list[float], int]] = {
            run_id: (group["coverage"].to_list(), group["n"][0]) for (run_id,), group in mine.group_by("run_id")
        }
        self.rows = [(row, *curves[row.run.run_id]) for row in board.every if row.run.run_id in curves]
        self.without = [row.run.system for row in board.rows if row.run.run_id not in curves]
        drawn = _drawn([row for row, _, _ in self.rows if row.comparable])
        lines = [Curve(row.run.system, curves[row.run.run_id][0], row.run.drawn) for row in drawn]
        self.figure = self._figure(board, lines) if lines else None

    def _figure(self, board: Board, lines: Sequence[Curve]) -> Figure:
        of = f"{self.granularity} coverage"
        ends = "; ".join(f"{curve.label} {score(curve.values[0])} to {score(curve.values[-1])}" for curve in lines)
        name = f"Line chart: mean {of} of all that was seen, by step, of {len(lines)} systems: {ends}."
        numbers = [
            (row.run.system, row.run.drawn, step, value, n)
            for row, coverage, n in self.rows
            for step, value in enumerate(coverage, 1)
        ]
        picture, title = step_chart(lines, of.capitalize(), name), f"{of.capitalize()} of all that was seen, by step"
        return figure_of(board, "steps", title, picture, ("system", "kind", "step", "coverage", "n"), numbers)


def _drawn(rows: Sequence[BoardRow]) -> list[BoardRow]:
    """The best of every kind first, then the best of all, in the table's order."""
    first = {row.run.drawn: row for row in reversed(rows)}.values()
    others = (row for row in rows if row not in first and not row.run.baseline)
    chosen = [*first, *others][:MAX_CURVES]
    return [row for row in rows if row in chosen]


class SizedLine:
    """A family of chunkers with a retriever; `at`: size in the name → the chunks' measured size, and the number."""

    def __init__(self, family: str, run: RunRow) -> None:
        self.family, self.run, self.name = family, run, f"{family}+{run.retriever}"
        self.at: dict[int, tuple[float, float]] = {}


class ChunkSizes:
    """A board's families of chunkers by size, of which `n_drawn` are in the figure.

    There is none where no family was run in three sizes, or every metric depends on how files are cut.
    """

    def __init__(self, board: Board) -> None:
        self.column = _neutral(board)
        self.lines = _lines(board, self.column) if self.column else []
        self.sizes = sorted({size for line in self.lines for size in line.at})
        drawn = _lines_drawn(self.lines, lower_is_better=bool(self.column and self.column.lower_is_better))
        self.n_drawn = len(drawn)
        has_system = any(not line.run.baseline for line in self.lines)
        self.figure = self._figure(board, self.column, drawn) if self.column and has_system else None

    def _figure(self, board: Board, column: Column, drawn: Sequence[SizedLine]) -> Figure:
        curves = []
        for line in drawn:
            places, values = zip(*sorted(line.at.values()), strict=True)
            curves.append(Curve(line.name, values, line.run.drawn, places))
        ends = "; ".join(
            f"{curve.label} {score(curve.values[0])} at {count(curve.places[0])} to {score(curve.values[-1])} "
            f"at {count(curve.places[-1])}"
            for curve in curves
        )
        name = f"Line chart: {column.name} by the mean size of chunks, of {len(curves)} lines: {ends}."
        numbers = [(line.name, line.run.drawn, size, *at) for line in self.lines for size, at in line.at.items()]
        columns = ("chunkers and retriever", "kind", "size", "characters", "value")
        picture = size_chart(curves, ("Non-whitespace characters per chunk", column.title), name)
        return figure_of(board, "sizes", f"{column.title} by the size of chunks", picture, columns, numbers)


def _neutral(board: Board) -> Column | None:
    """The primary metric where it counts lines, else the lines' F1 at the budget nearest to the usual one."""
    if board.primary.granularity == "line":
        return board.primary
    f1s = [column for column in board.columns if column.metric == "line_f1"]
    return min(f1s, key=lambda column: abs(column.k - _BUDGET), default=None)


def _lines(board: Board, column: Column) -> list[SizedLine]:
    """Every family and retriever with enough sizes, by name; without a measured size that of the name."""
    lines: dict[tuple[str, str, bool], SizedLine] = {}
    for row in board.rows:
        run, value = row.run, row.value(column)
        sized, chunks = _SIZED.fullmatch(run.chunker or ""), board.facts.chunks_of(run)
        if sized and value is not None:
            line = lines.setdefault((sized[1], run.retriever or "", run.baseline), SizedLine(sized[1], run))
            size = int(sized[2])
            line.at[size] = ((chunks.mean_size if chunks else 0) or float(size), value)
    return [line for _, line in sorted(lines.items(), key=lambda pair: pair[0]) if len(line.at) >= MIN_SIZES]


def _lines_drawn(lines: Sequence[SizedLine], *, lower_is_better: bool) -> list[SizedLine]:
    """The oracles, then the best of those that search, in the order of their names."""

    def best(line: SizedLine) -> float:
        return max(value for _, value in line.at.values())

    ranked = sorted((line for line in lines if not line.run.baseline), key=best, reverse=not lower_is_better)
    chosen = [*(line for line in lines if line.run.drawn == ORACLE_KIND), *ranked][:MAX_CURVES]
    return [line for line in lines if line in chosen]
