"""A leaderboard as plain values: which systems, which columns, which number in each cell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

import polars as pl

from lake.catalog.protocol import AVERAGES
from lake.catalog.unit import ITEM
from lake.text import counted
from lake.verdict import mirrored
from report.format import score
from report.leaderboard.columns import Cell, Column, Interval, Measure, cells_in, columns_of
from report.models import FAILED, WHOLE, Average, Protocol, Run, Task
from report.tables_read import TablesRead

MANY_GRANULARITIES = 4
"""A table of so many granularities can be shown one at a time."""


class Row:
    """One run's line: the primary metric's cell, and its number and interval averaged as the protocol does.

    `n_asked` counts the items that the primary metric applies to: a mean over fewer is not `comparable` with others.
    """

    def __init__(self, run: Run, cells: Mapping[Measure, Cell], primary: Column, n_asked: int, n_items: int) -> None:
        self.run, self.cells, self.primary, self.n_items = run, cells, primary, n_items
        self.head = cells.get(primary.measure)
        self.number = self.head.average(primary.average) if self.head else None
        self.interval: Interval = self.head.interval(primary.average) if self.head else (None, None)
        self.comparable = run.comparable and self.head is not None and self.head.n == n_asked

    def value(self, column: Column, average: Average | None = None) -> float | None:
        """What stands in a column, averaged as the protocol does or in another way."""
        cell = self.cells.get(column.measure)
        return None if cell is None else cell.average(average or column.average)

    @property
    def state(self) -> str:
        """What keeps it from being compared, in a word or two; empty when nothing does."""
        if self.comparable:
            return ""
        if self.run.limit is not None:
            return f"limited to {self.run.limit:,}"
        if self.head is None and not self.run.comparable:
            return self.run.status
        share = f"{self.head.n if self.head else 0:,} of {counted(self.n_items, 'item')}"
        return share if self.run.comparable else f"{self.run.status}: {share}"


class Board:
    """The leaderboard of one protocol over one slice, given as name and value; the first column orders it.

    `rows` are runs over all items, best first; `unranked` limited, partial and failed runs and means over fewer items.
    Of `every` row, `systems` are those that are compared, without baselines; `in_parts` has what is not compared behind
    them, and baselines last. Intervals are over items, for want of repositories, where it `is_of_items`.
    """

    def __init__(
        self,
        facts: TablesRead,
        protocol: Protocol,
        where: tuple[str, str],
        columns: Sequence[Column],
        rows: Sequence[Row],
        unranked: Sequence[Row] = (),
    ) -> None:
        self.facts, self.protocol, self.slice, self.columns = facts, protocol, where, columns
        self.benchmark = facts.benchmarks[protocol.benchmark]
        self.where = {"protocol": protocol.name, "slice": where[0], "slice_value": where[1]}
        self.primary, self.average = columns[0], protocol.primary.aggregate
        self.averaging = AVERAGES[self.average][1]
        self.rows, self.unranked, self.every = rows, unranked, [*rows, *unranked]
        self.systems = [row for row in rows if not row.run.baseline]
        apart = [row for row in unranked if not row.run.baseline]
        self.in_parts = [*self.systems, *apart, *(row for row in self.every if row.run.baseline)]
        self.runs = {row.run.run_id: row.run for row in self.every}
        self.n_items = self.every[0].n_items if self.every else 0
        self.is_of_items = any(row.head is not None and row.head.unit == ITEM for row in self.every)
        levels = list(dict.fromkeys(column.granularity for column in columns))
        self.granularities = levels if len(levels) >= MANY_GRANULARITIES else []

    def has(self, name: str, rows: Iterable[Row] | None = None) -> bool:
        """Whether any cell of the primary metric, of those that are compared, has a field."""
        return any(getattr(row.head, name, None) is not None for row in (self.rows if rows is None else rows))

    @property
    def task(self) -> Task | None:
        """What its runs were asked, the first of several."""
        names = [self.protocol.task, *(row.run.task for row in self.every), *self.protocol.tasks]
        return next((self.facts.tasks[name] for name in names if name in self.facts.tasks), None)

    @cached_property
    def numbers(self) -> pl.DataFrame:
        """The rows of `aggregates` that its runs have, over every slice."""
        return self.facts.aggregates.filter(pl.col("run_id").is_in(list(self.runs)), protocol=self.protocol.name)

    @cached_property
    def by_slice(self) -> pl.DataFrame:
        """The same by the primary metric."""
        return self.numbers.filter(**self.primary.where)

    @cached_property
    def characters(self) -> Mapping[tuple[str, int], tuple[float, float]]:
        """Run and cut-off → how many characters are read down to it, and returned in all."""
        stored = self.facts.characters.filter(**self.where).select("run_id", "k", "read", "returned")
        return {(run_id, k): (read, returned) for run_id, k, read, returned in stored.iter_rows()}

    def slice_size(self, name: str) -> tuple[int, int]:
        """How many values a slice has, and how many items in all."""
        sizes = self.facts.slice_sizes
        known = [sizes.get((self.protocol.name, task, name), (0, 0)) for task in {row.run.task for row in self.rows}]
        return max(known, default=(0, 0))

    def compared(self, value: str = "") -> pl.LazyFrame:
        """The comparisons by the primary metric, each pair both ways round; over another value of the slice."""
        where = self.where | ({"slice_value": value} if value else {})
        pairs = self.facts.comparisons.lazy().filter(**where, granularity=self.primary.granularity)
        return pl.concat([pairs, mirrored(pairs)])

    def averaged(self, column: Column, average: Average) -> Average:
        """How a column is averaged in the table of one way of averaging."""
        return column.average if average == self.average else average

    def best(self, column: Column, average: Average) -> str:
        """The best number in a column as it is shown; empty when there is none.

        Baselines are left out, and means over fewer items than others of the column are over.
        """
        rows = [row for row in self.rows if column.measure in row.cells]
        most = max((row.cells[column.measure].n for row in rows), default=0)
        systems = [row for row in rows if not row.run.baseline and row.cells[column.measure].n == most]
        averaged = self.averaged(column, average)
        numbers = [value for row in systems if (value := row.value(column, averaged)) is not None]
        if not numbers or column.rule.direction == "neither":
            return ""
        return score(min(numbers) if column.lower_is_better else max(numbers))


def in_order(rows: Sequence[Row], average: Average) -> list[Row]:
    """Rows best first by the primary metric averaged one way; those without a value last, in the order they had."""

    def place(row: Row) -> tuple[bool, float]:
        value = row.value(row.primary, average)
        return value is None, (value or 0.0) * (1 if row.primary.lower_is_better else -1)

    return sorted(rows, key=place)


def build_board(facts: TablesRead, protocol: Protocol, where: tuple[str, str] | None = None) -> Board:
    """Everything one protocol's leaderboard shows, in its headline slice or another."""
    rule = protocol.primary
    primary = (rule.granularity, rule.metric, rule.k)
    runs = [run for run in facts.runs_of(protocol.benchmark) if protocol.task in ("", run.task)]
    of_runs = pl.col("run_id").is_in([run.run_id for run in runs])
    mine = facts.aggregates.filter(of_runs, protocol=protocol.name)
    where, numbers = _headline(mine, where or (protocol.headline["slice"], protocol.headline["slice_value"]))
    cells: dict[str, dict[Measure, Cell]] = {}
    keys = numbers.select("run_id", "granularity", "metric", "k").iter_rows()
    for (run_id, *measure), cell in zip(keys, cells_in(numbers), strict=True):
        cells.setdefault(run_id, {})[measure[0], measure[1], measure[2]] = cell
    heads = [by_measure[primary] for by_measure in cells.values() if primary in by_measure]
    n_items = max((head.n_items for head in heads), default=0)
    n_asked = max((head.n_items - head.n_not_applicable for head in heads), default=0)
    columns = columns_of(facts, protocol, numbers, primary)
    rows = [
        Row(run, cells.get(run.run_id, {}), columns[0], n_asked, n_items)
        for run in sorted(runs, key=lambda run: (run.system, run.run_id))
        if _belongs(run, protocol, cells)
    ]
    ordered = in_order(rows, rule.aggregate)
    ranked, unranked = ([row for row in ordered if row.comparable is flag] for flag in (True, False))
    return Board(facts, protocol, where, columns, ranked, unranked)


def _headline(mine: pl.DataFrame, wanted: tuple[str, str]) -> tuple[tuple[str, str], pl.DataFrame]:
    """The headline slice's rows; where that slice was not scored those of the whole, else of the first subset."""
    subsets = mine.filter(slice="subset")["slice_value"].unique().sort()
    for where in (wanted, (WHOLE, WHOLE), *(("subset", subset) for subset in subsets)):
        rows = mine.filter(slice=where[0], slice_value=where[1])
        if rows.height:
            return where, rows
    return wanted, mine.clear()


def _belongs(run: Run, protocol: Protocol, scored: Iterable[str]) -> bool:
    """Whether a run stands on this board: scored under the protocol, or failed at one of its tasks."""
    if run.protocol not in (None, protocol.name):
        return False
    return run.run_id in scored or (run.status == FAILED and run.task in protocol.tasks)
