"""Exports for other tools: the leaderboards, or one run's ranking or scores, in several formats."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from io import BytesIO
from itertools import product
from pathlib import Path
from typing import NamedTuple

import polars as pl

from lake.averages import AVERAGES
from lake.benchmarks import known_protocols
from lake.errors import Exit, GoldspanError, lookup, unknown_name
from lake.pools import is_picked
from lake.store import Lake
from lake.text import counted
from report.exports.of_run import ExportedRun, beir_folder, context_json, qrels, trec, tsv
from report.exports.wide import latex_text, markdown_text, tables
from report.leaderboard.board import Board, build_board
from report.tables_read import TablesRead


@dataclass(frozen=True)
class Choice:
    """A selection of leaderboards; an empty field means all, or for `slice` the one a board opens on.

    A slice is `repo=acme/one`, or only a name if it has one value; metrics are named with or without a cut-off, systems
    may contain globs; `top` limits a board to the N best systems and all baselines.
    """

    benchmark: str = ""
    protocol: str = ""
    slice: str = ""
    metrics: Sequence[str] = ()
    systems: Sequence[str] = ()
    top: int | None = None

    def boards(self, facts: TablesRead) -> list[Board]:
        """The selected boards, reduced to the selected columns and rows; raises GoldspanError for an unknown name."""
        if self.benchmark:
            lookup(self.benchmark, "benchmark", facts.benchmarks)
        if self.protocol:
            lookup(self.protocol, "protocol", facts.protocols)
        benchmarks = [name for name in facts.benchmarks if self.benchmark in ("", name)]
        known, boards = set[str](), list[Board]()
        for protocol in [
            each for name in benchmarks for each in facts.boards(name) if self.protocol in ("", each.name)
        ]:
            rows = facts.board_rows(facts.protocols[protocol.name]).select("slice", "slice_value").unique()
            slices = rows.collect().rows() if self.slice else []
            known |= {"=".join(row) for row in slices}
            matching = [(name, value) for name, value in slices if self.slice in (name, f"{name}={value}")]
            if not self.slice or len(matching) == 1:
                boards.append(build_board(facts, protocol, *matching))
        if self.slice and not boards:
            raise unknown_name(self.slice, "slice", known)
        scored = [board for board in boards if board.every]
        metrics = {name for board in scored for column in board.columns for name in (column.name, column.metric)}
        systems = {row.run.system for board in scored for row in board.every}
        for kind, names, choices in (("metric", self.metrics, metrics), ("system", self.systems, systems)):
            for name in names:
                if choices and not any(is_picked(choice, [name]) for choice in choices):
                    raise unknown_name(name, kind, sorted(choices))
        return [part for board in scored if (part := self._part(board))]

    def _part(self, board: Board) -> Board | None:
        """The board reduced to the selected columns and rows; None if no column or no row is left."""
        metrics = self.metrics
        columns = [each for each in board.columns if not metrics or each.name in metrics or each.metric in metrics]
        rows = [row for row in board.every if is_picked(row.run.system, self.systems)]
        if self.top is not None:
            systems = [row for row in rows if row in board.systems][: self.top]
            rows = [*systems, *(row for row in rows if row.comparable and row.run.baseline)]
        if not columns or not rows:
            return None
        return Board(board.facts, board.protocol, board.slice, columns, rows, board.numbers)


def run_named(lake: Lake, name: str, benchmark: str = "", protocol: str = "") -> str:
    """The id of the run that `name` (a run id or a system) means; raises GoldspanError if there is none or several."""
    runs = lake.scan("runs").select("run_id", "system", "status", "benchmark", "task").collect().sort("run_id")
    if name in runs["run_id"]:
        return name
    mine = runs.filter(system=name)
    if benchmark:
        mine = mine.filter(benchmark=benchmark)
    if protocol:
        mine = mine.filter(pl.col("task").is_in(known_protocols(lake)[protocol].tasks))
    if mine.is_empty():
        raise unknown_name(name, "run or system", [*runs["system"], *runs["run_id"]])
    complete = mine.filter(status="complete")
    run_ids = (complete if complete.height else mine)["run_id"].to_list()
    if len(run_ids) > 1:
        message = f"{name} has {len(run_ids)} runs"
        hint = "Give the id of one, or --benchmark and --protocol."
        raise GoldspanError(message, examples=run_ids, hint=hint, code=Exit.USAGE)
    return str(run_ids[0])


_TABLES: Mapping[str, tuple[str, list[str]]] = {
    "ranking": ("hits", ["item_id", "part", "step", "rank"]),
    "scores": ("scores", ["protocol", "item_id", "granularity", "metric", "k"]),
}

_POPULATION = ("n", "n_items", "n_failed", "n_not_applicable")
_RANKS = ("rank", "rank_low", "rank_high", "tie_group")
"""A system's rank by the primary metric, the ranks it may have given the verdicts, and its tie group."""


