"""What each system made of each item, as data that scripts load: exact numbers, so that they reckon as `evaluate` does.

A board has a file on its items and one per run: of every item the primary metric's value, and which class of the
ledger holds most of its gold. Numbers are coded as places in the list of the different ones, 0 for none.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import polars as pl

from report.data_files import data_file, packed
from report.format import in_numbers_order, run_key, slug
from report.leaderboard.board import Board
from report.leaderboard.gold_ledger import largest_class
from report.models import ALL_ITEMS

_NUMBERED = r"(?s)^((?:.*[^0-9])?)(0|[1-9][0-9]{0,14})$"
"""An id that ends with a number: those that follow one another are stored as a range."""

_STEPS_OF_DIFFICULTY = 255


class BoardOutcomes:
    """The outcomes of a board: its rows with values, the values of its slice, the opening one first, and their items.

    `name` begins what its files give their values under; `items` has the number of an item's stratum.
    """

    def __init__(self, board: Board) -> None:
        self.board = board
        self.name = f"outcomes/{slug(board.benchmark.name)}/{slug(board.protocol.short)}"
        self.rows = [row for row in board.every if row.head is not None and row.head.n > 0]
        self.run_ids = [row.run.run_id for row in self.rows]
        slice_, first = board.slice
        self.strata = [first, *in_numbers_order({*board.by_slice.filter(slice=slice_)["slice_value"]} - {first})]
        self.items = _items(board, self.strata)


def _items(board: Board, strata: Sequence[str]) -> pl.DataFrame:
    """The scorable items of all strata, those of one together, numbers in ids by their size."""
    joined = [pl.col(name).fill_null("none") for name in board.slice[0].split("/")]
    value = pl.lit(ALL_ITEMS) if board.slice[0] == ALL_ITEMS else pl.concat_str(joined, separator="/")
    kinds = {"slice_value": pl.String(), "stratum": pl.UInt32()}
    prefix, number = (pl.col("item_id").str.extract(_NUMBERED, group) for group in (1, 2))
    return (
        board.facts.lake.scan("items", benchmark=board.benchmark.name)
        .filter("scorable")
        .with_columns(slice_value=value, prefix=prefix, number=number.cast(pl.Int64))
        .join(pl.LazyFrame({"slice_value": strata, "stratum": range(len(strata))}, kinds), on="slice_value")
        .sort("stratum", pl.coalesce("prefix", "item_id"), "number", "item_id")
        .select("item_id", "repo", "language", "stratum", "prefix", "number")
        .collect()
    )


def outcome_files(outcomes: BoardOutcomes, about_board: Mapping[str, object]) -> Iterator[tuple[str, bytes]]:
    """The files of a board's outcomes, path and content; what is said of the board is in that on the items."""
    n_items = outcomes.items.height
    total, n, gold = np.zeros(n_items), np.zeros(n_items), np.full(n_items, np.nan)
    systems = [row for row in outcomes.rows if row.comparable and not row.run.baseline] or outcomes.rows
    every = _values(outcomes)
    for number, row in enumerate(outcomes.rows):
        values, name = {of: grid[number] for of, grid in every.items()}, f"{outcomes.name}/{run_key(row.run.run_id)}"
        gold = np.where(np.isnan(gold), values["n_gold"], gold)
        if row in systems:
            total += np.nan_to_num(values["value"])
            n += ~np.isnan(values["value"])
        yield f"{name}.js", data_file(name, _coded(outcomes.board, values))
    about = {**about_board, **_described(outcomes.items, total / np.maximum(n, 1)), "gold": coded_numbers(gold)}
    yield f"{outcomes.name}.js", data_file(outcomes.name, about)


Numbers = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


