"""The items of a system's page: those it won, those it lost, some drawn by a seed; all systems of a board at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from lake.catalog.references import reference_of
from lake.selection import stratified
from report.leaderboard.board import Board
from report.leaderboard.gold_ledger import LEDGER_TITLES, GoldShare, shares_in
from report.models import ALL_ITEMS, RunRow

N_ITEMS = 10


Picked = Mapping[str, Any]
"""An item's `item_id` and `value`, the `other` system's and the `difference` if any, and `shares` of its gold."""


class PickedItems(NamedTuple):
    """The items on which a system gains and loses most against another run, and a seeded sample, the same for all."""

    against: RunRow | None
    won: Sequence[Picked]
    lost: Sequence[Picked]
    drawn: Sequence[Picked]


def reference_run(board: Board, run: RunRow) -> RunRow | None:
    """What a run of a board is held against: the benchmark's reference, and that against the first other system."""
    scored = [row.run for row in board.every if row.head is not None]
    name = reference_of(board.benchmark.kind, {run.system for run in scored})
    reference = next((run for run in scored if run.system == name), None)
    if reference is None or run.run_id != reference.run_id:
        return reference
    return next((row.run for row in board.systems if row.run.run_id != run.run_id), None)


def items_of(board: Board) -> Mapping[str, PickedItems]:
    """Of each run of a board the items to show."""
    against = {row.run.run_id: reference_run(board, row.run) for row in board.every if row.head is not None}
    if not against:
        return {}
    # Runs and items as numbers, in the order of their names: these tables are long.
    numbers = {"run_id": sorted(against), "run": range(len(against))}
    runs = pl.DataFrame(numbers, {"run_id": pl.String, "run": pl.UInt32})
    items = _items(board)
    scores = _scores(board, runs, items)
    number = dict(runs.iter_rows())
    compared = [(number[run_id], number[other.run_id]) for run_id, other in against.items() if other is not None]
    pairs = pl.DataFrame(compared, {"run": pl.UInt32, "other": pl.UInt32}, orient="row")
    others = scores.join(pairs.select(run="other").unique(), on="run", how="semi")
    sign = -1 if board.primary.lower_is_better else 1
    both = (
        scores.join(pairs, on="run", how="left")
        .join(others.select("item", other="run", beside="value"), on=["item", "other"], how="left")
        .with_columns(difference=pl.col("value") - pl.col("beside"))
        .with_columns(gain=pl.col("difference") * sign)
    )
    drawn = both.join(stratified(items, N_ITEMS).select("item"), on="item", how="semi").sort("run", "item")
    shown = [
        each.join(runs, on="run", maintain_order="left").join(items, on="item", maintain_order="left")
        for each in (_furthest(both), _furthest(both.with_columns(gain=-pl.col("gain"))), drawn)
    ]
    keys = pl.concat([each.select("run_id", "item_id") for each in shown]).unique()
    shares = _shares(board, keys)
    picked = [_by_run(each, shares) for each in shown]
    return {run_id: PickedItems(other, *(each.get(run_id, ()) for each in picked)) for run_id, other in against.items()}


def _items(board: Board) -> pl.DataFrame:
    """The scorable items of the slice that the board opens with, numbered in the order of their names."""
    items = board.facts.lake.scan("items", benchmark=board.benchmark.name).filter("scorable")
    columns = board.slice[0].split("/")
    if board.slice[0] != ALL_ITEMS and set(columns) <= set(items.collect_schema()):
        joined = pl.concat_str([pl.col(name).fill_null("none") for name in columns], separator="/")
        items = items.filter(joined == board.slice[1])
    return items.select("item_id", "repo").sort("item_id").with_row_index("item").collect()


def _scores(board: Board, runs: pl.DataFrame, items: pl.DataFrame) -> pl.DataFrame:
    return (
        board.facts.lake.scan("scores", benchmark=board.benchmark.name, protocol=board.protocol.name)
        .filter(pl.col("value").is_not_nan(), **board.primary.where)
        .join(runs.lazy(), on="run_id")
        .join(items.lazy(), on="item_id")
        .select("run", "item", "value")
        .collect()
    )


def _furthest(both: pl.DataFrame) -> pl.DataFrame:
    """Of each run the items that it gains most on, of equal ones the first by name."""
    gained = both.filter(pl.col("gain") > 0)
    # Few are sorted: all that gain less than the tenth are left out before.
    least = gained.group_by("run").agg(least=pl.col("gain").top_k(N_ITEMS).min())
    near = gained.join(least, on="run").filter(pl.col("gain") >= pl.col("least"))
    ordered = near.sort("run", "gain", "item", descending=[False, True, False])
    return ordered.group_by("run", maintain_order=True).head(N_ITEMS)


def _shares(board: Board, wanted: pl.DataFrame) -> Mapping[tuple[str, str], list[GoldShare]]:
    rows = (
        board.facts.lake.scan("ledger", benchmark=board.benchmark.name, protocol=board.protocol.name)
        .filter(pl.col("n_gold") > 0)
        .join(wanted.lazy(), on=["run_id", "item_id"], how="semi")
        .select("run_id", "item_id", *(pl.col(name) / pl.col("n_gold") for name in LEDGER_TITLES))
        .collect()
    )
    return {(row["run_id"], row["item_id"]): shares_in(row) for row in rows.iter_rows(named=True)}


def _by_run(rows: pl.DataFrame, shares: Mapping[tuple[str, str], list[GoldShare]]) -> dict[str, list[Picked]]:
    by_run: dict[str, list[Picked]] = {}
    for row in rows.select("run_id", "item_id", "value", "difference", other="beside").iter_rows(named=True):
        by_run.setdefault(row["run_id"], []).append(row | {"shares": shares.get((row["run_id"], row["item_id"]), ())})
    return by_run
