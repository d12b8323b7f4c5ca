"""A leaderboard as data that its page loads on demand: the board itself, and a file per measure with every slice."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

import polars as pl

from lake.store import Lake
from lake.verdict import mirrored
from report.charts.kinds import kind_of
from report.data_files import data_file
from report.facts import Facts
from report.leaderboard.board import Board
from report.leaderboard.columns import Column
from report.leaderboard.gold_ledger import shares_of
from report.leaderboard.main_table import in_order_of_names, keys_of, named, position
from report.leaderboard.rows import Row
from report.parameters import WHOLE
from report.shown import slug, visible
from report.slices import in_numbers_order, place_of, title_of

_NUMBERS = (
    "macro", "low", "high", "micro", "micro_low", "micro_high", "by_repo", "by_repo_low", "by_repo_high",
)  # fmt: skip
FIELDS = (
    *_NUMBERS, "n", "n_failed", "share_of_oracle", "read", "delta", "delta_low", "delta_high", "rank", "rank_low",
    "rank_high", "tie_group", "too_few",
)  # fmt: skip
"""What a measure's file has of a run in a slice, in this order; what is missing at the end is left out."""

_WHERE = ("slice", "slice_value")
_MEASURE = ("granularity", "metric", "k")
_DIGITS = 6


def board_path(board: Board) -> str:
    """Where a board's data lies in the site, without the suffix."""
    return f"boards/{slug(board.benchmark.name)}/{slug(board.protocol.short)}"


def measure_path(board: Board, column: Column) -> str:
    """Where those of a measure lie, without the suffix."""
    granularity, metric, k = column.measure
    return f"{board_path(board)}/{slug(granularity)}-{slug(metric)}-{k}"


def board_files(lake: Lake, facts: Facts, board: Board, reference: Row | None) -> dict[str, bytes]:
    """The files of a board: path in the site → content.

    Args:
        lake: Where the comparisons of every measure and slice are.
        facts: Everything else.
        board: The board.
        reference: The system that all are held against.
    """
    runs = in_order_of_names(board)
    place = {row.run.run_id: number for number, row in enumerate(runs)}
    mine = _numbers(lake, facts, board, reference, list(place))
    parts = mine.partition_by(_MEASURE, as_dict=True)
    empty = mine.clear()
    files: dict[str, object] = {
        measure_path(board, column): _measure(parts.get(column.measure, empty), place) for column in board.columns
    }
    files[board_path(board)] = _board(facts, board, reference, runs)
    times = {
        place[row.run.run_id]: [cost.index_seconds, cost.index_bytes, cost.query_p50, cost.query_p95, cost.hardware]
        for row in runs
        if (cost := row.run.cost)
    }
    files[f"{board_path(board)}/costs"] = times
    return {f"{path}.js": data_file(path, value) for path, value in files.items()}


def _numbers(lake: Lake, facts: Facts, board: Board, reference: Row | None, runs: list[str]) -> pl.DataFrame:
    """The aggregates of a board's runs, with what is read for them and how far they are above the reference."""
    of_protocol = pl.col("protocol") == board.protocol.name
    mine = facts.aggregates.lazy().filter(of_protocol, pl.col("run_id").is_in(runs))
    compared = lake.scan("comparisons", benchmark=board.benchmark.name).filter(of_protocol)
    to = reference.run.run_id if reference else ""
    against = pl.concat([compared, mirrored(compared)], how="diagonal").filter(pl.col("run_a") == to)
    above = against.select(
        *_MEASURE, *_WHERE, "delta", run_id="run_b", delta_low=pl.col("low"), delta_high=pl.col("high")
    )
    read = (
        facts.characters.lazy()
        .filter(of_protocol)
        .select("run_id", "k", *_WHERE, pl.col("read").round(0).cast(pl.Int64))
    )
    joined = mine.join(above, on=[*_MEASURE, *_WHERE, "run_id"], how="left").join(
        read, on=["run_id", "k", *_WHERE], how="left"
    )
    short = [shortened(name) for name in (*_NUMBERS, "share_of_oracle", "delta", "delta_low", "delta_high")]
    return joined.with_columns(short).collect()