class ExportFormat(NamedTuple):
    """A format `of` `leaderboards`, `a run` or `both`; one that is binary or a folder is never written to stdout."""

    meaning: str
    of: str
    write: Callable[..., bytes | Mapping[str, bytes]]
    is_binary: bool = False


def export(
    lake: Lake, run: str | None, format_name: str, output: Path | None, table: str, choice: Choice | None = None
) -> str:
    """Write the leaderboards, or a run's `table` (`ranking` or `scores`); return a line on what was written."""
    output = None if output == Path("-") else output
    chosen = lookup(format_name, "format", FORMATS)
    wanted = "leaderboards" if run is None else "a run"
    if chosen.of not in (wanted, "both"):
        message = f"format {format_name!r} is for {chosen.of}, not for {wanted}"
        hint = "Name a run: python -m report export RUN_ID" if run is None else "Leave the run out, or use csv."
        raise GoldspanError(message, hint=hint, code=Exit.USAGE)
    choice = choice or Choice()
    if run is not None and replace(choice, benchmark="", protocol="") != Choice():
        message = "--slice, --metrics, --systems and --top apply to boards, not to a run"
        raise GoldspanError(message, code=Exit.USAGE)
    if output and (not output.name or output.is_dir() or not output.parent.is_dir()):
        what = "not a file name" if output.parent.is_dir() else f"the folder {output.parent} does not exist"
        raise GoldspanError(f"-o {str(output)!r}: {what}", hint="Omit -o to write to stdout.", code=Exit.USAGE)
    if output is None and chosen.is_binary:
        message = f"{format_name} is not written to the terminal: give a file or folder with -o"
        raise GoldspanError(message, code=Exit.USAGE)
    data = chosen.write(*_content(lake, run, chosen.of, table, choice))
    files = {"": data} if isinstance(data, bytes) else data
    try:
        for name, content in files.items():
            if output is None:
                sys.stdout.buffer.write(content)
                sys.stdout.buffer.flush()
            else:
                (output / name).parent.mkdir(parents=True, exist_ok=True)
                (output / name).write_bytes(content)
    except BrokenPipeError:
        raise
    except OSError as error:
        message = f"the output could not be written: {error.strerror or error}"
        raise GoldspanError(message, where=str(output or "stdout")) from error
    return f"{output or 'stdout'}: {counted(sum(map(len, files.values())), 'byte')}"


def _content(lake: Lake, run: str | None, of: str, table: str, choice: Choice) -> tuple[object, ...]:
    """What a format writes: rows if it is `of` both leaderboards and runs, else boards and chosen metrics, or a run."""
    if run is None:
        boards = choice.boards(TablesRead(lake))
        return (_numbers(boards),) if of == "both" else (boards, choice.metrics)
    run_id = run_named(lake, run, choice.benchmark, choice.protocol)
    if of != "both":
        return (ExportedRun(lake, run_id, choice.protocol),)
    name, order = lookup(table, "table", _TABLES)
    of_protocol = {"protocol": choice.protocol} if choice.protocol and name == "scores" else {}
    rows = lake.read(name, run_id=run_id, **of_protocol).sort(order)
    if name == "hits":
        return (rows,)
    (system,) = lake.read("runs", run_id=run_id)["system"]
    return (rows.select(pl.lit(system).alias("system"), pl.all()),)


