"""The figures of a leaderboard: scores by system, coverage by step, scores by chunk size.

And for all boards of a benchmark: whether the first two systems keep their order, and scores by pool size.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product
from typing import NamedTuple

import polars as pl

from lake.averages import AVERAGES, Aggregate
from lake.text import counted
from report.charts.figures import LONG, ORACLE_KIND, Curve, Figure, Point, Rows, cut, draw_figure
from report.format import count, score, signed, slug
from report.leaderboard.board import Board, BoardRow, Column
from report.models import ALL_ITEMS, RunRow

SAME = 5e-4
"""Differences up to this size, which no page shows, count as ties."""


class WayToCount(NamedTuple):
    """One way to count (protocol, metric with cut-off, average) and the difference of the two systems in it."""

    protocol: str
    column: str
    average: Aggregate
    delta: float


class WaysToCount:
    """The difference of the `first` and `second` system of a benchmark's first board, in `every` way to count.

    A way to count is a gold rule (one per protocol of the benchmark), a cut-off of its primary metric, and an average.
    Differences are of scores, without intervals; `turned` are the ways in which the second is ahead. The names are
    empty if there are fewer than two systems, the sentence if no way to count has scores of both.
    """

    def __init__(self, boards: Sequence[Board]) -> None:
        runs = [row.run for row in boards[0].systems[:2]] if boards else []
        self.first, self.second = [run.full_name for run in runs] if len(runs) > 1 else ("", "")
        self.every = [way for board in boards if self.first for way in _ways(board, [run.system for run in runs])]
        self.turned = [way for way in self.every if way.delta < -SAME]
        ahead = sum(way.delta > SAME for way in self.every)
        shown = f"{self.first} is ahead of {self.second} in {ahead} of {len(self.every)} ways of scoring"
        self.sentence = f"{shown}, and behind in none." if self.every else ""
        if self.turned:
            worst = min(self.turned, key=lambda way: way.delta)
            reading = f"{worst.protocol}, {worst.column}, {AVERAGES[worst.average].meaning} ({signed(worst.delta)})"
            self.sentence = f"{shown}, and behind in {len(self.turned)}, most under {reading}."


def _ways(board: Board, systems: Sequence[str]) -> list[WayToCount]:
    rows = {row.run.system: row for row in reversed(board.rows)}
    if not rows.keys() >= set(systems):
        return []
    sign, ways = -1 if board.primary.lower_is_better else 1, []
    of_primary = [column for column in board.columns if column.measure[:2] == board.primary.measure[:2]]
    for column, average in product(of_primary, AVERAGES):
        ahead, behind = (rows[system].value(column, average) for system in systems)
        if ahead is not None and behind is not None:
            ways.append(WayToCount(board.protocol.short, column.title, average, sign * (ahead - behind)))
    return ways


_POOLS: Mapping[str, str] = {
    "chunking-v1": "function_level", "scale-1-v1": "with-1", "scale-4-v1": "with-4", "scale-16-v1": "with-16",
}  # fmt: skip
"""Protocol → prefix of its pools' ids after the benchmark's name; the smallest pools first."""


class PoolSizes:
    """Scores by pool size, for systems run over at least two of the pools; `figure` is None if there are none.

    `sizes` are the mean numbers of files per pool; `lines` are runs with a score per size, None where not run.
    """

    def __init__(self, boards: Sequence[Board]) -> None:
        by_protocol = {board.protocol.short: board for board in boards if board.rows}
        self.boards = [by_protocol[name] for name in _POOLS if name in by_protocol]
        self.figure: Figure | None = None
        if len(self.boards) < 2 or "chunking-v1" not in by_protocol:
            return
        name, n_files = boards[0].benchmark.name, pl.col("n_files").mean().fill_null(0)
        pools = boards[0].facts.lake.read("pools", benchmark=name)
        begins = [f"{name}/{_POOLS[board.protocol.short]}/" for board in self.boards]
        of_board = (pools.filter(pl.col("pool_id").str.starts_with(each)) for each in begins)
        self.sizes = [float(each.select(n_files).item() or 0) for each in of_board]
        runs = {row.run.system: row.run for board in self.boards for row in board.rows}
        numbers = [{row.run.system: row.number for row in board.rows} for board in self.boards]
        each = [(run, [of_board.get(system) for of_board in numbers]) for system, run in runs.items()]
        self.lines = [(run, values) for run, values in each if sum(value is not None for value in values) > 1]
        curves, names = [], labels_of([run for run, _ in self.lines])
        for run, values in self.lines:
            points = [(size, value) for size, value in zip(self.sizes, values, strict=True) if value is not None]
            places, known = zip(*points, strict=True)
            curves.append(Curve(names[run.run_id], known, run.drawn, places, run.system))
        rows = [
            (curve.system, curve.kind, *at) for curve in curves for at in zip(curve.places, curve.values, strict=True)
        ]
        if curves:
            title, columns = self.boards[0].primary.title, ("system", "kind", "files", "value")
            axes, heading = ("Files searched", title), f"{title} by the size of the pool"
            self.figure = line_figure(self.boards[0], "pools", heading, axes, curves, columns, rows)


MAX_CURVES = 8
"""Maximum number of curves in a picture: more could not be told apart. The table has them all."""

NUMBER = ("value", "low", "high")

_SIZED = re.compile(r"(.*[^\d-])-(\d+)")
_BUDGET = 8_000
"""The budget of line F1 shown if the board's primary metric depends on how files are cut into chunks."""


