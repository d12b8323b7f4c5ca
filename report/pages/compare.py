"""Compare: two to six systems beside one another: verdicts, where they differ, and every item on which they do.

Scripts load each system's exact number on each item, so that they compute the same as `evaluate`: as its position in
the list of distinct numbers, from 1; 0 means no number.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from lake.tables.evaluated import LEDGER_TITLES
from lake.verdict import IN_WORDS, INSEPARABLE, PAIR_ALONE, both_ways
from report.format import COMPARE, number_key, page_path, run_key, slug, title_of, visible
from report.leaderboard.board import Board, Grid, grids
from report.leaderboard.gold_ledger import largest_class, ledger_of
from report.leaderboard.verdicts import DIGITS, PAIR_SENTENCES, board_verdict
from report.publisher import Page, Publisher, SiteMaterial
from report.render import data_file, packed, packed_json

MOST = 6
_NUMBERED = r"(?s)^((?:.*[^0-9])?)(0|[1-9][0-9]{0,14})$"
"""An id that ends with a number, by which ids with the same beginning are sorted."""


def _pages(material: SiteMaterial) -> Iterator[Page]:
    every = [outcomes for outcomes in map(BoardOutcomes, material.every_board) if len(outcomes.rows) > 1]
    files: dict[str, bytes] = {}
    for outcomes in every:
        if outcomes.board.benchmark.name in material.written_boards:
            files |= outcome_files(outcomes)
    boards_of = [
        (benchmark, page_path("pairs", name), [outcomes for outcomes in every if outcomes.board.benchmark is benchmark])
        for name, benchmark in material.benchmarks.items()
    ]
    values = {"benchmarks": boards_of, "n_boards": len(every), "most": MOST}
    description = "Two to six systems compared: verdict, difference by repository, every item that flips."
    yield Page(COMPARE, "Compare", "compare.html", values, description, files)


def _said(outcomes: BoardOutcomes) -> dict[str, object]:
    board, verdict = outcomes.board, board_verdict(outcomes.board)
    first = [run_id for run_id in (verdict.reference, verdict.run_id) if run_id in outcomes.run_ids]
    return {
        "protocol": board.protocol.name,
        "benchmark": board.benchmark.title,
        "measure": board.primary.title,
        "average": board.average,
        "averaged": board.averaging,
        "sign": {"higher": 1, "lower": -1, "neither": 0}[board.primary.rule.direction],
        "slice": title_of(board.slice[0]),
        "strata": outcomes.strata,
        "items": page_path("items", board.benchmark.name),
        "first": list(map(run_key, first if len(first) > 1 else outcomes.run_ids[:2])),
        "runs": [
            {
                "key": run_key(row.run.run_id),
                "system": visible(row.run.system),
                "name": visible(row.run.full_name),
                "kind": row.run.kind,
                "drawn": row.run.drawn,
                "state": row.state,
                "page": board.facts.system_paths[row.run.system],
            }
            for row in outcomes.rows
        ],
        "classes": list(LEDGER_TITLES.items()),
        "sentences": PAIR_SENTENCES,
        "alone": {"verdict": INSEPARABLE, "words": IN_WORDS[INSEPARABLE], "note": PAIR_ALONE},
        "digits": DIGITS,
    }


def _stratum(outcomes: BoardOutcomes, value: str) -> dict[str, object]:
    """The data of one value of the slice: each run's score with interval, ledger and precision, and all comparisons."""
    board, run_ids = outcomes.board, outcomes.run_ids
    rows = board.by_slice.filter(slice=board.slice[0], slice_value=value).select("run_id", "value", "low", "high", "n")
    means, ledger = rows.rows_by_key("run_id", unique=True), ledger_of(board).get(value, {})
    return {
        "means": [means.get(run_id) for run_id in run_ids],
        "ledger": [
            [of_run.get(name, 0.0) for name in LEDGER_TITLES]
            if (of_run := ledger.get(run_id, {})).keys() - {"precision"}
            else None
            for run_id in run_ids
        ],
        "precision": [ledger.get(run_id, {}).get("precision") for run_id in run_ids],
        "columns": PAIR_COLUMNS,
        "pairs": packed_json(outcomes.pairs.filter(slice_value=value).drop("slice_value").rows()),
    }


PAIR_COLUMNS = (
    "a", "b", "delta", "low", "high", "p", "p_adjusted", "wins", "ties", "losses", "smallest_detectable", "verdict",
    "exploratory", "n_items", "n_repos", "unit",
)  # fmt: skip
"""The columns of a pair: the positions of its runs, then columns of table `comparisons`."""