def _numbers(boards: list[Board]) -> pl.DataFrame:
    """A row per score of the boards; `is_shown` marks the average on the page; only primary metrics have ranks."""
    rows = [
        {
            "benchmark": board.benchmark.name,
            **board.where,
            **{name: getattr(row.run, name) for name in ("system", "run_id", "kind", "status", "limit")},
            **column.where,
            "average": average,
            "is_shown": average == board.averaged(column, board.average),
            **{name: getattr(cell, name) for name in ("value", "low", "high", "unit", *_POPULATION)},
            "is_compared": row.comparable,
            "is_baseline": row.run.baseline,
            **{name: getattr(cell, name) if column == row.primary else None for name in _RANKS},
        }
        for board in boards
        for row in board.in_parts
        for column, average in product(board.columns, AVERAGES)
        if (cell := row.cell(column, average)) and cell.value is not None
    ]
    if not rows:
        message = "nothing to export: no run has been scored"
        raise GoldspanError(message, hint="Make one with: make evaluate", code=Exit.MISSING)
    whole, ends = pl.col("limit", *_RANKS).cast(pl.Int64), pl.col("low", "high").cast(pl.Float64)
    return pl.DataFrame(rows, infer_schema_length=None).with_columns(whole, ends)


_FORMULA = r"^[=+\-@\t\r\n\x{ff1d}\x{ff0b}\x{ff0d}\x{ff20}]"
"""The start of a formula, also in full-width characters; spreadsheets skip leading tabs and line ends."""


def _csv(rows: pl.DataFrame) -> bytes:
    """Rows as CSV; an apostrophe is put before texts that a spreadsheet would run as a formula."""
    text = pl.col(pl.String)
    safe = pl.when(text.str.contains(_FORMULA)).then(pl.lit("'") + text).otherwise(text)
    return rows.with_columns(safe.name.keep()).write_csv().encode()


def _parquet(rows: pl.DataFrame) -> bytes:
    rows.write_parquet(into := BytesIO(), compression="zstd")
    return into.getvalue()


FORMATS: Mapping[str, ExportFormat] = {
    "csv": ExportFormat("comma-separated values, a row per number", "both", _csv),
    "json": ExportFormat("a list of objects", "both", lambda rows: f"{rows.write_json()}\n".encode()),
    "parquet": ExportFormat("Parquet; needs -o", "both", _parquet, is_binary=True),
    "md": ExportFormat(
        "a Markdown table per protocol with the page's columns, or the metrics of --metrics",
        "leaderboards",
        partial(tables, "tables.md.txt", markdown_text, "{}"),
    ),
    "latex": ExportFormat(
        "a LaTeX document, a table per protocol with the page's columns, or the metrics of --metrics",
        "leaderboards",
        partial(tables, "tables.tex.txt", latex_text, "\\textbf{{{}}}"),
    ),
    "trec": ExportFormat("a TREC run: six columns, documents as path#L10-L20", "a run", lambda run: trec(run.ranking)),
    "qrels": ExportFormat("TREC's relevance judgements for that run, under one protocol", "a run", qrels),
    "tsv": ExportFormat("tab-separated columns: item_id, document, rank, score", "a run", tsv),
    "beir": ExportFormat(
        "a folder in BEIR's layout: the run's documents and queries with their texts, judgements, run.trec; needs -o",
        "a run",
        beir_folder,
        is_binary=True,
    ),
    "contextbench": ExportFormat("JSON lines as ContextBench's evaluator writes them", "a run", context_json),
}
