"""RepoBench-R's rows in every form they have had: of pickles and of exports, each checked on its own."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from ingest.benchmarks.fields import FieldError, Fields, check, encodable, upstream_rows
from ingest.sources.rows import WHOLE_INPUT, UnreadableFileError, format_of, read_pickle
from ingest.sources.tree import Entry
from lake.rejects import Rejects, excerpt_of

SPLITS = ("test", "train")
_LEVELS = ("easy", "hard")
INDEX_KEYS = ("gold_snippet_index", "golden_snippet_index", "gold_snippet_idex")
"""The gold index, in every spelling the publisher has used."""
REPOBENCH_FIELDS: Fields = {
    **{name: (name,) for name in ("repo_name", "file_path", "context", "import_statement", "next_line", "split")},
    "code": ("code", "cropped_code"),
    "gold_snippet_index": INDEX_KEYS,
    "level": ("level", "difficulty"),
}
"""The keys of upstream's rows, in every form they have had."""
EXPORTED = (".parquet", ".jsonl")
HARD_FROM = 10
"""Candidates from which on a row is hard, where an export does not say."""


def _rows(entry: Entry, split: str, rejects: Rejects, fields: Fields) -> Iterator[tuple[str, object]]:
    if format_of(entry.path) in EXPORTED:
        yield from _exported(entry, split, rejects, fields)
        return
    if fields != REPOBENCH_FIELDS:
        rejects.add(entry.path, WHOLE_INPUT, "fields of one's own are read of Parquet and of .jsonl files")
        return
    value = read_pickle(entry)
    levels = value.get(split) if isinstance(value, dict) else None
    if not isinstance(levels, dict):
        rejects.add(entry.path, f"split {split}", "not an object of levels, each a list of rows")
        return
    value = None
    for level in _LEVELS:
        rows = levels.pop(level, [])
        if isinstance(rows, list):
            # Each row is let go once it is dealt with.
            rows.reverse()
            while rows:
                yield level, rows.pop()
        else:
            rejects.add(entry.path, f"{split}/{level}", f"a {type(rows).__name__}, not a list of rows")


def _exported(entry: Entry, split: str, rejects: Rejects, fields: Fields) -> Iterator[tuple[str, object]]:
    """Rows of an export; split and level come from its columns, else its path, else from the number of candidates."""
    path = entry.path.lower()
    default = min((name for name in SPLITS if name in path), key=path.find, default="test")
    by_path = next((name for name in _LEVELS if name in path.rsplit("/", 1)[-1]), "")
    for _, row in upstream_rows(entry, rejects, fields, REPOBENCH_FIELDS):
        if str(row.get("split") or default) == split:
            level, candidates = str(row.get("level") or row.get("difficulty") or ""), row.get("context")
            is_hard = isinstance(candidates, (list, tuple)) and len(candidates) >= HARD_FROM
            yield level if level in _LEVELS else by_path or ("hard" if is_hard else "easy"), row


class RepoBenchRow(NamedTuple):
    """One row, checked; `n` is its place in its split and level, from 0 in file order."""

    n: int
    level: str
    repo: str
    file_path: str
    import_statement: str
    code: str
    next_line: str
    candidates: list[str]
    gold: int
    version: str


RawRow = tuple[str, str, int, object]
"""A raw row's file, level and number in its split and level from 0 over all files, and the row."""


def numbered_rows(entries: Iterable[Entry], split: str, rejects: Rejects, fields: Fields) -> Iterator[RawRow]:
    """The raw rows of some files' split, one file in memory at a time; what is left out is rejected."""
    counts = dict.fromkeys(_LEVELS, 0)
    for entry in entries:
        try:
            for level, row in _rows(entry, split, rejects, fields):
                yield entry.path, level, counts[level], row
                counts[level] += 1
        except UnreadableFileError as error:
            rejects.add(entry.path, WHOLE_INPUT, str(error))


def checked_rows(rows: Iterable[RawRow], split: str, rejects: Rejects) -> Iterator[RepoBenchRow]:
    """The raw rows that are as RepoBench-R's are; the others are rejected."""
    for where, level, n, row in rows:
        try:
            yield _row(row, n, level)
        except FieldError as error:
            rejects.add(where, f"{split}/{level} row {n}", str(error), excerpt_of(row))


def _row(row: object, n: int, level: str) -> RepoBenchRow:
    if not isinstance(row, dict):
        raise FieldError(f"a {type(row).__name__}, not an object")
    candidates, is_v11 = _candidates(row.get("context"))
    code = "cropped_code" if "cropped_code" in row else "code"
    return RepoBenchRow(
        n=n,
        level=level,
        repo=_text(row, "repo_name"),
        file_path=_text(row, "file_path"),
        import_statement=_text(row, "import_statement"),
        code=_text(row, code),
        next_line=_text(row, "next_line"),
        candidates=candidates,
        gold=_gold(row, len(candidates)),
        version="v1.1" if is_v11 or code == "cropped_code" else "v1",
    )


def _text(row: Mapping[object, object], key: str) -> str:
    value = row.get(key)
    if not isinstance(value, str):
        is_other = f"`{key}` is a {type(value).__name__}, not a text"
        raise FieldError(is_other if key in row else f"`{key}` is missing")
    return encodable(value, key)


def _candidates(context: object) -> tuple[list[str], bool]:
    if not isinstance(context, (list, tuple)) or not context:
        raise FieldError("`context` is to be a list of candidates that is not empty")
    # v1.1 has {identifier, path, snippet} where v1 has the snippet itself.
    is_v11 = all(isinstance(candidate, dict) for candidate in context)
    candidates = []
    for number, candidate in enumerate(context):
        snippet = candidate.get("snippet") if isinstance(candidate, dict) else candidate
        if not isinstance(snippet, str):
            raise FieldError(f"candidate {number} is a {type(snippet).__name__}, not a text")
        candidates.append(encodable(snippet, f"candidate {number}"))
    return candidates, is_v11


def _gold(row: Mapping[object, object], n_candidates: int) -> int:
    key = next((key for key in INDEX_KEYS if key in row), "")
    check(key != "", f"the gold index is missing; it is called {', '.join(INDEX_KEYS)}")
    value = row[key]
    if isinstance(value, float) and math.isfinite(value) and value.is_integer():
        value = int(value)  # a Parquet column with a missing value is read as floats
    if not isinstance(value, int) or isinstance(value, bool):
        raise FieldError(f"`{key}` is {value!r}, not a whole number")
    check(value != -1, f"`{key}` is -1: the answer is in the file itself, not among the candidates")
    check(0 <= value < n_candidates, f"`{key}` is {value}, and there are {n_candidates} candidates")
    return value
