"""Tables of tab-separated columns under a header: ours, and BEIR's."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import polars as pl

from ingest.runs.importer import Importer
from ingest.runs.input_rows import numbers, refuse
from ingest.sources.input_file import InputFile
from lake.errors import did_you_mean

NAMES: Mapping[str, str] = {
    "item_id": "item_id", "item": "item_id", "query": "item_id", "qid": "item_id", "query_id": "item_id",
    "query-id": "item_id", "document": "document", "doc": "document", "docid": "document", "doc_id": "document",
    "corpus-id": "document", "path": "path", "line_start": "line_start", "line_end": "line_end", "rank": "rank",
    "score": "score", "query_sha256": "query_sha256",
}  # fmt: skip
"""A column's name in a header → what it is."""

_NUMBERS = ("rank", "score", "line_start", "line_end")


def recognise(head: bytes, name: str) -> bool:
    """A first line of tab-separated names, an item's and a document's or path's among them."""
    found = {NAMES.get(column, "") for column in names_in(head.split(b"\n", 1)[0].decode(errors="replace"))}
    return "item_id" in found and bool({"document", "path"} & found) and not recognise_beir(head, name)


def recognise_beir(head: bytes, name: str) -> bool:
    """BEIR's own header: query-id, corpus-id, score."""
    return names_in(head.split(b"\n", 1)[0].decode(errors="replace")) == ["query-id", "corpus-id", "score"]


def read(input_file: InputFile) -> Iterator[pl.DataFrame]:
    """The rows below the header, by the columns it names."""
    for rows in rows_below(input_file, partial(_columns, input_file)):
        yield numbers(input_file, rows, *_NUMBERS)


def rows_below(input_file: InputFile, columns_of: Callable[[str], Sequence[str]]) -> Iterator[pl.DataFrame]:
    """The rows below a header: `position`, and the columns that it names, as texts; null for a number that is blank.

    Args:
        input_file: Tab-separated columns.
        columns_of: What a header calls each of its columns; an empty string for one that is not read.
    """
    columns: Sequence[str] = ()
    for lines in input_file.lines():
        rows = lines
        if not columns:
            columns = columns_of(str(lines["text"][0]) if lines.height else "")
            rows = lines.slice(1)
        fields = pl.col("text").str.split("\t")
        uneven = rows.filter(fields.list.len() != len(columns))
        refuse(input_file, uneven, f"not the {len(columns)} columns of the header", shown=pl.col("text"))
        table = rows.select("position", *(fields.list.get(n).alias(name) for n, name in enumerate(columns) if name))
        yield table.with_columns(
            pl.when(pl.col(name) != "").then(name).alias(name) for name in _NUMBERS if name in columns
        )


def names_in(header: str) -> list[str]:
    """The names in a header, in small letters."""
    return [name.strip().strip('"').lower() for name in header.removeprefix("\ufeff").split("\t")]


def _columns(input_file: InputFile, line: str) -> list[str]:
    header = names_in(line)
    for name in header:
        if name not in NAMES:
            raise input_file.wrong(what=f"unknown column {name!r} in the header", hint=did_you_mean(name, NAMES))
    columns = [NAMES[name] for name in header]
    missing = [what for what, there in _needed(columns).items() if not there]
    if missing or len(set(columns)) < len(columns):
        what = f"the header lacks {' and '.join(missing)}" if missing else "the header has a column twice"
        hint = "A table has item_id, then document or path, line_start and line_end, then rank or score."
        raise input_file.wrong(what=what, examples=[line], hint=hint)
    return columns


def _needed(columns: list[str]) -> dict[str, bool]:
    has = set(columns)
    return {
        "item_id": "item_id" in has,
        "document (or path)": ("document" in has) != ("path" in has),
        "both of line_start and line_end": ("line_start" in has) == ("line_end" in has),
        "rank or score": bool({"rank", "score"} & has),
    }


TSV = Importer(
    name="tsv",
    title="Table of tab-separated columns",
    meaning="A header, then rows: item_id (query, qid), document (doc, docid) or path, line_start, line_end (0-based, "
    "half-open, as in the lake), and rank, score or both.",
    recognise=recognise,
    read=read,
    example="item_id\tdocument\tscore",
)
