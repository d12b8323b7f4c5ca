"""A leaderboard as plain values: its systems, its columns (the primary metric first) and a score per cell."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from lake.averages import AVERAGES, ITEM, Aggregate
from lake.errors import lookup
from lake.text import counted
from lake.verdict import Pairs, by_pair
from report.format import score, visible
from report.tables_read import ALL_ITEMS, FAILED, MEASURE, ProtocolRow, RunRow, TableRow, TablesRead

Measure = tuple[str, str, int]
Grid = np.ndarray[tuple[int, ...], np.dtype[Any]]
Interval = tuple[float | None, float | None]


class Cell(TableRow):
    """A run's score in a column, averaged one way over one slice: a row of table `boards`, and `interval`, its ends."""


class Column:
    """One metric at one cut-off (0: none), averaged as in the protocol, or over items where it is no ratio of sums.

    `name` is the metric with its cut-off, `quantity` the metric without its granularity (`coverage` of
    `line_coverage`), `measured` the metric's title, `title` the same with the cut-off, `cut` the cut-off as `@10`.
    """

    def __init__(self, measure: Measure, average: Aggregate, rule: TableRow) -> None:
        self.measure, self.average, self.rule = measure, average, rule
        self.granularity, self.metric, self.k = measure
        self.where = dict(zip(MEASURE, measure, strict=True))
        self.lower_is_better = rule.direction == "lower"
        self.cut = f"@{self.k}" if self.k else ""
        self.name = f"{self.metric}{self.cut}"
        self.quantity = self.metric.removeprefix(f"{self.granularity}_")
        self.measured = rule.title or self.metric
        within = f" in {self.k:,} characters" if rule.cut == "budget" else f" at {self.k:,}"
        self.title = f"{self.measured}{within}" if self.k else self.measured


def columns_of(facts: TablesRead, rows: pl.DataFrame) -> tuple[Column, ...]:
    """The columns shown of a board, given its rows of table `boards`, in their order."""
    columns = rows.select("position", *MEASURE, "average").filter(rows["is_shown"]).unique().sort("position")
    return tuple(
        Column((granularity, metric, k), average, lookup(metric, "metric", facts.metrics))
        for _, granularity, metric, k, average in columns.iter_rows()
    )


class BoardRow:
    """A run's row: its cells by measure and average; `head` is that of the primary metric in the protocol's average."""

    def __init__(
        self, run: RunRow, cells: Mapping[tuple[Measure, Aggregate], Cell], primary: Column, n_items: int
    ) -> None:
        self.run, self.cells, self.primary, self.n_items = run, cells, primary, n_items
        self.head = head = cells.get((primary.measure, primary.average))
        self.number = head.value if head else None
        self.interval: Interval = head.interval if head else (None, None)
        self.comparable = head is not None and not head.state
        self.n = head.n if head else 0

    @property
    def state(self) -> str:
        """Why the run is not compared, in a few words; empty if it is."""
        if self.comparable:
            return ""
        if self.run.limit is not None:
            return f"limited to {self.run.limit:,}"
        share = f"{self.n:,} of {counted(self.n_items, 'item')}" if self.head or self.run.comparable else ""
        return ": ".join(filter(None, ["" if self.run.comparable else self.run.status, share]))

    def cell(self, column: Column, average: Aggregate | None = None) -> Cell | None:
        """The cell of a column in the protocol's or another average; None if there is none."""
        return self.cells.get((column.measure, average or column.average))

    def value(self, column: Column, average: Aggregate | None = None) -> float | None:
        """The score in a column, as :meth:`cell`."""
        cell = self.cell(column, average)
        return cell.value if cell else None

    def place(self, average: Aggregate) -> tuple[int, str, str]:
        """The sort key by the primary metric in one average; runs without a score come last, by name."""
        cell = self.cell(self.primary, average)
        return cell.place if cell else 1 << 31, self.run.system, self.run.run_id

    @property
    def standing(self) -> str:
        """Its rank and the ranks it may have, or the reason why it has none, in words."""
        head = self.head
        if self.run.baseline:
            return "a baseline: not ranked"
        if self.state or head is None:
            return f"not ranked: {self.state or 'no score'}"
        if head.rank is None:
            return "too few items to rank"
        others = "" if head.rank_low == head.rank_high else f", may be {head.rank_low} to {head.rank_high}"
        return f"rank {head.rank}{others}"


