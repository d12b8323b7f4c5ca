"""Gold spans held against the files they name: what becomes of them under each gold rule, and what is odd."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ingest.benchmarks.contextbench.gold_contexts import GoldSpan, docs_path, official_path
from ingest.sources.repository import is_searched
from lake.catalog.gold_flags import FLAGS
from lake.text import decode, line_starts, split_lines

DOCS, OFFICIAL = "context", "context-official"
"""The gold rules: the brief's, and the published evaluator's."""

# The line past the end, which some contents have, is its number alone.
_NUMBERED = re.compile(r"(\d{1,9})(?:\t|$)")

Range = tuple[str, int, int]
"""A path and its lines, 0-based and half-open."""


@dataclass(frozen=True)
class GoldFile:
    """The bytes of a file that a gold context names."""

    data: bytes

    @cached_property
    def text(self) -> str:
        """UTF-8, with replacement."""
        return decode(self.data)[0]

    @cached_property
    def lines(self) -> list[str]:
        """The lines with their ends."""
        return split_lines(self.text)

    @cached_property
    def starts(self) -> list[int]:
        """Where each line starts, and where the last one ends: bytes of the text."""
        data = self.text.encode()
        return [*line_starts(data), len(data)]


@dataclass(frozen=True)
class Audit:
    """What an audit of an item's gold found.

    Attributes:
        rows: Columns of `gold_spans` but for the benchmark and the item.
        counts: Flag → how many; see `FLAGS`.
    """

    rows: list[dict[str, object]]
    counts: Counter[str] = field(default_factory=Counter)

    @property
    def flags(self) -> list[str]:
        """The counts that are not 0, as `items.gold_flags` has them."""
        return [f"{name}:{self.counts[name]}" for name in FLAGS if self.counts[name]]

    @property
    def has_gold(self) -> bool:
        """Whether anything is left under the brief's rule."""
        return any(row["gold"] == DOCS for row in self.rows)


def audit(spans: Sequence[GoldSpan], files: Mapping[str, GoldFile]) -> Audit:
    """What is gold under both rules, given those of the files the spans name that the repository holds.

    Under `context` a span is cut to its file, and one that lies past it keeps the file and no lines; spans of files
    that are not there are left out. Under `context-official` a span stands as it is given.
    """
    counts: Counter[str] = Counter()
    docs: Counter[Range] = Counter()
    missing, unsearched = set(), set()
    for span in spans:
        path = docs_path(span.file)
        file = files.get(path)
        if file is None:
            missing.add(path)
            continue
        if not is_searched(path, file.data):
            unsearched.add(path)
        n_lines = len(file.lines)
        counts["ends-past-eof"] += span.line_end > n_lines
        counts["starts-past-eof"] += span.line_start > n_lines
        counts["content-differs"] += not _is_as_said(span, file.lines)
        docs[path, min(span.line_start - 1, n_lines), min(span.line_end, n_lines)] += 1
    counts["file-missing"], counts["file-not-searched"] = len(missing), len(unsearched)
    counts["duplicate-spans"] = n_duplicates(spans)
    given = ((official_path(span.file), span.line_start - 1, span.line_end) for span in spans)
    official = Counter(place for place in given if place[0])
    rows = [_row(DOCS, place, times, files[place[0]].starts) for place, times in docs.items()]
    return Audit([*rows, *(_row(OFFICIAL, place, times) for place, times in official.items())], counts)


def n_duplicates(spans: Iterable[GoldSpan]) -> int:
    """How many spans name what an earlier one named."""
    named = Counter((docs_path(span.file), span.line_start, span.line_end) for span in spans)
    return named.total() - len(named)


def _row(rule: str, place: Range, times: int, starts: Sequence[int] | None = None) -> dict[str, object]:
    path, start, end = place
    row: dict[str, object] = {"gold": rule, "path": path, "line_start": start, "line_end": end, "times": times}
    return row if starts is None else {**row, "byte_start": starts[start], "byte_end": starts[end]}


def _is_as_said(span: GoldSpan, lines: Sequence[str]) -> bool:
    """Whether the lines hold the content, but for white space at their ends and the line numbers some contents have."""
    if span.content is None:
        return True
    said = span.content.rstrip("\n").split("\n")
    numbers = [_NUMBERED.match(line) for line in said]
    first = span.line_start
    if all(found and int(found[1]) == first + n for n, found in enumerate(numbers)):
        said = [line.partition("\t")[2] for line in said]
    return _trimmed(said) == _trimmed(lines[first - 1 : span.line_end])


def _trimmed(lines: Sequence[str]) -> list[str]:
    """Lines without white space around each, and without the empty ones at the end."""
    return "\n".join(line.strip() for line in lines).rstrip("\n").split("\n")
