"""From the lines that a patch replaces to what a reader needs of them: the definitions around them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ingest.contents.definitions import definitions_of, ending_of
from ingest.contents.patches import edited_lines
from lake.offsets import split_lines
from lake.text import decode, language_of

MAX_DEFINITION_LINES = 100
"""A longer definition around a changed line is not meant: a shorter one inside is, or the line alone."""


def edited_sources(patch: str) -> dict[str, list[int]]:
    """The files of a known language that stood there before a patch, each with the lines, from 0, that it edits."""
    edited: dict[str, list[int]] = {}
    for path, line, _ in edited_lines(patch, "docs").lines:
        if language_of(path):
            edited.setdefault(path, []).append(line)
    return edited


def surroundings_of(data: bytes, path: str, lines: Sequence[int]) -> tuple[list[tuple[int, int]], set[str]]:
    """The innermost definitions around some lines of a file, or a line alone, and the names of all around them.

    Lines count from 0; spans are half-open and do not overlap.
    """
    text, _ = decode(data)
    symbols = definitions_of(text, ending_of(path)).get("docs")
    definitions = symbols.definitions if symbols else []
    short = [
        definition for definition in definitions if definition.line_end - definition.line_start <= MAX_DEFINITION_LINES
    ]
    n_lines = len(split_lines(text))
    spans, names = set[tuple[int, int]](), set[str]()
    for line in lines:
        around = [definition for definition in short if definition.line_start <= line < definition.line_end]
        inner = min(around, key=lambda definition: definition.line_end - definition.line_start, default=None)
        start, end = (line, line + 1) if inner is None else (inner.line_start, inner.line_end)
        names |= {definition.name for definition in around if definition.name}
        if start < n_lines:
            spans.add((start, min(end, n_lines)))
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged, names


def gold_of_patch(patch: str, files: Mapping[str, bytes]) -> list[tuple[str, int, int]]:
    """The gold that a patch tells: path and lines, from 0 and half-open, of those of its files that are given."""
    edited = edited_sources(patch)
    return [
        (path, *span)
        for path, lines in sorted(edited.items())
        if path in files
        for span in surroundings_of(files[path], path, lines)[0]
    ]
