"""Tables of tab-separated columns under a header: ours, and BEIR's, whose JSON is that of ranx."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from ingest.runs.formats import scores_json
from ingest.runs.importer import Importer
from ingest.runs.ranking_rows import as_numbers, check_columns, refuse
from ingest.sources.input_file import InputFile
from lake.errors import did_you_mean

COLUMN_NAMES: Mapping[str, str] = {
    "item_id": "item_id", "item": "item_id", "query": "item_id", "qid": "item_id", "query_id": "item_id",
    "query-id": "item_id", "document": "document", "doc": "document", "docid": "document", "doc_id": "document",
    "corpus-id": "document", "path": "path", "line_start": "line_start", "line_end": "line_end", "rank": "rank",
    "score": "score", "query_sha256": "query_sha256",
}  # fmt: skip
"""A column's name in a header → what it is."""

_NUMBERS = ("rank", "score", "line_start", "line_end")


def recognise(head: bytes, name: str) -> bool:
    """A first line of tab-separated names, an item's and a document's or path's among them."""
    columns = {COLUMN_NAMES.get(column, "") for column in _names_in(head.split(b"\n", 1)[0].decode(errors="replace"))}
    return "item_id" in columns and bool({"document", "path"} & columns) and not recognise_beir(head, name)


def recognise_beir(head: bytes, name: str) -> bool:
    """BEIR's own header: query-id, corpus-id, score."""
    return _names_in(head.split(b"\n", 1)[0].decode(errors="replace")) == ["query-id", "corpus-id", "score"]


def read(input_file: InputFile) -> Iterator[pl.DataFrame]:
    """The rows below the header, by the columns it names, or of BEIR's JSON; a number that is blank is null."""
    if input_file.head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{"):
        yield from scores_json.read(input_file)
        return
    columns: list[str] = []
    for lines in input_file.lines():
        rows = lines
        if not columns:
            columns = _columns(input_file, str(lines["text"][0]) if lines.height else "")
            rows = lines.slice(1)
        fields = pl.col("text").str.split("\t")
        uneven = rows.filter(fields.list.len() != len(columns))
        refuse(input_file, uneven, f"not the {len(columns)} columns of the header", shown=pl.col("text"))
        table = rows.select("position", *(fields.list.get(n).alias(name) for n, name in enumerate(columns)))
        blank = [pl.when(pl.col(name) != "").then(name).alias(name) for name in _NUMBERS if name in columns]
        yield as_numbers(input_file, table.with_columns(blank), *_NUMBERS)


def _names_in(header: str) -> list[str]:
    return [name.strip().strip('"').lower() for name in header.removeprefix("\ufeff").split("\t")]


def _columns(input_file: InputFile, line: str) -> list[str]:
    header = _names_in(line)
    for name in header:
        if name not in COLUMN_NAMES:
            raise input_file.wrong(what=f"unknown column {name!r} in the header", hint=did_you_mean(name, COLUMN_NAMES))
    columns = [COLUMN_NAMES[name] for name in header]
    check_columns(input_file, columns)
    return columns


TSV = Importer(
    name="tsv",
    title="Table of tab-separated columns",
    meaning="A header, then rows: item_id (query, qid), document (doc, docid) or path, line_start, line_end (0-based, "
    "half-open, as in the lake), and rank, score or both.",
    recognise=recognise,
    read=read,
    example="item_id\tdocument\tscore",
)
BEIR_TABLE = Importer(
    name="beir",
    title="BEIR results",
    meaning="A table of query-id, corpus-id and score under that header; BEIR's results as JSON, "
    "{query: {document: score}}, are read as well.",
    recognise=recognise_beir,
    read=read,
    example="query-id\tcorpus-id\tscore",
)
