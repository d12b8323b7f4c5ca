"""RepoCoder's predictions: JSON Lines of completions, as its generation scripts write them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import polars as pl

from ingest.runs.importer import Importer
from ingest.runs.ranking_rows import framed, row_of
from ingest.runs.values import at, count_at, first_row, list_at, object_at
from ingest.sources.input_file import InputFile
from lake.fingerprint import sha256_of

_HINT = 'A row is {"choices": [{"text": …}], "metadata": {"fpath_tuple": [repo, …], "lineno": …}}.'
_COLUMNS = ("position", "repo", "path", "line", "context_start", "target_text", "prompt_sha256", "completion")


def recognise(head: bytes, name: str) -> bool:
    """A first line that is an object with `choices` and `metadata`."""
    row = first_row(head)
    return "choices" in row and "metadata" in row


def read(input_file: InputFile) -> Iterator[pl.DataFrame]:
    """Where each row's hole is, and the first of its choices."""
    for lines in input_file.lines():
        yield framed(input_file, [_row(input_file, position, text) for position, text in lines.iter_rows()], _COLUMNS)


def _row(input_file: InputFile, position: int, text: str) -> tuple[object, ...]:
    row = row_of(input_file, position, text, _HINT)
    metadata, given = row.get("metadata"), object_at(row, "metadata")
    completion = at(next(iter(list_at(row, "choices")), None), "text")
    parts, line = _fpath(given.get("fpath_tuple")), count_at(given, "lineno" if "lineno" in given else "line_no")
    faults = {
        "`metadata` is to be an object": not isinstance(metadata, dict),
        "`choices` is to hold an object with a `text`": not isinstance(completion, str),
        "`fpath_tuple` is to be a repository and the parts of a path in it": len(parts) < 2,
        "`lineno` (or `line_no`) is to be a whole number from 0": line is None,
    }
    if fault := next((fault for fault, is_so in faults.items() if is_so), ""):
        raise input_file.wrong(what=f"line {position}: {fault}", examples=[text[:160]], hint=_HINT)
    prompt, target = row.get("prompt"), given.get("ground_truth")
    target_text = target.encode(errors="replace").decode() if isinstance(target, str) else None
    prompt_sha256 = sha256_of(prompt.encode(errors="replace")) if isinstance(prompt, str) else None
    start = count_at(given, "context_start_lineno")
    return position, parts[0], "/".join(parts[1:]), line, start, target_text, prompt_sha256, completion


def _fpath(value: object) -> list[str]:
    if isinstance(value, str):
        try:
            value = ast.literal_eval(value)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return []
    is_list = isinstance(value, list | tuple) and all(isinstance(part, str) for part in value)
    return [*value] if is_list and isinstance(value, list | tuple) else []


REPOCODER_PREDICTIONS = Importer(
    name="repocoder",
    title="RepoCoder predictions",
    meaning="JSON Lines of completions: the first of `choices`, for the hole that `fpath_tuple` and `lineno` name.",
    recognise=recognise,
    read=read,
    kind="completion",
    example='{"prompt": "…", "choices": [{"text": "…"}], "metadata": {"fpath_tuple": ["repo", "a.py"], "lineno": 8}}',
)
