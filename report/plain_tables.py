"""The tables of a board's plain page: every way of averaging, every column and every row, without a script."""

from __future__ import annotations

from collections.abc import Iterator

from lake.catalog.references import unbeaten_baselines
from report.entities import Average
from report.leaderboard.board import AVERAGES, Board, Row
from report.leaderboard.pictures import score_picture
from report.shown import score


class Table:
    """The leaderboard averaged one way, in the order of the primary metric so averaged, held against a reference."""

    def __init__(self, board: Board, average: Average, reference: Row | None) -> None:
        ordered = board.in_order(board.rows, average)
        self.average, self._board, self._reference = average, board, reference
        self.title, self.meaning = AVERAGES[average]
        self.is_sorted = any(row.value(board.primary, average) is not None for row in ordered)
        # The same numbers in the same order, of the protocol's own way of averaging alone.
        self.chart = score_picture(board) if average == board.average else None
        self.ranked = [row for row in ordered if not row.run.baseline]
        self.baselines = [row for row in ordered if row.run.baseline]
        self.unranked = board.in_order(board.unranked, average)
        self.unbeaten = unbeaten(board, average)
        self._best = {column.name: board.best(column, average) for column in board.columns}
        # Metrics that the protocol averages over items here too; whose ratio of sums is that mean; that have no ratio.
        self.means = list(dict.fromkeys(one.metric for one in board.columns if board.averaged(one, average) != average))
        micro = {one.metric: one.micro for one in board.columns if average == "micro" and one.metric not in self.means}
        self.same, self.undefined = ([name for name, rule in micro.items() if rule == one] for one in ("same", "none"))

    def cells(self, row: Row) -> Iterator[tuple[str, bool, int | None]]:
        """What each column shows, whether it is the best of its column, and over how many items it is if not over n."""
        for column in self._board.columns:
            value, cell = row.value(column, self._board.averaged(column, self.average)), row.cells.get(column.measure)
            shown, is_ranked = score(value), row.comparable and not row.run.baseline
            others = cell.n if cell and row.head and value is not None and cell.n != row.head.n else None
            yield shown, is_ranked and cell is not None and shown == self._best[column.name], others

    def above(self, row: Row) -> float | None:
        """How far a row is above the reference, by the primary metric; None where one has a mean over fewer items."""
        if row.head and self._reference and self._reference.head and row.head.n != self._reference.head.n:
            return None
        rows = [one for one in (row, self._reference) if one is not None]
        numbers = [value for one in rows if (value := one.value(self._board.primary, self.average)) is not None]
        return numbers[0] - numbers[1] if len(numbers) == 2 else None


def plain_tables(board: Board, reference: Row | None) -> list[Table]:
    """A board's tables, that of the protocol's own way of averaging first."""
    averages = sorted(AVERAGES, key=lambda average: average != board.average)
    return [Table(board, average, reference) for average in averages]


def unbeaten(board: Board, average: Average) -> list[str]:
    """Why no system is above a baseline, where none is."""
    named = [(row.run.retriever or "", row.run.baseline, row.value(board.primary, average)) for row in board.rows]
    task = board.protocol.task or next((row.run.task for row in board.rows), "")
    return unbeaten_baselines(
        f"{board.benchmark.kind}/{task.partition('/')[2]}", named, lower_is_better=board.primary.better == "lower"
    )
