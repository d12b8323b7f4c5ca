"""The ledger of the gold: for each system, the shares of the gold found, dropped, not returned, …, which sum to 1."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import polars as pl

from lake.tables.evaluated import LEDGER_TITLES
from report.leaderboard.board import Board, BoardRow

N_RETRIEVERS, N_AGENTS = 2, 3
_NARROW = 0.045  # shares below it are too narrow to contain their number; the table next to the bar has it


def shares_in(amounts: Mapping[str, float]) -> list[dict[str, Any]]:
    """The classes with a share above 0 (never shown as 0 per cent) as parts of a bar, in the order of LEDGER_TITLES."""
    parts = []
    for name, title in LEDGER_TITLES.items():
        if share := amounts.get(name):
            percent = f"{100 * share:.0f} %" if share >= 0.005 else "< 1 %"
            part = {"name": name, "title": title, "share": share, "percent": percent, "words": f"{title} {percent}"}
            parts.append(part | {"width": f"{100 * share:.3f}%", "is_narrow": share < _NARROW})
    return parts


def largest_class() -> pl.Expr:
    """The number of the class with most of an item's gold (the first of equal ones), over rows of table `ledger`."""
    most = pl.max_horizontal(list(LEDGER_TITLES))
    return pl.coalesce(pl.when(pl.col(name) == most).then(n) for n, name in enumerate(LEDGER_TITLES)).cast(pl.Int64)


@cache
def ledger_of(board: Board) -> Mapping[str, Mapping[str, Mapping[str, float]]]:
    """Value of the slice → run → shares of its gold by ledger class, and `precision` of its lines."""
    by_value: dict[str, dict[str, dict[str, float]]] = {board.slice[1]: {}}
    shares = board.facts.ledger.filter(protocol=board.protocol.name, slice=board.slice[0])
    lines = {"granularity": "line", "metric": "line_precision", "k": board.primary.k, "average": "micro"}
    precisions = board.numbers.filter(slice=board.slice[0], **lines).drop_nulls("value")
    of_run = ("slice_value", "run_id")
    numbers = [shares.select(*of_run, "class", "micro"), precisions.select(*of_run, pl.lit("precision"), "value")]
    for value, run_id, name, number in (row for frame in numbers for row in frame.iter_rows()):
        by_value.setdefault(value, {}).setdefault(run_id, {})[name] = number
    return by_value


@cache
def shares_of(board: Board) -> dict[str, tuple[list[dict[str, Any]], float | None]]:
    """Run → the shares of the gold of the board's items, and its precision; either may be missing."""
    ledger = ledger_of(board)[board.slice[1]]
    return {run_id: (shares_in(amounts), amounts.get("precision")) for run_id, amounts in ledger.items()}


def shown_rows(board: Board) -> list[BoardRow]:
    """The rows of the best retrievers, each with its best chunker, and of the best agents."""
    rows = [row for row in board.every if not row.run.baseline and not row.run.limit]
    agents = [row for row in rows if row.run.has_steps]
    retrievers = list({row.run.retriever: row for row in reversed(rows) if not row.run.has_steps}.values())[::-1]
    return [*retrievers[:N_RETRIEVERS], *agents[:N_AGENTS]]
