"""BEIR's results: its table of query-id, corpus-id and score, or its JSON, which is that of ranx."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from ingest.runs.formats import scores_json, tsv
from ingest.runs.importer import Importer
from ingest.sources.input_file import InputFile


def read(input_file: InputFile) -> Iterator[pl.DataFrame]:
    """Rows of the one or entries of the other."""
    is_json = input_file.head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")
    return scores_json.read(input_file) if is_json else tsv.read(input_file)


BEIR = Importer(
    name="beir",
    title="BEIR results",
    meaning="A table of query-id, corpus-id and score under that header; BEIR's results as JSON, "
    "{query: {document: score}}, are read as well.",
    recognise=tsv.recognise_beir,
    read=read,
    example="query-id\tcorpus-id\tscore",
)
