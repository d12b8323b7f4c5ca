"""One item of a board worked out: the very numerators and denominators behind its scores, to be checked by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isclose

import polars as pl

from lake.store import Lake
from report.leaderboard.board import Board
from report.leaderboard.columns import Measure
from report.methods.strips import Answer, answer_of
from report.shown import score


@dataclass(frozen=True)
class Sum:
    """One score as a division: what it is called, what is counted, the result."""

    metric: str
    division: str
    shown: str
    share: float | None
    """The result, where it is a share of 1 that a bar can show."""


@dataclass(frozen=True)
class Worked:
    """An item of the first system's."""

    benchmark: str
    system: str
    item_id: str
    sums: Sequence[Sum]
    """Its scores at the primary metric's granularity and cut-off."""
    every: Mapping[str, Sum]
    """Its scores by metric, each at the least cut-off there is; without a division where there is none."""
    total: str
    """The board's number as sum over items and number of items."""
    answer: Answer | None
    """What was returned beside what is gold, in lines; None where scores do not follow from these alone."""


def worked_item(lake: Lake, board: Board) -> Worked | None:
    """The first item, by name, on which the board's first system was neither wholly right nor wholly wrong.

    Where it never is, the first on which it was right; None where no score of the system is a division of counts.
    """
    row = next((one for one in board.rows if not one.run.baseline), None)
    if row is None or row.head is None:
        return None
    granularity, metric, k = board.primary.measure
    folders = {"benchmark": board.benchmark.name, "protocol": board.protocol.name, "run_id": row.run.run_id}
    scores = lake.scan("scores", **folders).filter(pl.col("value").is_not_nan())
    here = (pl.col("granularity") == granularity) & (pl.col("k") == k) & (pl.col("denominator") > 0)
    some = scores.filter(here, pl.col("metric") == metric, pl.col("value") > 0)
    found = some.sort(pl.col("value") >= 1, "item_id").select("item_id").head(1).collect()
    if found.is_empty():
        return None
    item_id = found.item()
    order = {one.metric: place for place, one in enumerate(board.protocol.parameters.metrics)}
    mine = scores.filter(pl.col("item_id") == item_id).sort("k", "metric", "granularity", descending=True)
    titles = {column.measure: column.title for column in board.columns}
    sums: dict[Measure, Sum] = {}
    for one in mine.collect().iter_rows(named=True):
        measure = (one["granularity"], one["metric"], one["k"])
        sums[measure] = _sum(titles.get(measure, one["metric"]), one["value"], one["numerator"], one["denominator"])
    primary = [measure for measure, of in sums.items() if (measure[0], measure[2]) == (granularity, k) and of.division]
    primary.sort(key=lambda measure: (measure[1] == metric, order.get(measure[1], 0)))
    total = f"{score(row.number)} over {row.head.n:,} items"
    every = {name: of for (_, name, _), of in sums.items()}
    answer = answer_of(lake, board, row.run, item_id)
    if answer is not None and sums[board.primary.measure].division not in answer.divisions:
        answer = None
    shown = [sums[one] for one in primary]
    return Worked(board.benchmark.name, row.run.system, item_id, shown, every, total, answer)


def _sum(title: str, value: float, above: float | None, below: float | None) -> Sum:
    # Some published numbers are no division of what their totals are made of.
    divides = below and isclose((above or 0.0) / below, value, abs_tol=1e-9)
    division = f"{_amount(above or 0.0)} / {_amount(below)}" if below and divides else ""
    return Sum(title, division, score(value), value if 0 <= value <= 1 else None)


def _amount(value: float) -> str:
    """A count as a whole number; what is none to four decimals."""
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.4f}"
