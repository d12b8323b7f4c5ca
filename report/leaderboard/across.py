"""A benchmark's boards beside one another: whether the order of the first two holds, and what larger pools do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import NamedTuple

import polars as pl

from lake.averages import AVERAGES, Aggregate
from report.charts.figures import Curve, Figure
from report.format import signed
from report.leaderboard.board import Board
from report.leaderboard.pictures import line_figure

SAME = 5e-4
"""A smaller difference, which no page shows, turns nothing round."""


class WayToCount(NamedTuple):
    """A protocol's primary metric at one of its cut-offs, averaged one way, and the difference of the two systems."""

    protocol: str
    column: str
    average: Aggregate
    delta: float


class WaysToCount:
    """The first system of a benchmark's first board less the `second`, in `every` way to count that both have.

    A way to count is a gold rule (one per protocol of the benchmark), a cut-off of its primary metric, and an average.
    The difference is of means, without an interval; `turned` are those by which the second is ahead. The names are
    empty where there are not two systems, the sentence where there is nothing to say.
    """

    def __init__(self, boards: Sequence[Board]) -> None:
        runs = [row.run for row in boards[0].systems[:2]] if boards else []
        self.first, self.second = [run.full_name for run in runs] if len(runs) > 1 else ("", "")
        self.every = [way for board in boards if self.first for way in _ways(board, [run.system for run in runs])]
        self.turned = [way for way in self.every if way.delta < -SAME]
        ahead = sum(way.delta > SAME for way in self.every)
        shown = f"{self.first} is ahead of {self.second} in {ahead} of {len(self.every)} ways to count"
        self.sentence = f"{shown}, and behind in none." if self.every else ""
        if self.turned:
            worst = min(self.turned, key=lambda way: way.delta)
            reading = f"{worst.protocol}, {worst.column}, {AVERAGES[worst.average].meaning} ({signed(worst.delta)})"
            self.sentence = f"{shown}, and behind in {len(self.turned)}: most by {reading}."


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
"""Protocol, the smallest pools first → how the ids of its pools begin, behind the benchmark's name."""


class PoolSizes:
    """The systems that were run over two of the pools at least; there is no figure where there is none.

    `sizes` are the mean numbers of files searched; `lines` have a number for each, None where a system was not run.
    """

    def __init__(self, boards: Sequence[Board]) -> None:
        by_protocol = {board.protocol.short: board for board in boards if board.rows}
        self.boards = [by_protocol[name] for name in _POOLS if name in by_protocol]
        self.figure: Figure | None = None
        if len(self.boards) < 2 or "chunking-v1" not in by_protocol:
            return
        self.sizes = [_mean_size(board) for board in self.boards]
        runs = {row.run.system: row.run for board in self.boards for row in board.rows}
        numbers = [{row.run.system: row.number for row in board.rows} for board in self.boards]
        each = [(run, [of_board.get(system) for of_board in numbers]) for system, run in runs.items()]
        self.lines = [(run, values) for run, values in each if sum(value is not None for value in values) > 1]
        curves = []
        for run, values in self.lines:
            points = [(size, value) for size, value in zip(self.sizes, values, strict=True) if value is not None]
            places, known = zip(*points, strict=True)
            curves.append(Curve(run.system, known, run.drawn, places))
        rows = [
            (curve.label, curve.kind, *at) for curve in curves for at in zip(curve.places, curve.values, strict=True)
        ]
        if curves:
            title, columns = self.boards[0].primary.title, ("system", "kind", "files", "value")
            axes, heading = ("Files searched", title), f"{title} by the size of the pool"
            self.figure = line_figure(self.boards[0], "pools", heading, axes, curves, columns, rows)


def _mean_size(board: Board) -> float:
    """How many files a pool of a board holds in the mean."""
    name = board.benchmark.name
    begins = f"{name}/{_POOLS[board.protocol.short]}/"
    pools = board.facts.lake.scan("pools").filter(pl.col("pool_id").str.starts_with(begins), benchmark=name)
    return float(pools.select(pl.col("n_files").mean().fill_null(0)).collect().item() or 0)