class BoardOutcomes:
    """A board's rows with scores, the values of its slice (`strata`), items, and pairs (differences: b minus a).

    The items are the scorable ones of all strata, sorted by stratum, then by id, with numbers in ids in numeric order.
    """

    def __init__(self, board: Board) -> None:
        self.board = board
        self.name = f"outcomes/{slug(board.benchmark.name)}/{slug(board.protocol.short)}"
        self.rows = [row for row in board.every if row.head is not None and row.head.n > 0]
        self.run_ids = [row.run.run_id for row in self.rows]
        slice_, first = board.slice
        others = {*board.by_slice.filter(slice=slice_)["slice_value"]} - {first}
        self.strata = [first, *sorted(others, key=number_key)]
        view = {"protocol": board.protocol.name, "slice": slice_, "granularity": board.primary.granularity}
        pairs = board.facts.comparisons.lazy().filter(pl.col("slice_value").is_in(self.strata), **view)
        a, b = (pl.col(run).cast(pl.Enum(self.run_ids), strict=False).to_physical() for run in ("run_a", "run_b"))
        ordered = both_ways(pairs).with_columns(a=a, b=b).filter(pl.col("b") < pl.col("a"))
        self.pairs = ordered.select(*PAIR_COLUMNS, "slice_value").sort("b", "a").collect()
        prefix, number = (pl.col("item_id").str.extract(_NUMBERED, group) for group in (1, 2))
        items = board.facts.lake.scan("items", benchmark=board.benchmark.name).filter("scorable")
        self.items = (
            items.with_columns(stratum=board.value_of_item.cast(pl.Enum(self.strata), strict=False).to_physical())
            .drop_nulls("stratum")
            .sort("stratum", pl.coalesce(prefix, "item_id"), number.cast(pl.Int64), "item_id")
            .select("item_id", "repo", "language", "stratum")
            .collect()
        )


def outcome_files(outcomes: BoardOutcomes) -> Iterator[tuple[str, bytes]]:
    """The data files of a board, as path and content: one per run, one on the board and items, one per stratum."""
    items = outcomes.items
    total, n, gold = np.zeros(items.height), np.zeros(items.height), np.full(items.height, np.nan)
    systems = [row for row in outcomes.rows if row.comparable and not row.run.baseline] or outcomes.rows
    every = _values(outcomes)
    for number, row in enumerate(outcomes.rows):
        values, name = {of: grid[number] for of, grid in every.items()}, f"{outcomes.name}/{run_key(row.run.run_id)}"
        is_known, why = ~np.isnan(values["value"]), np.nan_to_num(values["why"])
        gold = np.where(np.isnan(gold), values["n_gold"], gold)
        if row in systems:
            total += np.nan_to_num(values["value"])
            n += is_known
        coded: dict[str, object] = {"value": coded_numbers(values["value"])}
        if outcomes.board.average == "micro":
            for of in ("numerator", "denominator"):
                coded[of] = coded_numbers(np.where(is_known, np.nan_to_num(values[of]), np.nan))
        if not np.isnan(values["returned"]).all():
            coded |= {of: coded_numbers(values[of]) for of in ("found", "returned")}
        if why.any():
            coded["why"] = _bytes(why, 1)
        yield f"{name}.js", data_file(name, coded)
    mean = total / np.maximum(n, 1)
    most = float(np.abs(mean).max(initial=0.0)) or 1.0
    described: dict[str, object] = {
        "n": items.height,
        "ids": packed_json(items["item_id"].to_list()),
        "stratum": _bytes(items["stratum"].to_numpy(), int(items["stratum"].n_unique())),
        # The systems' mean in 255 steps.
        "ease": _bytes(np.rint(np.maximum(mean, 0) / most * 255), 1),
    }
    for name in ("repo", "language"):
        values_of = items[name].unique().sort()
        described[f"{name}s"] = values_of.to_list()
        described[name] = _bytes((items[name].rank("dense") - 1).to_numpy(), len(values_of))
    yield f"{outcomes.name}.js", data_file(outcomes.name, {**_said(outcomes), **described, "gold": coded_numbers(gold)})
    for number, stratum in enumerate(outcomes.strata):
        name = f"{outcomes.name}/slice-{number}"
        yield f"{name}.js", data_file(name, _stratum(outcomes, stratum))


def _values(outcomes: BoardOutcomes) -> dict[str, Grid]:
    """Arrays of shape (runs, items): primary metric, ledger (`why`: its largest class, from 1), lines returned."""
    board, lake = outcomes.board, outcomes.board.facts.lake
    folders = {"benchmark": board.benchmark.name, "protocol": board.protocol.name}
    lines = {"granularity": "line", "metric": "line_precision", "k": board.primary.k}
    of_primary, of_lines = (
        pl.all_horizontal(pl.col(name) == value for name, value in where.items())
        for where in (board.primary.where, lines)
    )
    scores = lake.scan("scores", **folders).filter(of_primary | of_lines).collect()
    ledger = lake.scan("ledger", **folders).filter(pl.col("n_gold") > 0).collect()
    of = (outcomes.run_ids, outcomes.items["item_id"])
    return {
        **grids(scores.filter(of_primary), *of, value="value", numerator="numerator", denominator="denominator"),
        **grids(ledger.with_columns(why=largest_class() + 1), *of, n_gold="n_gold", found="found", why="why"),
        **grids(scores.filter(of_lines), *of, returned="denominator"),
    }


def coded_numbers(values: Grid) -> dict[str, object]:
    """Numbers, coded without loss: the distinct ones, ascending, and each item's position in them from 1 (0: NaN)."""
    is_known = ~np.isnan(values)
    different, codes = np.unique(values[is_known]), np.zeros(len(values), np.int64)
    codes[is_known] = np.searchsorted(different, values[is_known]) + 1
    return {"values": packed(different.astype("<f8").tobytes()), "codes": _bytes(codes, len(different))}


def _bytes(codes: Grid, largest: int) -> str:
    """Non-negative integers as packed bytes, each as wide as the largest needs: 1, 2 or 4 bytes."""
    return packed(codes.astype(np.min_scalar_type(largest).newbyteorder("<")).tobytes())


COMPARE_PAGES = Publisher("compare", 60, __doc__, _pages, lambda _: [("Compare", COMPARE)])