def figure_of(
    board: Board, name: str, title: str, function: str, what: Sequence[object], columns: Sequence[str], rows: Rows
) -> Figure:
    """A figure of a board, made by :func:`draw_figure`; `name` must be unique on the board."""
    path = f"{slug(board.benchmark.name)}/{slug(board.protocol.short)}-{name}"
    part = "" if board.slice[0] == ALL_ITEMS else f", {board.slice[1]}"
    population = f"{board.benchmark.title}, {board.protocol.short}{part}, {counted(board.n_items, 'item')}"
    return draw_figure(path, title, population, function, what, columns, rows)


def labels_of(runs: Sequence[RunRow]) -> dict[str, str]:
    """Run id → label in a picture; the chunker is added if several runs have the same name."""
    names = Counter(run.short_name for run in runs)
    return {
        run.run_id: f"{cut(run.short_name, LONG - 1 - len(run.chunker))} {run.chunker}"
        if names[run.short_name] > 1 and run.chunker
        else run.short_name
        for run in runs
    }


def line_figure(
    board: Board, name: str, title: str, axes: tuple[str, str], curves: Sequence[Curve],
    columns: Sequence[str], rows: Rows,
) -> Figure:  # fmt: skip
    """A figure of the first MAX_CURVES curves; `axes` are the titles of x and y."""
    drawn = curves[:MAX_CURVES]
    ends = "; ".join(
        f"{curve.label} {score(curve.values[0])} at {count(curve.places[0])} to {score(curve.values[-1])} "
        f"at {count(curve.places[-1])}"
        for curve in drawn
    )
    described = f"Line chart: {title}, of {counted(len(drawn), 'line')}: {ends}."
    return figure_of(board, name, title, "plots.line_chart", (drawn, axes, described), columns, rows)


def score_picture(board: Board) -> Figure | None:
    """The figure of the primary metric per system, grouped by retriever, best first; None without scores."""
    rows = [row for row in board.rows if row.number is not None]
    if not rows:
        return None
    by_group: dict[str, list[tuple[BoardRow, Point]]] = {}
    for row in rows:
        group = row.run.short_name
        point = Point(group, row.run.by, row.run.drawn, row.number or 0.0, *row.interval)
        by_group.setdefault(group, []).append((row, point))
    ordered = [pair for pairs in by_group.values() for pair in pairs]
    described = (
        f"Dot chart: {board.primary.name}, {board.averaging}, of {len(rows)} systems on {board.benchmark.title} under "
        f"{board.protocol.short}, from {score(rows[0].number)} ({rows[0].run.full_name}) to {score(rows[-1].number)} "
        f"({rows[-1].run.full_name}). The table below holds every number."
    )
    title = f"{board.primary.title}, {board.averaging}"
    what, columns = ([point for _, point in ordered], title, described), ("system", "kind", *NUMBER, "n")
    numbers = [(row.run.system, point.kind, point.value, point.low, point.high, row.n) for row, point in ordered]
    return figure_of(board, f"scores-{board.average}", title, "plots.score_chart", what, columns, numbers)


