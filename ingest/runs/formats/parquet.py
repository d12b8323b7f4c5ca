"""Our own Parquet: the table `hits`, or as much of it as a ranking needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import polars as pl

from ingest.runs.importer import Importer
from ingest.runs.ranking_rows import check_columns, kinds_of
from ingest.sources.input_file import InputFile
from lake.limits import MAX_RUN_ROWS
from lake.parquet import UnreadableParquetError, read_batches

_COLUMNS = (
    "item_id", "document", "path", "line_start", "line_end", "chunk_no", "rank", "score", "query_sha256",
)  # fmt: skip


def recognise(head: bytes, name: str) -> bool:
    """Parquet's own mark."""
    return head.startswith(b"PAR1")


def read(input_file: InputFile) -> Iterator[pl.DataFrame]:
    """The rows, some at a time.

    In a file that also holds steps, those of the part `ranking`; a path that was not found keeps the name it was given.
    """
    if not recognise(input_file.head, input_file.name):
        raise input_file.wrong(what="this is no Parquet file")
    position, runs = 0, set[str]()
    try:
        with input_file.sought() as stream:
            for frame in read_batches(stream, partial(_wanted, input_file), max_rows=MAX_RUN_ROWS):
                rows = _rows(input_file, frame.with_row_index("position", position + 1))
                position += frame.height
                if "run_id" in frame.columns:
                    runs |= set(frame["run_id"].cast(pl.String).drop_nulls().unique())
                if len(runs) > 1:
                    hint = "Import them one by one: a file each."
                    raise input_file.wrong(what="the file holds several runs", hint=hint)
                if rows.height:
                    yield rows
    except UnreadableParquetError as error:
        raise input_file.wrong(what=str(error)) from error
    except pl.exceptions.PolarsError as error:
        raise input_file.wrong(what=f"the Parquet cannot be read: {str(error).splitlines()[0][:200]}") from error


def _wanted(input_file: InputFile, columns: Sequence[str]) -> list[str]:
    check_columns(input_file, columns)
    location = "document" if "document" in columns else "path"
    others = ("path", "path_given", "line_start", "line_end", "chunk_no") if location == "path" else ("document",)
    return [name for name in ("run_id", "part", "item_id", *others, "rank", "score", "query_sha256") if name in columns]


def _rows(input_file: InputFile, frame: pl.DataFrame) -> pl.DataFrame:
    for name, kind in frame.schema.items():
        if kind.is_nested() or kind in (pl.Binary, pl.Object, pl.Boolean):
            wanted = "texts" if kinds_of([name])[name] == pl.String else "numbers"
            raise input_file.wrong(what=f"the column {name} holds {kind}, and is to hold {wanted}")
    if "part" in frame.columns:
        frame = frame.filter(pl.col("part").cast(pl.String) == "ranking")
    if "path_given" in frame.columns:
        frame = frame.with_columns(pl.coalesce("path", "path_given").alias("path"))
    names = [name for name in _COLUMNS if name in frame.columns]
    filled = [pl.col(name).fill_null("") for name in ("item_id", "document", "path") if name in names]
    return frame.select("position", *names).cast(kinds_of(names)).with_columns(filled)


PARQUET = Importer(
    name="parquet",
    title="Parquet",
    meaning="The table hits, as `report export --format parquet` writes it: item_id, path, line_start, line_end "
    "(0-based, half-open) or document, rank, score or both, and query_sha256 where it is known.",
    recognise=recognise,
    read=read,
    unit="row",
    example="item_id, path, line_start, line_end, rank",
)
