"""BEIR's results: its table of query-id, corpus-id and score, or its JSON, which is that of ranx."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from ingest.predictions import Importer, scores_json, tsv
from ingest.predictions._given import Given


def read(given: Given) -> Iterator[pl.DataFrame]:
    """Rows of the one or entries of the other."""
    is_json = given.head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")
    return scores_json.read(given) if is_json else tsv.read(given)


BEIR = Importer(
    name="beir",
    title="BEIR results",
    meaning="A table of query-id, corpus-id and score under that header; BEIR's results as JSON, "
    "{query: {document: score}}, are read as well.",
    recognise=tsv.recognise_beir,
    read=read,
    example="query-id\tcorpus-id\tscore",
)
