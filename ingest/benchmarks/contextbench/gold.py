"""Gold contexts: decode every published form, and check them against the files that they name."""

import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ingest.benchmarks.fields import MISSING, FieldError, check, whole_number
from ingest.sources.repository import is_searched
from ingest.sources.strict_yaml import shown
from lake.offsets import Offsets, split_lines
from lake.text import decode, is_encodable

DOCS, OFFICIAL = "context", "context-official"
"""The gold rules: that of the benchmark's description (`docs-v1`), and that of the published evaluator."""

# Contents that show the (empty) line past the end have the number alone there, without a tab.
_NUMBERED = re.compile(r"(\d{1,9})(?:\t|$)")

GOLD_KEYS = ("gold_context", "init_ctx", "add_ctx", "gold_ctx")

_FIELDS = ("file", "start_line", "end_line")
# A file directly in `/workspace/` has only its name as path.
_ROOT = re.compile(r"^/(testbed/|workspace/([^/]*/)?)")
_HEAD = re.compile(r"^context(\d{1,9})：[ \t]*\r?$\n?", re.MULTILINE)  # noqa: RUF001  # as published


class GoldSpan(NamedTuple):
    """Lines of a file in a gold context, from 1, both ends included; `content` may differ from the file's text."""

    file: str
    line_start: int
    line_end: int
    content: str | None


def decode_gold(value: object) -> list[GoldSpan]:
    """The spans of a gold context: a list of objects, its JSON, or text blocks below `context<n>` and a wide colon."""
    if isinstance(value, str):
        text = value.removeprefix("\ufeff")
        if not text.lstrip().startswith("["):
            return _blocks(text)
        try:
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise FieldError(f"it is not JSON ({error}); is it cut off?") from error
    if not isinstance(value, (list, tuple)):
        raise FieldError(f"it is {shown(value)}, not a list of spans")
    return [span_of(item, f"span {number}") for number, item in enumerate(value, start=1)]


def docs_path(given: str) -> str:
    """A gold path relative to its repository: without `/testbed/`, `/workspace/<x>/` and leading `/` and `./`."""
    return re.sub(r"^(\.?/)+", "", _ROOT.sub("", given.replace("\\", "/")))


def official_path(given: str) -> str:
    """A gold path as the published evaluator reads it; relative ones lose leading `.` and `/`: `github/x`."""
    path = given.replace("\\", "/")
    inside = _ROOT.sub("", path)
    return inside if inside != path else path.lstrip("/") if path.startswith("/") else path.lstrip("./")


def span_of(entry: object, where: str) -> GoldSpan:
    """A span in the published form, an object with file, start_line and end_line."""
    if not isinstance(entry, Mapping):
        raise FieldError(f"{where} is {shown(entry)}, not an object with {', '.join(_FIELDS)}")
    lacking = ", ".join(f"`{key}`" for key in _FIELDS if is_missing(entry.get(key)))
    check(not lacking, f"{where} has no {lacking}")
    file, content = entry["file"], entry.get("content")
    if not isinstance(file, str) or not docs_path(file) or "\0" in file or not is_encodable(file):
        raise FieldError(f"{where}: `file` is {shown(file)}, not a path")
    start, end = (whole_number(entry[key]) or 0 for key in ("start_line", "end_line"))
    given = f"{shown(entry['start_line'])} to {shown(entry['end_line'])}"
    check(0 < start <= end, f"{where}: {given} is no range of lines, which are counted from 1")
    return GoldSpan(file, start, end, content if isinstance(content, str) else None)


def _blocks(text: str) -> list[GoldSpan]:
    before, *blocks = _HEAD.split(text)
    if not blocks or before.strip():
        raise FieldError("it is neither a JSON list nor text blocks that begin with `context0` and a colon")
    spans = []
    for number, block in zip(blocks[::2], blocks[1::2], strict=True):
        *lines, content = (*block.split("\n", len(_FIELDS)), *[""] * len(_FIELDS))[: len(_FIELDS) + 1]
        pairs = (line.partition(":") for line in lines)
        fields = {key.strip(): value.strip() for key, colon, value in pairs if colon and value.strip()}
        spans.append(span_of({**fields, "content": content}, f"context{number}"))
    return spans


def is_missing(value: object) -> bool:
    """Whether a value is absent, null or not a number, as tables write null."""
    return value is None or value is MISSING or (isinstance(value, float) and math.isnan(value))


def audit(spans: Sequence[GoldSpan], files: Mapping[str, bytes]) -> tuple[list[dict[str, object]], Counter[str]]:
    """Gold under both rules as rows of `gold_spans`, without item, and the number of its anomalies by flag.

    `files` are the contents of the named files that the repository has. `context` clips spans to their file (one wholly
    past the end has no lines) and drops those of missing files; `context-official` keeps them as given.
    """
    counts, docs = Counter[str](), Counter[tuple[str, int, int]]()
    gold_paths = {docs_path(span.file) for span in spans}
    texts = {path: decode(files[path])[0] for path in gold_paths & files.keys()}
    lines = {path: split_lines(text) for path, text in texts.items()}
    for span in spans:
        if (path := docs_path(span.file)) in lines:
            n_lines = len(lines[path])
            counts["ends-past-eof"] += span.line_end > n_lines
            counts["starts-past-eof"] += span.line_start > n_lines
            counts["content-differs"] += not _is_as_said(span, lines[path])
            docs[path, min(span.line_start - 1, n_lines), min(span.line_end, n_lines)] += 1
    counts["file-missing"] = len(gold_paths - files.keys())
    counts["file-not-searched"] = sum(not is_searched(path, files[path]) for path in texts)
    counts["duplicate-spans"] = len(spans) - len({(docs_path(span.file), *span[1:3]) for span in spans})
    given = ((official_path(span.file), span.line_start - 1, span.line_end) for span in spans)
    official = Counter(span_range for span_range in given if span_range[0])
    rows = [
        dict[str, object](gold=rule, path=path, line_start=start, line_end=end, times=times)
        for rule, ranges in ((DOCS, docs), (OFFICIAL, official))
        for (path, start, end), times in ranges.items()
    ]
    byte = {path: Offsets.between_lines(text).byte.tolist() for path, text in texts.items()}
    for row, (path, start, end) in zip(rows, docs, strict=False):
        row |= {"byte_start": byte[path][start], "byte_end": byte[path][end]}
    return rows, counts


def _is_as_said(span: GoldSpan, lines: Sequence[str]) -> bool:
    """Whether the lines equal the span's content, ignoring white space around lines and line numbers in the content."""
    if span.content is None:
        return True
    content = span.content.rstrip("\n").split("\n")
    numbers = [_NUMBERED.match(line) for line in content]
    first = span.line_start
    if all(match and int(match[1]) == first + n for n, match in enumerate(numbers)):
        content = [line.partition("\t")[2] for line in content]
    both = (content, lines[first - 1 : span.line_end])
    given, there = ("\n".join(map(str.strip, each)).rstrip("\n") for each in both)
    return given == there
