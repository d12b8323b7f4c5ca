"""How the systems of a benchmark fare the more there is to search: its pools alone, and beside other repositories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from report.charts.curves import Curve, size_chart
from report.charts.figures import Figure
from report.format import count, score
from report.leaderboard.board import Board
from report.leaderboard.pictures import MAX_CURVES, figure_of
from report.models import RunRow

_POOLS: Mapping[str, str] = {
    "chunking-v1": "function_level",
    "scale-1-v1": "with-1",
    "scale-4-v1": "with-4",
    "scale-16-v1": "with-16",
}
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
        self.figure = self._figure(self.lines) if self.lines else None

    def _figure(self, lines: Sequence[tuple[RunRow, Sequence[float | None]]]) -> Figure:
        curves, rows = list[Curve](), list[tuple[str, str, float, float]]()
        for run, values in lines:
            points = [(size, value) for size, value in zip(self.sizes, values, strict=True) if value is not None]
            places, known = zip(*points, strict=True)
            curves.append(Curve(run.system, known, run.drawn, places))
            rows += [(run.system, run.drawn, size, value) for size, value in points]
        title = self.boards[0].primary.title
        ends = "; ".join(
            f"{curve.label} {score(curve.values[0])} of {count(round(curve.places[0]))} files to "
            f"{score(curve.values[-1])} of {count(round(curve.places[-1]))}"
            for curve in curves[:MAX_CURVES]
        )
        name = (
            f"Line chart: {title} by the mean number of files searched, of {len(curves[:MAX_CURVES])} systems: {ends}."
        )
        picture = size_chart(curves[:MAX_CURVES], ("Files searched", title), name)
        columns = ("system", "kind", "files", "value")
        return figure_of(self.boards[0], "pools", f"{title} by the size of the pool", picture, columns, rows)


def _mean_size(board: Board) -> float:
    """How many files a pool of a board holds in the mean."""
    name = board.benchmark.name
    begins = f"{name}/{_POOLS[board.protocol.short]}/"
    pools = board.facts.lake.scan("pools").filter(pl.col("pool_id").str.starts_with(begins), benchmark=name)
    return float(pools.select(pl.col("n_files").mean().fill_null(0)).collect().item() or 0)
