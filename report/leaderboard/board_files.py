"""A leaderboard as data that its page loads on demand: the board itself, and a file per measure with every slice."""

import json
from urllib.parse import quote

import polars as pl

from lake.averages import AVERAGES, ITEM_INTERVALS, average_columns
from report.format import run_key, slug, visible
from report.leaderboard.board import Board, BoardRow, Column, Measure
from report.leaderboard.gold_ledger import precisions_of, shares_of
from report.leaderboard.main_table import slices_of
from report.leaderboard.verdicts import board_sentence, sentences
from report.models import MEASURE
from report.render import data_file, data_file_of

_NUMBERS = tuple(name for average in AVERAGES for name in average_columns(average))
MEASURE_FIELDS = (
    *_NUMBERS, "n", "n_failed", "share_of_oracle", "read", "delta", "delta_low", "delta_high", "rank", "rank_low",
    "rank_high", "tie_group", "too_few", "unit",
)  # fmt: skip
"""What a measure's file has of a run in a slice, in this order; what is missing at the end is left out."""

PUBLISHED_AGAIN = "make published SOURCE=FOLDER LAKE=lake/again"
"""The command that measures again what ships; a run of the lake has one of its own."""

_DIGITS = 6


def board_path(board: Board) -> str:
    """Where a board's data lies in the site, without the suffix."""
    return f"boards/{slug(board.benchmark.name)}/{slug(board.protocol.short)}"


def measure_path(board: Board, column: Column) -> str:
    """Where those of a measure lie, without the suffix."""
    return f"{board_path(board)}/{slug(column.granularity)}-{slug(column.metric)}-{column.k}"


def board_files(board: Board, reference: BoardRow | None) -> dict[str, bytes]:
    """The files of a board: path in the site → content. Differences are against the reference."""
    rows = sorted(board.every, key=lambda row: (row.run.system, row.run.run_id))
    path, measures = board_path(board), _measures(board, [row.run.run_id for row in rows])
    names = ("index_seconds", "index_bytes", "query_p50", "query_p95", "hardware")
    measured = {number: [row.run.cost[name] for name in names] for number, row in enumerate(rows) if row.run.cost}
    return {
        f"{path}.js": data_file(path, _board(board, reference, rows)),
        f"{path}/costs.js": data_file(f"{path}/costs", measured),
        **{
            f"{to}.js": data_file_of(to, measures.get(column.measure, "{}"))
            for column in board.columns
            for to in [measure_path(board, column)]
        },
    }


def shortened(name: str) -> pl.Expr:
    """A number to six decimals, unless that would lie half-way between two that may be shown and so round anew."""
    short = pl.col(name).round(_DIGITS)
    is_half_way = (short * 10**_DIGITS).round(0).cast(pl.Int64) % 500 == 0
    return pl.when(is_half_way).then(pl.col(name)).otherwise(short).alias(name)


def _measures(board: Board, run_ids: list[str]) -> dict[Measure, str]:
    """Measure → as JSON, `slice=value` → of each run the MEASURE_FIELDS up to the last that is known, or null."""
    stored, view = board.numbers, ["position", "slice", "slice_value"]
    # In the order of the table's key, in which those of each average are stored: it has a row for each of these.
    rows = stored.filter("is_shown").drop("value", "low", "high", "share_of_oracle")
    averaged = [
        stored.filter(average=average).select(
            **dict(zip(average_columns(average), ("value", "low", "high"), strict=True)),
            **({"share_of_oracle": "share_of_oracle"} if average == "macro" else {}),
        )
        for average in AVERAGES
    ]
    short = [shortened(name) for name in (*_NUMBERS, "share_of_oracle", "delta", "delta_low", "delta_high")]
    whole, unit = pl.col("read").round(0).cast(pl.Int64), pl.format('"{}"', "unit").alias("unit")
    numbers = pl.concat([rows.sort(*view[1:], "run_id", "column"), *averaged], how="horizontal")
    # As text at once: there are millions of them.
    fields = numbers.with_columns(*short, whole, unit).select(MEASURE_FIELDS)
    text = fields.write_csv(include_header=False, null_value="null", quote_style="never")
    row = pl.format("[{}]", pl.Series("row", text.splitlines(), pl.String).str.replace("(?:,null)+$", ""))
    at = pl.col("run_id").replace_strict(run_ids, range(len(run_ids)), return_dtype=pl.Int64)
    n_missing = pl.col("at") - pl.col("at").shift(1).over(view).fill_null(-1) - 1
    missing = pl.lit("null," * len(run_ids)).str.slice(0, n_missing * len("null,"))
    by_view = (
        numbers.select(*MEASURE, *view, row.alias("row"), at=at)
        .sort(*view, "at")
        .with_columns(row=missing + pl.col("row"))
        .group_by(*MEASURE, *view[1:], maintain_order=True)
        .agg(pl.col("row").str.join(","))
    )
    by_measure: dict[Measure, dict[str, str]] = {}
    for granularity, metric, k, slice_, value, joined in by_view.iter_rows():
        by_measure.setdefault((granularity, metric, k), {})[f"{slice_}={visible(value)}"] = joined
    return {
        measure: "{" + ",".join(f"{json.dumps(key, ensure_ascii=False)}:[{by[key]}]" for key in sorted(by)) + "}"
        for measure, by in by_measure.items()
    }


def _board(board: Board, reference: BoardRow | None, rows: list[BoardRow]) -> dict[str, object]:
    ledger, precisions = shares_of(board), precisions_of(board)[board.slice[1]]
    # Of views without a stored comparison is said what is concluded of the opening one, named.
    by_view, verdict = {**sentences(board)}, board_sentence(board)
    by_view[board.primary.name] = {**by_view.get(board.primary.name, {}), board.view: verdict}
    return {
        "benchmark": visible(board.benchmark.title),
        "protocol": board.protocol.name,
        "short": board.protocol.short,
        "average": board.average,
        "slice": board.view,
        "fields": MEASURE_FIELDS,
        "itemIntervals": f"{ITEM_INTERVALS}. ",
        "reference": rows.index(reference) if reference else None,
        "again": PUBLISHED_AGAIN if board.benchmark.is_edition else "",
        "citation": board.benchmark.citation,
        "averages": {name: average.meaning for name, average in AVERAGES.items()},
        "columns": [
            {
                "name": column.name,
                "title": column.title,
                "level": column.granularity,
                "quantity": column.quantity,
                "better": column.rule.direction,
                "micro": column.rule.micro,
                "steps": column.rule.of_steps,
                "path": measure_path(board, column),
            }
            for column in board.columns
        ],
        "slices": slices_of(board),
        "runs": [
            {
                "id": run.run_id,
                "key": run_key(run.run_id),
                "system": visible(run.system),
                "name": visible(run.short_name),
                "by": visible(run.by),
                "path": quote(board.facts.system_paths[run.system]),
                "kind": run.kind,
                "shape": run.drawn,
                "mark": run.retriever if run.baseline else "",
                "origin": run.provenance,
                "whole": run.comparable,
                "state": "" if run.comparable else row.state,
                "chunks": chunks.n if (chunks := board.facts.chunks_of(run)) else None,
                "ledger": [[share.name, share.title, round(share.share, 4)] for share in ledger.get(run.run_id, ())],
                "precision": precisions.get(run.run_id),
            }
            for row in rows
            for run in [row.run]
        ],
        "verdicts": by_view,
        "verdict": f"{board.primary.title}, {board.averaging}, {board.slice[1]}: {verdict}",
    }