def shortened(name: str) -> pl.Expr:
    """A number to six decimals, unless that would lie half-way between two that may be shown and so round anew."""
    short = pl.col(name).round(_DIGITS)
    is_half_way = (short * 10**_DIGITS).round(0).cast(pl.Int64) % 500 == 0
    return pl.when(is_half_way).then(pl.col(name)).otherwise(short).alias(name)


def _measure(rows: pl.DataFrame, place: Mapping[str, int]) -> dict[str, list[object]]:
    """A slice and its value → the runs' fields, each at the run's place."""
    found: dict[str, list[object]] = {}
    for slice_, value, run_id, *fields in rows.select(*_WHERE, "run_id", *FIELDS).iter_rows():
        while fields and fields[-1] is None:
            fields.pop()
        found.setdefault(f"{slice_}={visible(value)}", [None] * len(place))[place[run_id]] = fields
    return dict(sorted(found.items()))


def _board(facts: Facts, board: Board, reference: Row | None, runs: list[Row]) -> dict[str, object]:
    ledger, names, keys = shares_of(facts, board), named(facts, board), keys_of(board)
    return {
        "benchmark": visible(board.benchmark.title),
        "protocol": board.protocol.name,
        "short": board.protocol.short,
        "average": board.average,
        "slice": f"{board.slice[0]}={visible(board.slice[1])}",
        "fields": FIELDS,
        "reference": runs.index(reference) if reference else None,
        "citation": board.benchmark.declaration.citation,
        "columns": [
            {
                "name": column.name,
                "title": column.title,
                "level": column.granularity,
                "quantity": column.quantity,
                "better": column.better,
                "micro": column.micro,
                "steps": column.of_steps,
                "path": measure_path(board, column),
            }
            for column in board.columns
        ],
        "slices": slices_of(facts, board),
        "runs": [
            {
                "id": row.run.run_id,
                "key": keys[row.run.run_id],
                "system": visible(row.run.system),
                "name": names[row.run.run_id].name,
                "by": names[row.run.run_id].by,
                "path": quote(facts.system_paths[row.run.system]),
                "kind": row.run.kind,
                "shape": kind_of(row.run),
                "mark": row.run.retriever if row.run.baseline else "",
                "origin": row.run.provenance,
                "whole": row.run.comparable,
                "state": "" if row.run.comparable else row.state,
                "chunks": count.n if (count := position(facts, row)) else None,
                "ledger": [[one.name, one.title, round(one.share, 4)] for one in ledger.get(row.run.run_id, ())],
            }
            for row in runs
        ],
    }


def slices_of(facts: Facts, board: Board) -> list[dict[str, object]]:
    """The slices to choose from: each with its values, their items and the items that the primary metric applies to."""
    granularity, metric, k = board.primary.measure
    primary = facts.aggregates.filter(
        pl.col("run_id").is_in([row.run.run_id for row in (*board.rows, *board.unranked)]),
        protocol=board.protocol.name, granularity=granularity, metric=metric, k=k,
    )  # fmt: skip
    asked = pl.col("n_items") - pl.col("n_not_applicable")
    sizes = primary.group_by(_WHERE).agg(pl.col("n_items").max(), asked=asked.max())
    of = {(slice_, value): (n, asked) for slice_, value, n, asked in sizes.iter_rows()}
    values = {slice_: [value for name, value in of if name == slice_] for slice_, _ in of}
    # What holds the very items of another adds nothing to choose from.
    kept = [name for name in values if len(values[name]) > 1 or name in (WHOLE, board.slice[0])]
    ordered = sorted(kept, key=lambda name: (name != board.slice[0], name != WHOLE, place_of(name)))
    tasks = {row.run.task for row in board.rows}
    known = {
        name: max((facts.slice_sizes.get((board.protocol.name, task, name), (0, 0)) for task in tasks), default=(0, 0))
        for name in ordered
    }
    return [
        {
            "name": name,
            "title": title_of(name),
            "values": [[visible(value), *of[name, value]] for value in in_numbers_order(values[name])],
            "n_values": known[name][0],
            "n_items": known[name][1],
        }
        for name in ordered
    ]
