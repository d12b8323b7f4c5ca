"""The rows of a list of chunks: Parquet, or tab-separated columns under a header."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import polars as pl

from ingest.runs.documents import HELP, faults_of, spans_of
from ingest.runs.formats.tsv import NAMES, names_in, rows_below
from ingest.runs.input_file import InputFile
from ingest.runs.input_rows import numbers, refuse
from lake.limits import MAX_RUN_ROWS
from lake.parquet import UnreadableParquetError, read_batches

SCOPES = ("pool_id", "repo", "item_id")
"""What says which files a chunk belongs to, the narrowest first."""

_PLACES = ("document", "path")
_LINES = ("line_start", "line_end")
_NAMES = {**NAMES, "pool_id": "pool_id", "pool": "pool_id", "repo": "repo", "repository": "repo"}
_NEEDED = (
    "A list of chunks has repo (or pool_id, or item_id), then document (path#L10-L20), or path, line_start and "
    "line_end (0-based, half-open); other columns are not read."
)


def read_rows(input_file: InputFile) -> pl.DataFrame:
    """A file's rows: position, one of SCOPES, path_given, line_start, line_end (0-based, half-open, null for a file).

    Raises:
        GoldspanError: The file holds no such rows, or one of them cannot be read.
    """
    table = _parquet(input_file) if input_file.head.startswith(b"PAR1") else _text(input_file)
    scope, place = (next((one for one in names if one in table.columns), "") for names in (SCOPES, _PLACES))
    if not scope or not place or (place == "path" and not set(_LINES) <= set(table.columns)):
        found = [name for name in table.columns if name != "position"]
        raise input_file.wrong(what=f"found the columns {found[:20]}", hint=_NEEDED)
    rows = table.with_columns(pl.col(scope).fill_null(""), pl.col(place).fill_null(""))
    if place == "document":
        spans = spans_of(rows.select("position", scope, "document")).drop("document")
        named = pl.when(pl.any_horizontal(pl.col("symbol", "nth").is_not_null()))
        fault = pl.coalesce("fault", named.then(pl.lit("a chunk is named by its lines")))
        spans = spans.with_columns(fault.alias("fault")).drop("symbol", "nth")
    else:
        rows = numbers(input_file, rows, *_LINES)
        spans = faults_of(rows.select("position", scope, *_LINES, path_given="path"))
    if spans.is_empty():
        raise input_file.wrong(what="the file holds no rows", hint=_NEEDED)
    faulty = spans.filter(pl.col("fault").is_not_null())
    shown = pl.format("{}: {}", "path_given", "fault")
    refuse(input_file, faulty, "a chunk that cannot be read", shown=shown, hint=HELP)
    return spans.drop("fault")


def _parquet(input_file: InputFile) -> pl.DataFrame:
    try:
        table = pl.concat(list(read_batches(input_file.path, _known, max_rows=MAX_RUN_ROWS)))
        named = table.rename({name: _NAMES[name] for name in table.columns}).cast(pl.String)
    except UnreadableParquetError as error:
        raise input_file.wrong(what=str(error)) from error
    except pl.exceptions.PolarsError as error:
        said = str(error).splitlines()[0][:200]
        raise input_file.wrong(what=f"the columns cannot be read: {said}", hint=_NEEDED) from error
    return named.with_row_index("position", 1).cast({"position": pl.Int64})


def _known(names: Sequence[str]) -> list[str]:
    """The columns that are read: one for each thing they may say."""
    said = {_NAMES[name]: name for name in reversed(names) if _NAMES.get(name) in (*SCOPES, *_PLACES, *_LINES)}
    return list(said.values())


def _text(input_file: InputFile) -> pl.DataFrame:
    frames, n_rows = list[pl.DataFrame](), 0
    for frame in rows_below(input_file, partial(_columns, input_file)):
        frames.append(frame)
        n_rows += frame.height
        if n_rows > MAX_RUN_ROWS:
            raise input_file.wrong(what=f"it holds more than {MAX_RUN_ROWS:,} rows")
    if not frames:
        raise input_file.wrong(what="the file holds no rows", hint=_NEEDED)
    return pl.concat(frames)


def _columns(input_file: InputFile, header: str) -> list[str]:
    columns = [_NAMES.get(name, "") for name in names_in(header)]
    named = [name for name in columns if name]
    if len(set(named)) < len(named):
        raise input_file.wrong(what="the header has a column twice", examples=[header], hint=_NEEDED)
    return columns
