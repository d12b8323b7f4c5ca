"""Scores as JSON, `{query: {document: score}}`: ranx, pytrec_eval and BEIR write it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import polars as pl

from ingest.runs.importer import Importer
from ingest.runs.input_file import InputFile
from ingest.runs.input_rows import framed
from ingest.runs.json_values import objects_in

ROWS_AT_ONCE = 500_000
MAX_ENTRY_CHARACTERS = 1 << 24
"""One query's list is read whole; a longer one is none."""

_STRING = rb'"(?:[^"\\]|\\.)*"'
_FIRST = re.compile(rb"(?:\xef\xbb\xbf)?\s*\{\s*(?:\}|%s\s*:\s*\{\s*(?:\}|%s\s*:\s*[^\s\"{\[]))" % (_STRING, _STRING))
_SPACE = " \t\r\n"

Pairs = list[tuple[str, object]]


def recognise(head: bytes, name: str) -> bool:
    """One object whose first value is an object of numbers; rows of it, or a text beside it, are a record of events."""
    if _FIRST.match(head) is None:
        return False
    objects = objects_in(head)
    return len(objects) < 2 and not any(isinstance(value, str) for each in objects for value in each.values())


def read(input_file: InputFile) -> Iterator[pl.DataFrame]:
    """A row per score, query by query, so that no more than a few queries are in memory at once."""
    rows: list[tuple[object, ...]] = []
    seen: set[str] = set()
    for position, (item_id, pairs) in enumerate(_entries(input_file), start=1):
        if item_id in seen:
            raise input_file.wrong(what=f"entry {position}: the query {item_id!a} stands twice")
        seen.add(item_id)
        scores = ((document, _number(input_file, position, item_id, document, value)) for document, value in pairs)
        rows += [(position, item_id, *one) for one in scores] or [(position, item_id, None, None)]
        if len(rows) >= ROWS_AT_ONCE:
            yield framed(input_file, rows, _COLUMNS)
            rows.clear()
    if rows:
        yield framed(input_file, rows, _COLUMNS)


_COLUMNS = ("position", "item_id", "document", "score")


def _number(input_file: InputFile, position: int, item_id: str, document: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        found = json.dumps(value)[:40] if not isinstance(value, list) else "an object or list"
        raise input_file.wrong(
            what=f"entry {position}, item {item_id!a}: the score of {document!a} is {found}, no number"
        )
    try:
        return float(value)
    except OverflowError:
        return float("inf")


class _Text:
    """The text of a file, read as far as is needed."""

    def __init__(self, input_file: InputFile) -> None:
        self.input_file, self.blocks = input_file, input_file.texts()
        self.text, self.at, self.entry = "", 0, 0

    def more(self) -> bool:
        """Read on; what was dealt with is let go."""
        if len(self.text) - self.at > MAX_ENTRY_CHARACTERS:
            raise self.wrong(why="it is longer than any list of results")
        block = next(self.blocks, None)
        if block is None:
            return False
        self.text, self.at = self.text[self.at :] + block, 0
        return True

    def mark(self) -> str:
        """The next character that is no white space; empty at the end."""
        while True:
            while self.at < len(self.text) and self.text[self.at] in _SPACE:
                self.at += 1
            if self.at < len(self.text):
                return self.text[self.at]
            if not self.more():
                return ""

    def take(self, *marks: str) -> str:
        """Go past one of some characters."""
        found = self.mark()
        if found not in marks or not found:
            raise self.wrong(why=f"expected {' or '.join(marks)}, found {found!a}" if found else "the file ends there")
        self.at += 1
        return found

    def value(self) -> object:
        """The next value, read again from its start when the text read so far ends inside it."""
        self.mark()
        while True:
            try:
                value, self.at = _DECODER.raw_decode(self.text, self.at)
            except (ValueError, RecursionError) as error:
                if isinstance(error, RecursionError) or not self.more():
                    said = str(error).partition(": line")[0]
                    raise self.wrong(why=f"not JSON ({said}); is the file cut off?") from error
            else:
                return value

    def wrong(self, why: str) -> Exception:
        """The error at the entry being read."""
        hint = "Scores as JSON are {query: {document: score}}."
        return self.input_file.wrong(what=f"entry {self.entry}: {why}", hint=hint)


_DECODER = json.JSONDecoder(object_pairs_hook=lambda pairs: _Object(pairs))


class _Object(list[tuple[str, object]]):
    """An object's pairs in the file's order, a name that stands twice twice."""


def _entries(input_file: InputFile) -> Iterator[tuple[str, Pairs]]:
    text = _Text(input_file)
    text.entry = 1
    text.take("{")
    if text.mark() == "}":
        text.take("}")
    else:
        more = True
        while more:
            item_id = text.value()
            if not isinstance(item_id, str):
                raise text.wrong(why="a query is to be a text")
            text.take(":")
            pairs = text.value()
            if not isinstance(pairs, _Object):
                raise text.wrong(why=f"item {item_id!a} has no object {{document: score}}")
            yield item_id, pairs
            more = text.take(",", "}") == ","
            text.entry += 1
    if text.mark():
        raise text.wrong(why=f"the object ends, then comes {text.mark()!a}")


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
