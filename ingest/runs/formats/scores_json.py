"""Scores as JSON, `{query: {document: score}}`: ranx, pytrec_eval and BEIR write it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import polars as pl

from ingest.runs.importer import Importer
from ingest.runs.ranking_rows import framed, json_document
from ingest.runs.values import objects_in
from ingest.sources.input_file import InputFile

_ROWS_AT_ONCE = 500_000
_COLUMNS = ("position", "item_id", "document", "score")
_STRING = rb'"(?:[^"\\]|\\.)*"'
_FIRST = re.compile(rb"(?:\xef\xbb\xbf)?\s*\{\s*(?:\}|%s\s*:\s*\{\s*(?:\}|%s\s*:\s*[^\s\"{\[]))" % (_STRING, _STRING))
_HINT = "Scores as JSON are {query: {document: score}}."


def recognise(head: bytes, name: str) -> bool:
    """One object whose first value is an object of numbers; rows of it, or a text beside it, are a record of events."""
    if _FIRST.match(head) is None:
        return False
    objects = objects_in(head)
    return len(objects) < 2 and not any(isinstance(value, str) for each in objects for value in each.values())


class _Pairs(list[tuple[str, object]]):
    """An object's pairs in the file's order, a name that stands twice twice."""


def read(input_file: InputFile) -> Iterator[pl.DataFrame]:
    """A row per score, query by query; a name that stands twice in a list stands in two rows."""
    document = json_document(input_file, lambda text: json.loads(text, object_pairs_hook=_Pairs), _HINT)
    if not isinstance(document, _Pairs):
        raise input_file.wrong(what="it is no object", hint=_HINT)
    rows: list[tuple[object, ...]] = []
    seen: set[str] = set()
    for position, (item_id, scores) in enumerate(document, start=1):
        if not isinstance(scores, _Pairs):
            what = f"entry {position}: item {item_id!a} has no object {{document: score}}"
            raise input_file.wrong(what=what, hint=_HINT)
        if item_id in seen:
            raise input_file.wrong(what=f"entry {position}: the query {item_id!a} stands twice")
        seen.add(item_id)
        of_item = f"entry {position}, item {item_id!a}"
        rows += [
            (position, item_id, name, _number(input_file, f"{of_item}: the score of {name!a}", score))
            for name, score in scores
        ] or [(position, item_id, None, None)]
        if len(rows) >= _ROWS_AT_ONCE:
            yield framed(input_file, rows, _COLUMNS)
            rows.clear()
    if rows:
        yield framed(input_file, rows, _COLUMNS)


def _number(input_file: InputFile, what: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        shown = json.dumps(value)[:40] if not isinstance(value, list) else "an object or list"
        raise input_file.wrong(what=f"{what} is {shown}, no number")
    try:
        return float(value)
    except OverflowError:
        return float("inf")


SCORES_JSON = Importer(
    name="json",
    title="Scores as JSON",
    meaning="{query: {document: score}}, as ranx, pytrec_eval and BEIR write it.",
    recognise=recognise,
    read=read,
    unit="entry",
    example='{"function-2k/acme_rockets/0": {"src/engine.py#L10-L20": 0.93}}',
    aliases=("ranx", "pytrec_eval"),
)
