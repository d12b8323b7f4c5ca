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
    total, n = np.zeros(n_items), np.zeros(n_items)
    gold = pl.Series([None] * n_items, dtype=pl.Float64)
    systems = [row for row in outcomes.rows if row.comparable and not row.run.baseline] or outcomes.rows
    every = _values(outcomes)
    for number, row in enumerate(outcomes.rows):
        values, name = every.slice(number * n_items, n_items), f"{outcomes.name}/{run_key(row.run.run_id)}"
        gold = gold.fill_null(values["n_gold"])
        if row in systems:
            total += values["value"].fill_null(0.0).to_numpy()
            n += values["value"].is_not_null().to_numpy()
        yield f"{name}.js", data_file(name, _coded(outcomes.board, values))
    about = {**about_board, **_described(outcomes.items, total / np.maximum(n, 1)), "gold": coded_numbers(gold)}
    yield f"{outcomes.name}.js", data_file(outcomes.name, about)


def _values(outcomes: BoardOutcomes) -> pl.DataFrame:
    """Run by run, of every item the primary metric's value, numerator and denominator, null where there is none; why.

    That is which class of the ledger holds most of its gold, counted from 1; 0 for none. Where lines are counted,
    n_gold, found and returned are how many are gold, how many of these were found, among how many.
    """
    board, lake = outcomes.board, outcomes.board.facts.lake
    folders = {"benchmark": board.benchmark.name, "protocol": board.protocol.name}
    stored = lake.scan("scores", **folders)
    scores = stored.filter(**board.primary.where)
    lines = stored.filter(granularity="line", metric="line_precision", k=board.primary.k)
    ledger = lake.scan("ledger", **folders).filter(pl.col("n_gold") > 0).with_columns(why=largest_class() + 1)
    runs = pl.LazyFrame({"run_id": outcomes.run_ids}, {"run_id": pl.String}).with_row_index("run")
    items, n_items = outcomes.items.lazy().select("item_id").with_row_index("item"), outcomes.items.height
    # One number for run and item: what is long is joined by it, and not by two texts.
    at = (pl.col("run").cast(pl.Int64) * n_items + pl.col("item")).alias("at")

    def placed(rows: pl.LazyFrame, *columns: str | pl.Expr) -> pl.LazyFrame:
        return rows.join(runs, on="run_id").join(items, on="item_id").select(at, *columns)

    return (
        pl.LazyFrame()
        .select(at=pl.int_range(len(outcomes.run_ids) * n_items))
        .join(placed(scores, "value", *_SUMS), on="at", how="left", maintain_order="left")
        .join(placed(ledger, "n_gold", "found", "why"), on="at", how="left", maintain_order="left")
        .join(placed(lines, pl.col("denominator").alias("returned")), on="at", how="left", maintain_order="left")
        .with_columns(pl.col("why").fill_null(0))
        .collect()
    )


_SUMS = ("numerator", "denominator")


def _coded(board: Board, values: pl.DataFrame) -> dict[str, object]:
    coded: dict[str, object] = {"value": coded_numbers(values["value"])}
    if board.average == "micro":
        sums = values.select(pl.when(pl.col("value").is_not_null()).then(pl.col(name).fill_null(0.0)) for name in _SUMS)
        coded |= {name: coded_numbers(sums[name]) for name in sums.columns}
    if values["returned"].count():
        coded |= {name: coded_numbers(values[name]) for name in ("found", "returned")}
    return {**coded, "why": _bytes(values["why"].to_numpy(), 1)} if values["why"].max() else coded


def coded_numbers(values: pl.Series) -> dict[str, object]:
    """Numbers, each exactly: the different ones ascending, and the place of each item's own, from 1; 0 for none."""
    # Of nulls numpy makes NaN; no number here is one.
    array = values.to_numpy().astype(np.float64)
    is_known = ~np.isnan(array)
    different, places = np.unique(array[is_known], return_inverse=True)
    codes = np.zeros(len(array), np.int64)
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