def _values(outcomes: BoardOutcomes) -> dict[str, Numbers]:
    """By run and item, NaN where there is none: the primary metric's value, numerator and denominator; why.

    That is which class of the ledger holds most of its gold, counted from 1. Where lines are counted, n_gold, found
    and returned are how many are gold, how many of these were found, among how many.
    """
    board, lake = outcomes.board, outcomes.board.facts.lake
    folders = {"benchmark": board.benchmark.name, "protocol": board.protocol.name}
    stored = lake.scan("scores", **folders)
    scores = stored.filter(**board.primary.where)
    lines = stored.filter(granularity="line", metric="line_precision", k=board.primary.k)
    ledger = lake.scan("ledger", **folders).filter(pl.col("n_gold") > 0).with_columns(why=largest_class() + 1)
    # As numbers: joins by two texts took most of the time.
    ids = {"run_id": outcomes.run_ids, "item_id": outcomes.items["item_id"].to_list()}
    at = [pl.col(name).cast(pl.Enum(known), strict=False).to_physical() for name, known in ids.items()]

    def grids(rows: pl.LazyFrame, **columns: str) -> dict[str, Numbers]:
        known = rows.select(*at, **columns).drop_nulls(list(ids)).collect()
        every: dict[str, Numbers] = {}
        for name in columns:
            every[name] = np.full((len(outcomes.run_ids), outcomes.items.height), np.nan)
            every[name][known["run_id"], known["item_id"]] = known[name].cast(pl.Float64)
        return every

    return {
        **grids(scores, value="value", numerator="numerator", denominator="denominator"),
        **grids(ledger, n_gold="n_gold", found="found", why="why"),
        **grids(lines, returned="denominator"),
    }


def _coded(board: Board, values: Mapping[str, Numbers]) -> dict[str, object]:
    coded: dict[str, object] = {"value": coded_numbers(values["value"])}
    if board.average == "micro":
        is_known = ~np.isnan(values["value"])
        for name in ("numerator", "denominator"):
            coded[name] = coded_numbers(np.where(is_known, np.nan_to_num(values[name]), np.nan))
    if not np.isnan(values["returned"]).all():
        coded |= {name: coded_numbers(values[name]) for name in ("found", "returned")}
    why = np.nan_to_num(values["why"])
    return {**coded, "why": _bytes(why, 1)} if why.any() else coded


def coded_numbers(values: Numbers) -> dict[str, object]:
    """Numbers, each exactly: the different ones ascending, and the place of each item's own, from 1; 0 for none."""
    is_known = ~np.isnan(values)
    different, places = np.unique(values[is_known], return_inverse=True)
    codes = np.zeros(len(values), np.int64)
    codes[is_known] = places + 1
    return {"values": packed(different.astype("<f8").tobytes()), "codes": _bytes(codes, len(different))}


def _bytes(codes: np.ndarray[tuple[int, ...], np.dtype[np.generic]], largest: int) -> str:
    """Whole numbers, in as many bytes each as the largest needs: 1, 2 or 4."""
    width = 1 if largest < 1 << 8 else 2 if largest < 1 << 16 else 4
    return packed(codes.astype(f"<u{width}").tobytes())


def _described(items: pl.DataFrame, mean: np.ndarray[tuple[int], np.dtype[np.float64]]) -> dict[str, object]:
    """What scripts need to know of the items; how hard each is, by the systems' mean, in 255 steps."""
    most = float(np.abs(mean).max(initial=0.0)) or 1.0
    described: dict[str, object] = {
        "n": items.height,
        "ids": packed(json.dumps(_ranges(items), separators=(",", ":")).encode()),
        "stratum": _bytes(items["stratum"].to_numpy(), int(items["stratum"].n_unique())),
        "ease": _bytes(np.rint(np.maximum(mean, 0) / most * _STEPS_OF_DIFFICULTY), 1),
    }
    for name in ("repo", "language"):
        values = items[name].unique().sort()
        described[f"{name}s"] = values.to_list()
        described[name] = _bytes((items[name].rank("dense") - 1).to_numpy(), len(values))
    return described


def _ranges(items: pl.DataFrame) -> list[list[object]]:
    """The ids in order: `[prefix, first number, how many]`, or `[id]` of one that ends with no number."""
    follows = (pl.col("prefix") == pl.col("prefix").shift(1)) & (pl.col("number") == pl.col("number").shift(1) + 1)
    ranges = (
        items.group_by((~follows.fill_null(value=False)).cum_sum().alias("range"), maintain_order=True)
        .agg(pl.col("item_id", "prefix", "number").first(), n=pl.len())
        .select("item_id", "prefix", "number", "n")
    )
    return [[item] if prefix is None else [prefix, number, n] for item, prefix, number, n in ranges.iter_rows()]
