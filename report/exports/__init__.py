"""Results for other tools: the leaderboards, or one run's ranking or scores, in the formats people ask for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path

import polars as pl

from lake.errors import Exit, GoldspanError, lookup
from lake.store import Lake
from lake.text import counted
from report.context_json import context_json
from report.exports.beir_folder import beir_folder
from report.exports.bundle import bundled
from report.exports.choice import Choice, run_named
from report.exports.judged import ExportedRun
from report.exports.rankings import answers, beir_results, qrels, ranx, trec, tsv
from report.exports.wide import MAX_COLUMNS, latex, markdown
from report.exports.writing import check_output, write, write_folder
from report.facts import load
from report.leaderboard.board import AVERAGES, Board

RANKING, SCORES = "ranking", "scores"


Written = bytes | Mapping[str, bytes]
"""A file, or the files of a folder by their paths in it."""


@dataclass(frozen=True)
class Format:
    """A way of writing rows.

    Attributes:
        meaning: What a reader gets.
        of: What it can hold: leaderboards, a run, or both.
        write: Rows to bytes; for formats that lay out a table also the boards that they came from, and what was chosen.
        of_run: A run of the lake, and a protocol or none, to how many rows and bytes, for a form that no single table
            has; the rows are None where nothing is counted.
        is_binary: It is no text, or a folder, and never goes to stdout.
    """

    meaning: str
    of: str
    write: Callable[[pl.DataFrame, Sequence[Board], Choice], bytes] | None = None
    of_run: Callable[[Lake, str, str], tuple[int | None, Written]] | None = None
    is_binary: bool = False


def export(
    lake: Lake, run: str | None, format_name: str, output: Path | None, table: str, choice: Choice | None = None
) -> str:
    """Write the leaderboards, or a run's ranking or scores, to a file or to stdout; returns what was written.

    Args:
        lake: Where the results are.
        run: A run's id, or the name of a system that has one run; None for the leaderboards.
        format_name: One of FORMATS.
        output: The file; None for stdout.
        table: Of a run: `ranking` or `scores`.
        choice: Of the leaderboards: which numbers; of a run: of which benchmark and protocol.

    Raises:
        GoldspanError: No such format, run or table, or the format cannot hold what was asked for.
    """
    chosen = lookup(format_name, "format", FORMATS)
    wanted = "leaderboards" if run is None else "a run"
    if chosen.of not in (wanted, "both"):
        message = f"format {format_name!r} holds {chosen.of}, not {wanted}"
        hint = "Name a run: python -m report export RUN_ID" if run is None else "Leave the run out, or use csv."
        raise GoldspanError(message, hint=hint, code=Exit.USAGE)
    choice = choice or Choice()
    if run is not None and replace(choice, benchmark="", protocol="") != Choice():
        message = "a run is exported whole: --slice, --metrics, --systems, --top choose boards"
        raise GoldspanError(message, code=Exit.USAGE)
    check_output(output)
    if output is None and chosen.is_binary:
        message = f"{format_name} is no text: name a file with -o, or the folder where it is one"
        raise GoldspanError(message, code=Exit.USAGE)
    n_rows, data = _made(lake, run, chosen, table, choice)
    if isinstance(data, bytes):
        write(output, data)
    elif output is not None:
        write_folder(output, data)
    n_bytes = len(data) if isinstance(data, bytes) else sum(map(len, data.values()))
    counts = "" if n_rows is None else f"{counted(n_rows, 'row')}, "
    return f"{output or 'stdout'}: {counts}{counted(n_bytes, 'byte')}"


def _made(lake: Lake, run: str | None, chosen: Format, table: str, choice: Choice) -> tuple[int | None, Written]:
    """What is written, and how many rows it has where those are counted."""
    boards = choice.boards(load(lake)) if run is None else []
    run_id = run and run_named(lake, run, choice.benchmark, choice.protocol)
    if run_id and chosen.of_run is not None:
        return chosen.of_run(lake, run_id, choice.protocol)
    rows = _of_run(lake, run_id, table, choice.protocol) if run_id else _numbers(boards)
    assert chosen.write is not None
    return rows.height, chosen.write(rows, boards, choice)


def _numbers(boards: Sequence[Board]) -> pl.DataFrame:
    """A row per number of the boards: system, metric and average, over which of the items, its value and interval.

    `is_shown`: the page shows the metric averaged so.
    """
    rows = [
        {
            "benchmark": board.benchmark.name,
            "protocol": board.protocol.name,
            "slice": board.slice[0],
            "slice_value": board.slice[1],
            "system": row.run.system,
            "run_id": row.run.run_id,
            "kind": row.run.kind,
            "status": row.run.status,
            "limit": row.run.limit,
            "granularity": column.granularity,
            "metric": column.measure[1],
            "k": column.measure[2],
            "average": average,
            "is_shown": average == board.averaged(column, board.average),
            "value": value,
            **{name: getattr(row.cells[column.measure], name) for name in POPULATION},
            "is_compared": row.comparable,
            "tie_group": row.head.tie_group if row.head is not None and column == board.primary else None,
        }
        for board in boards
        for row in (*board.rows, *board.unranked)
        for column in board.columns
        for average in AVERAGES
        if (value := row.value(column, average)) is not None
    ]
    if not rows:
        message = "there is no number to export: no run has been scored"
        raise GoldspanError(message, hint="Make one with: make evaluate", code=Exit.MISSING)
    return pl.DataFrame(rows, infer_schema_length=None).with_columns(pl.col("limit", "tie_group").cast(pl.Int64))


POPULATION = ("n", "n_items", "n_failed", "n_not_applicable")
"""Over how many of how many items a number is."""


def _of_run(lake: Lake, run_id: str, table: str, protocol: str) -> pl.DataFrame:
    tables = {RANKING: "hits", SCORES: "scores"}
    keys = {RANKING: ["item_id", "part", "step", "rank"], SCORES: ["protocol", "item_id", "granularity", "metric", "k"]}
    of_protocol = {"protocol": protocol} if protocol and table == SCORES else {}
    rows = lake.read(lookup(table, "table", tables), run_id=run_id, **of_protocol).sort(keys[table])
    if table == RANKING:
        return rows
    (system,) = lake.read("runs", run_id=run_id)["system"]
    return rows.select(pl.lit(system).alias("system"), pl.all())


def _csv(rows: pl.DataFrame, *_: object) -> bytes:
    """A text that a spreadsheet would run as a formula has an apostrophe before it; numbers stay numbers."""
    text = pl.col(pl.String)
    safe = pl.when(text.str.contains(_FORMULA)).then(pl.lit("'") + text).otherwise(text)
    return rows.with_columns(safe.name.keep()).write_csv().encode()


_FORMULA = r"^[=+\-@\t\r\n\x{ff1d}\x{ff0b}\x{ff0d}\x{ff20}]"
"""How a formula begins, also in full width; a spreadsheet skips leading tabs and ends of lines."""


def _json(rows: pl.DataFrame, *_: object) -> bytes:
    return (rows.write_json() + "\n").encode()


def _parquet(rows: pl.DataFrame, *_: object) -> bytes:
    into = BytesIO()
    rows.write_parquet(into, compression="zstd")
    return into.getvalue()


def _ranking(lake: Lake, run_id: str, write_: Callable[[pl.DataFrame], bytes]) -> tuple[int, bytes]:
    ranking = ExportedRun.of(lake, run_id).ranking
    return ranking.height, write_(ranking)


def _qrels(lake: Lake, run_id: str, protocol: str) -> tuple[int, bytes]:
    run = ExportedRun.of(lake, run_id)
    rows = run.qrels(run.protocol(protocol))
    return rows.height, qrels(rows)


def _latex(_: pl.DataFrame, boards: Sequence[Board], choice: Choice) -> bytes:
    return latex(boards, None if choice.metrics else MAX_COLUMNS)


def _bundle(rows: pl.DataFrame, boards: Sequence[Board], choice: Choice) -> bytes:
    kinds = {"csv": _csv, "json": _json, "parquet": _parquet}
    files = {f"numbers.{name}": (rows.height, made(rows)) for name, made in kinds.items()}
    n_lines = sum(len(board.rows) + len(board.unranked) for board in boards)
    return bundled(
        {**files, "tables.md": (n_lines, markdown(boards)), "tables.tex": (n_lines, _latex(rows, boards, choice))}
    )


FORMATS: Mapping[str, Format] = {
    "csv": Format("comma-separated values, a row per number", "both", _csv),
    "json": Format("a list of objects", "both", _json),
    "parquet": Format("Parquet; needs -o", "both", _parquet, is_binary=True),
    "md": Format(
        "a Markdown table per protocol, as the page shows it", "leaderboards", lambda _, boards, __: markdown(boards)
    ),
    "latex": Format(
        "a LaTeX document, a table per protocol, of at most 8 columns unless --metrics names them",
        "leaderboards",
        _latex,
    ),
    "bundle": Format("a zip of these five with a manifest; needs -o", "leaderboards", _bundle, is_binary=True),
    "trec": Format(
        "a TREC run: six columns, documents as path#L10-L20",
        "a run",
        of_run=lambda lake, run_id, _: _ranking(lake, run_id, trec),
    ),
    "qrels": Format("TREC's relevance judgements for that run, under one protocol", "a run", of_run=_qrels),
    "ranx": Format(
        "JSON, {query: {document: score}}",
        "a run",
        of_run=lambda lake, run_id, _: _ranking(lake, run_id, ranx),
    ),
    "tsv": Format(
        "tab-separated columns: item_id, document, rank, score",
        "a run",
        of_run=lambda lake, run_id, _: _ranking(lake, run_id, tsv),
    ),
    "answers": Format(
        "JSON lines as a program answers `ingest run --search`",
        "a run",
        of_run=lambda lake, run_id, _: _ranking(lake, run_id, answers),
    ),
    "beir-results": Format(
        "BEIR's table of results: query-id, corpus-id, score",
        "a run",
        of_run=lambda lake, run_id, _: _ranking(lake, run_id, beir_results),
    ),
    "beir": Format(
        "a folder in BEIR's layout: the run's documents and queries with their texts, judgements, run.trec; needs -o",
        "a run",
        of_run=beir_folder,
        is_binary=True,
    ),
    "contextbench": Format(
        "JSON lines as ContextBench's evaluator writes them",
        "a run",
        of_run=lambda lake, run_id, _: (None, context_json(lake, run_id)),
    ),
}
"""Every format by name."""
