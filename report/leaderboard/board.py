"""A leaderboard as plain values: which systems, which columns, which number in each cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from report.entities import FAILED, Benchmark, Protocol, Run
from report.facts import Facts
from report.leaderboard.columns import Column, Measure, columns_of
from report.leaderboard.heats import Heat, build_heats
from report.leaderboard.rows import Cell, Row
from report.parameters import WHOLE, Average
from report.shown import score

AVERAGES: Mapping[Average, tuple[str, str]] = {
    "macro": ("Macro", "mean over items"),
    "micro": ("Micro", "ratio of sums over items"),
    "by_repo": ("By repository", "mean of the repositories' means"),
}
"""How a metric is averaged: what it is called, and what it is."""

MANY_GRANULARITIES = 4
"""A table of so many granularities can be shown one at a time."""


@dataclass(frozen=True)
class Board:
    """The leaderboard of one protocol."""

    benchmark: Benchmark
    protocol: Protocol
    slice: tuple[str, str]
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    """Runs over the whole benchmark, best first by the primary metric."""
    unranked: tuple[Row, ...]
    """Limited, partial and failed runs, and those whose mean is over fewer items."""
    heats: tuple[Heat, ...]
    n_items: int
    """The scorable items of the slice."""

    @property
    def primary(self) -> Column:
        """The column that orders the table."""
        return self.columns[0]

    @property
    def average(self) -> Average:
        """How the primary metric is averaged."""
        return self.protocol.parameters.primary.aggregate

    @property
    def granularities(self) -> tuple[str, ...]:
        """What its metrics count, where that is so much that a table is better read a part at a time."""
        found = tuple(dict.fromkeys(column.granularity for column in self.columns))
        return found if len(found) >= MANY_GRANULARITIES else ()

    @property
    def has_ranks(self) -> bool:
        """Whether ranks were computed, or withheld for too few items."""
        return any(row.head is not None and row.head.too_few is not None for row in self.rows)

    @property
    def has_intervals(self) -> bool:
        """Whether uncertainty was computed."""
        return any(row.head is not None and row.head.low is not None for row in self.rows)

    @property
    def has_oracle(self) -> bool:
        """Whether it is known how much of what its chunks allow a system reaches."""
        return any(row.head is not None and row.head.share_of_oracle is not None for row in self.rows)

    @property
    def depends_on_cutting(self) -> tuple[str, ...]:
        """Its metrics that depend on how a chunker cuts."""
        return tuple(dict.fromkeys(column.metric for column in self.columns if column.measure[0] == "chunk"))

    @property
    def neutral(self) -> tuple[str, ...]:
        """Its metrics that do not: they count lines, whatever they were cut into."""
        return tuple(dict.fromkeys(column.metric for column in self.columns if column.measure[0] == "line"))

    def in_order(self, rows: Sequence[Row], average: Average) -> list[Row]:
        """Rows best first by the primary metric averaged one way; those without a value last, in the order they had."""

        def place(row: Row) -> tuple[bool, float]:
            value = row.value(self.primary, average)
            return (value is None, _falling(value, self.primary))

        return sorted(rows, key=place)

    def averaged(self, column: Column, average: Average) -> Average:
        """How a column is averaged in the table of one way of averaging.

        The protocol's own table shows its own numbers: beside ratios of sums, means over items of what has no such
        ratio and of what describes a run's steps.
        """
        is_mean = average == self.average == "micro" and (column.micro == "none" or column.of_steps)
        return "macro" if is_mean else average

    def best(self, column: Column, average: Average) -> str:
        """The best number in a column as it is shown; empty when there is none.

        Baselines are left out, and means over fewer items than others of the column are over.
        """
        cells = [(row.run.baseline, row.cells[column.measure]) for row in self.rows if column.measure in row.cells]
        most = max((cell.n for _, cell in cells), default=0)
        averaged = self.averaged(column, average)
        shown = [cell.average(averaged) for is_baseline, cell in cells if not is_baseline and cell.n == most]
        numbers = [value for value in shown if value is not None]
        if not numbers or column.better == "neither":
            return ""
        return score(min(numbers) if column.better == "lower" else max(numbers))


def build_board(facts: Facts, protocol: Protocol, where: tuple[str, str] | None = None) -> Board:
    """Everything one protocol's leaderboard shows, in its headline slice or another."""
    rule = protocol.parameters
    primary = (rule.primary.granularity, rule.primary.metric, rule.primary.k)
    of_task = [run.run_id for run in facts.runs_of(protocol.benchmark) if protocol.task in ("", run.task)]
    mine = facts.aggregates.filter(pl.col("protocol") == protocol.name, pl.col("run_id").is_in(of_task))
    where, head = _headline(mine, where or (rule.headline.slice, rule.headline.slice_value))
    cells = _cells(head)
    runs = [run for run in facts.runs_of(protocol.benchmark) if _belongs(run, protocol, cells)]
    heads = [found[primary] for found in cells.values() if primary in found]
    n_items = max((head.n_items for head in heads), default=0)
    n_asked = max((head.n_items - head.n_not_applicable for head in heads), default=0)
    rows = [Row(run, cells.get(run.run_id, {}), primary, n_asked, n_items) for run in runs]
    columns = columns_of(facts, protocol, primary, head)
    first, average = columns[0], rule.primary.aggregate
    ordered = _ordered(rows, first, average)
    ranked = tuple(row for row in ordered if row.comparable)
    return Board(
        benchmark=facts.benchmarks[protocol.benchmark],
        protocol=protocol,
        slice=where,
        columns=columns,
        rows=ranked,
        unranked=tuple(row for row in ordered if not row.comparable),
        heats=build_heats(facts, protocol, mine, primary, ranked),
        n_items=n_items,
    )


def _headline(mine: pl.DataFrame, wanted: tuple[str, str]) -> tuple[tuple[str, str], pl.DataFrame]:
    """The headline slice's rows; where that slice was not scored those of the whole, else of the first subset."""
    subsets = mine.filter(pl.col("slice") == "subset")["slice_value"].unique().sort()
    for where in (wanted, (WHOLE, WHOLE), *(("subset", subset) for subset in subsets)):
        rows = mine.filter(pl.col("slice") == where[0], pl.col("slice_value") == where[1])
        if rows.height:
            return where, rows
    return wanted, mine.clear()


def _cells(rows: pl.DataFrame) -> dict[str, dict[Measure, Cell]]:
    found: dict[str, dict[Measure, Cell]] = {}
    fields = list(Cell.__dataclass_fields__)
    for row in rows.iter_rows(named=True):
        measure = (row["granularity"], row["metric"], row["k"])
        found.setdefault(row["run_id"], {})[measure] = Cell(**{field: row[field] for field in fields})
    return found


def _belongs(run: Run, protocol: Protocol, cells: Mapping[str, object]) -> bool:
    """Whether a run stands on this board: scored under the protocol, or failed at one of its tasks."""
    if run.protocol is not None and run.protocol != protocol.name:
        return False
    if protocol.task and run.task != protocol.task:
        return False
    return run.run_id in cells or (run.status == FAILED and run.task in protocol.parameters.tasks)


def _ordered(rows: Sequence[Row], column: Column, average: Average) -> list[Row]:
    """Best first; those without a value last; equal ones by name."""

    def place(row: Row) -> tuple[bool, float, str, str]:
        value = row.value(column, average)
        return (value is None, _falling(value, column), row.run.system, row.run.run_id)

    return sorted(rows, key=place)


def _falling(value: float | None, column: Column) -> float:
    """A value such that the best sorts first."""
    return 0.0 if value is None else value if column.better == "lower" else -value