class Board:
    """The leaderboard of one protocol over one slice (`where`: name and value), ordered by the first column.

    Of `every` run, best first, `rows` are those over all items; `unranked` are limited, partial and failed runs and
    means over fewer items. `systems` and `apart` are these without baselines; `in_parts` is systems, apart, baselines.
    `by_slice` are the `numbers` by the primary metric in the protocol's average, over all slices.
    """

    def __init__(
        self,
        facts: TablesRead,
        protocol: ProtocolRow,
        where: tuple[str, str],
        columns: Sequence[Column],
        every: Sequence[BoardRow],
        numbers: pl.DataFrame,
    ) -> None:
        self.facts, self.protocol, self.slice, self.columns = facts, protocol, where, columns
        self.benchmark = facts.benchmarks[protocol.benchmark]
        self.where = {"protocol": protocol.name, "slice": where[0], "slice_value": where[1]}
        self.view = f"{where[0]}={visible(where[1])}"
        self.primary, self.average = columns[0], protocol.primary.aggregate
        self.averaging = AVERAGES[self.average].meaning
        self.rows, self.unranked = ([row for row in every if row.comparable is flag] for flag in (True, False))
        self.every = [*self.rows, *self.unranked]
        self.systems = [row for row in self.rows if not row.run.baseline]
        self.apart = [row for row in self.unranked if not row.run.baseline]
        self.in_parts = [*self.systems, *self.apart, *(row for row in self.every if row.run.baseline)]
        self.runs = {row.run.run_id: row.run for row in self.every}
        self.numbers = numbers.filter(pl.col("run_id").is_in(list(self.runs)))
        self.by_slice = self.numbers.filter(is_shown=True, **self.primary.where)
        self.n_items = max((row.n_items for row in self.every), default=0)
        self.is_of_items = any(row.head is not None and row.head.unit == ITEM for row in self.rows or self.unranked)
        tasks = [protocol.task, *(row.run.task for row in self.every), *protocol.tasks]
        # The value of the slice for each item, as an expression over table `items`.
        of_columns = [pl.col(name).fill_null("none") for name in where[0].split("/")]
        self.value_of_item = pl.lit(ALL_ITEMS) if where[0] == ALL_ITEMS else pl.concat_str(of_columns, separator="/")
        self.task = next((facts.tasks[name] for name in tasks if name in facts.tasks), None)

    def has(self, name: str, rows: Iterable[BoardRow] | None = None) -> bool:
        """Whether a field is not None in the primary cell of any of `rows` (default: all compared rows)."""
        return any(getattr(row.head, name, None) is not None for row in (self.rows if rows is None else rows))

    def slice_size(self, name: str) -> tuple[int, int]:
        """The number of values of a slice, and of items in all of them."""
        tasks, sizes = {row.run.task for row in self.rows}, self.facts.slice_sizes
        return max((sizes.get((self.protocol.name, task, name), (0, 0)) for task in tasks), default=(0, 0))

    @cached_property
    def pairs(self) -> Pairs:
        """(run, another) → their row of `comparisons` by the primary metric; the difference is another minus run."""
        return by_pair(self.facts.comparisons.lazy().filter(granularity=self.primary.granularity, **self.where))

    def averaged(self, column: Column, average: Aggregate) -> Aggregate:
        """The average that the table of `average` shows for a column."""
        return column.average if average == self.average else average

    def best(self, column: Column, average: Aggregate) -> str:
        """The best score in a column, as shown, without baselines and means over fewer items; empty if none."""
        averaged = self.averaged(column, average)
        cells = [(row.run, cell) for row in self.rows if (cell := row.cell(column, averaged))]
        most = max((cell.n for _, cell in cells), default=0)
        known = [cell for run, cell in cells if not run.baseline and cell.n == most and cell.value is not None]
        if not known or column.rule.direction == "neither":
            return ""
        return score(min(known, key=lambda cell: cell.place).value)


def grids(rows: pl.DataFrame, run_ids: Sequence[str], item_ids: pl.Series, **columns: str) -> dict[str, Grid]:
    """Columns of a table with runs and items, each as an array of shape (runs, items), NaN where there is no row."""
    # Ids as numbers: joins by two texts take most of the time.
    ids = {"run_id": run_ids, "item_id": item_ids}
    at = [pl.col(name).cast(pl.Enum(known), strict=False).to_physical() for name, known in ids.items()]
    known = rows.select(*at, **columns).drop_nulls(list(ids))
    of_columns: dict[str, Grid] = {name: np.full((len(run_ids), len(item_ids)), np.nan) for name in columns}
    for name, grid in of_columns.items():
        grid[known["run_id"], known["item_id"]] = known[name].cast(pl.Float64)
    return of_columns


def build_board(facts: TablesRead, protocol: ProtocolRow, where: tuple[str, str] | None = None) -> Board:
    """The leaderboard of a protocol over the slice `where` (name and value), by default the one it opens on."""
    view = ("slice", "slice_value")
    here = dict(zip(view, where, strict=True)) if where else {"is_opening": True}
    is_here = pl.all_horizontal(pl.col(name) == value for name, value in here.items())
    is_primary = pl.col("is_shown") & (pl.col("position") == 0)
    is_precision = (pl.col("metric") == "line_precision") & (pl.col("average") == "micro")
    numbers = facts.board_rows(protocol).filter(is_here | is_primary | is_precision).collect()
    rows = numbers.filter(**here)
    where = where or next(rows.select(view).iter_rows(), (protocol.headline["slice"], protocol.headline["slice_value"]))
    cells: dict[str, dict[tuple[Measure, Aggregate], Cell]] = {}
    for row in rows.iter_rows(named=True):
        measure = (row["granularity"], row["metric"], row["k"])
        cells.setdefault(row["run_id"], {})[measure, row["average"]] = Cell(**row, interval=(row["low"], row["high"]))
    rule, measured = protocol.primary, lookup(protocol.primary.metric, "metric", facts.metrics)
    primary = Column((rule.granularity, rule.metric, rule.k), rule.aggregate, measured)
    columns = columns_of(facts, rows) or (primary,)
    n_items = max(rows["of_items"], default=0)
    every = [
        BoardRow(run, cells.get(run.run_id, {}), columns[0], n_items)
        for run in facts.runs_of(protocol.benchmark)
        # Runs scored under the protocol, and failed runs of its tasks.
        if protocol.task in ("", run.task)
        and run.protocol in (None, protocol.name)
        and (run.run_id in cells or (run.status == FAILED and run.task in protocol.tasks))
    ]
    every.sort(key=lambda row: row.place(protocol.primary.aggregate))
    return Board(facts, protocol, where, columns, every, numbers)
