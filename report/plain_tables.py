"""The tables of a board's plain page: every way of averaging, every column and every row, without a script."""

from __future__ import annotations

from dataclasses import dataclass

from lake.catalog.baselines import unbeaten_baselines
from report.charts.figures import Figure
from report.facts import Facts
from report.leaderboard.board import AVERAGES, Board, Row
from report.leaderboard.pictures import score_picture
from report.parameters import Average
from report.shown import score, signed


@dataclass(frozen=True)
class Line:
    """A row of the table as it is shown."""

    row: Row
    n_chunks: int | None
    cells: tuple[tuple[str, bool, int | None], ...]
    """What each column shows, whether it is the best of its column, and over how many items it is if not over n."""
    above: str
    """How far it is above the reference, by the primary metric."""


@dataclass(frozen=True)
class Table:
    """The leaderboard averaged one way, in the order of the primary metric so averaged."""

    average: Average
    title: str
    meaning: str
    chart: Figure | None
    """The same numbers in the same order; none where the primary metric has none."""
    ranked: tuple[Line, ...]
    baselines: tuple[Line, ...]
    unranked: tuple[Line, ...]
    same: tuple[str, ...]
    """Metrics whose ratio of sums equals their mean over items by construction."""
    means: tuple[str, ...]
    """Metrics that the protocol averages over items here too."""
    undefined: tuple[str, ...]
    """Metrics that have no ratio of sums."""
    unbeaten: tuple[str, ...]
    """Why no system is above a baseline, where none is."""


def plain_tables(facts: Facts, board: Board, reference: Row | None) -> tuple[Table, ...]:
    """A board's tables, that of the protocol's own way of averaging first; all systems are held against a reference."""
    averages = sorted(AVERAGES, key=lambda average: average != board.average)
    return tuple(_table(facts, board, average, reference) for average in averages)


def _table(facts: Facts, board: Board, average: Average, reference: Row | None) -> Table:
    against = reference.value(board.primary, average) if reference else None
    best = {column.name: board.best(column, average) for column in board.columns}

    def line(row: Row, *, ranked: bool) -> Line:
        cells = []
        for column in board.columns:
            value, cell = row.value(column, board.averaged(column, average)), row.cells.get(column.measure)
            shown = score(value)
            is_best = ranked and not row.run.baseline and shown == best[column.name] and cell is not None
            others = cell.n if cell and row.head and value is not None and cell.n != row.head.n else None
            cells.append((shown, is_best, others))
        count = facts.chunks_of(row.run)
        number = row.value(board.primary, average)
        above = signed(None if number is None or against is None else number - against)
        return Line(row, count and count.n, tuple(cells), above)

    means = dict.fromkeys(each.metric for each in board.columns if board.averaged(each, average) != average)
    micro = {column.metric: column.micro for column in board.columns if column.metric not in means}
    metrics = micro if average == "micro" else {}
    title, meaning = AVERAGES[average]
    ordered = board.in_order(board.rows, average)
    return Table(
        average=average,
        title=title,
        meaning=meaning,
        chart=score_picture(board, average),
        ranked=tuple(line(row, ranked=True) for row in ordered if not row.run.baseline),
        baselines=tuple(line(row, ranked=True) for row in ordered if row.run.baseline),
        unranked=tuple(line(row, ranked=False) for row in board.in_order(board.unranked, average)),
        same=tuple(name for name, rule in metrics.items() if rule == "same"),
        means=tuple(means),
        undefined=tuple(name for name, rule in metrics.items() if rule == "none"),
        unbeaten=unbeaten(board, average),
    )


def unbeaten(board: Board, average: Average) -> tuple[str, ...]:
    """Why no system is above a baseline, where none is."""
    named = [(row.run.retriever or "", row.run.baseline, row.value(board.primary, average)) for row in board.rows]
    task = board.protocol.task or next((row.run.task for row in board.rows), "")
    return tuple(unbeaten_baselines(task, named, lower_is_better=board.primary.better == "lower"))
