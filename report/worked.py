"""One item of a board worked out: the very numerators and denominators behind its scores, to be checked by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from lake.store import Lake
from report.board import Board
from report.facts import Facts
from report.shown import score


@dataclass(frozen=True)
class Sum:
    """One score as a division: what it is called, what is counted, the result."""

    metric: str
    division: str
    shown: str


@dataclass(frozen=True)
class Worked:
    """An item of the first system's.

    Attributes:
        system: Whose answer.
        item_id: The item.
        sums: Its scores at the primary metric's granularity and cut-off.
        total: The board's number as sum over items and number of items.
    """

    system: str
    item_id: str
    sums: Sequence[Sum]
    total: str


def worked_item(lake: Lake, facts: Facts, board: Board) -> Worked | None:
    """The first item, by name, on which the board's first system was neither wholly right nor wholly wrong.

    None where there is no such item, or no score of the system is a division of counts.
    """
    row = next((one for one in board.rows if not one.run.baseline), None)
    if row is None or row.head is None:
        return None
    granularity, metric, k = board.primary.measure
    folders = {"benchmark": board.benchmark.name, "protocol": board.protocol.name, "run_id": row.run.run_id}
    scores = lake.scan("scores", **folders).filter(pl.col("granularity") == granularity, pl.col("k") == k)
    known = scores.filter(pl.col("denominator") > 0, pl.col("value").is_not_nan())
    primary = known.filter(pl.col("metric") == metric)
    between = primary.filter(pl.col("value") > 0, pl.col("value") < 1).select(pl.col("item_id").min()).collect()
    item_id = between.item()
    if item_id is None:
        return None
    order = {one.metric: place for place, one in enumerate(board.protocol.parameters.metrics)}
    mine = known.filter(pl.col("item_id") == item_id).collect()
    rows = sorted(mine.iter_rows(named=True), key=lambda one: (one["metric"] == metric, order.get(one["metric"], 0)))
    sums = [
        Sum(
            facts.metrics[one["metric"]].title if one["metric"] in facts.metrics else one["metric"],
            f"{_amount(one['numerator'])} / {_amount(one['denominator'])}",
            score(one["value"]),
        )
        for one in rows
    ]
    total = f"{score(row.value(board.primary, board.average))} over {row.head.n:,} items"
    return Worked(row.run.system, item_id, sums, total)


def _amount(value: float) -> str:
    """A count as a whole number; what is none to four decimals."""
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.4f}"