class Steps:
    """Coverage by step at the primary metric's granularity: a figure of the best systems' curves, and all `rows`.

    `without` names the systems that have no steps, such as the random baseline, a mean over many orders.
    """

    def __init__(self, board: Board) -> None:
        self.granularity, self.at = board.primary.granularity, (1, 2, 3, 5, 10, 15, 20)
        mine = board.facts.steps.filter(protocol=board.protocol.name, granularity=self.granularity)
        curves: Mapping[object, tuple[list[float], int]] = {
            run_id: (group["coverage"].to_list(), group["n"][0]) for (run_id,), group in mine.group_by("run_id")
        }
        self.rows = [(row, *curves[row.run.run_id]) for row in board.every if row.run.run_id in curves]
        self.without = [row.run.full_name for row in board.rows if row.run.run_id not in curves]
        drawn = _drawn([row for row, _, _ in self.rows if row.comparable])
        names = labels_of([row.run for row in drawn])
        lines = [
            Curve(names[run.run_id], curves[run.run_id][0], run.drawn, system=run.system)
            for run in (row.run for row in drawn)
        ]
        numbers = [
            (row.run.system, row.run.drawn, step, value, n)
            for row, coverage, n in self.rows
            for step, value in enumerate(coverage, 1)
        ]
        of = f"{self.granularity} coverage".capitalize()
        titles, columns = ("Step", of), ("system", "kind", "step", "coverage", "n")
        title = f"{of} of all that was seen, by step"
        self.figure = line_figure(board, "steps", title, titles, lines, columns, numbers) if lines else None


def _drawn(rows: Sequence[BoardRow]) -> list[BoardRow]:
    """At most MAX_CURVES rows, in the given order: the best of every kind, then the best of all others."""
    first = {row.run.drawn: row for row in reversed(rows)}.values()
    others = (row for row in rows if row not in first and not row.run.baseline)
    chosen = [*first, *others][:MAX_CURVES]
    return [row for row in rows if row in chosen]


class SizedLine:
    """A family of chunkers with one retriever; `at`: size in the chunker's name → mean chunk size measured, score."""

    def __init__(self, family: str, run: RunRow) -> None:
        self.family, self.run, self.name = family, run, f"{run.short_name} {family}"
        self.at: dict[int, tuple[float, float]] = {}


class ChunkSizes:
    """Scores by chunk size, a line per family of chunkers and retriever; `n_drawn` (oracles, then the best) are drawn.

    `figure` is None if no family was run in three sizes, or if every metric depends on how files are cut.
    """

    def __init__(self, board: Board) -> None:
        f1s = [column for column in board.columns if column.metric == "line_f1"]
        is_neutral = board.primary.granularity == "line"
        near = min(f1s, key=lambda column: abs(column.k - _BUDGET), default=None)
        self.column = board.primary if is_neutral else near
        self.lines = _lines(board, self.column) if self.column else []
        self.sizes = sorted({size for line in self.lines for size in line.at})
        self.figure: Figure | None = None
        systems = [line for line in self.lines if not line.run.baseline]
        if not self.column or not systems:
            return
        best = {line: max(value for _, value in line.at.values()) for line in systems}
        systems.sort(key=best.__getitem__, reverse=not self.column.lower_is_better)
        oracles = [line for line in self.lines if line.run.drawn == ORACLE_KIND]
        chosen = [*oracles, *systems][:MAX_CURVES]
        self.n_drawn = len(chosen)
        curves = []
        for line in self.lines:
            if line in chosen:
                places, values = zip(*sorted(line.at.values()), strict=True)
                curves.append(Curve(line.name, values, line.run.drawn, places))
        numbers = [(line.name, line.run.drawn, size, *at) for line in self.lines for size, at in line.at.items()]
        columns = ("chunkers and retriever", "kind", "size", "characters", "value")
        axes = ("Non-whitespace characters per chunk", self.column.title)
        title = f"{self.column.title} by the size of chunks"
        self.figure = line_figure(board, "sizes", title, axes, curves, columns, numbers)


def _lines(board: Board, column: Column) -> list[SizedLine]:
    """The lines of families with at least three sizes, by name; a size not measured is taken from the name."""
    lines: dict[tuple[str, str, bool], SizedLine] = {}
    for row in board.rows:
        run, value = row.run, row.value(column)
        sized, chunks = _SIZED.fullmatch(run.chunker or ""), board.facts.chunks_of(run)
        if sized and value is not None:
            line = lines.setdefault((sized[1], run.retriever or "", run.baseline), SizedLine(sized[1], run))
            line.at[int(sized[2])] = ((chunks.mean_size if chunks else 0) or float(sized[2]), value)
    return [line for _, line in sorted(lines.items(), key=lambda pair: pair[0]) if len(line.at) > 2]
