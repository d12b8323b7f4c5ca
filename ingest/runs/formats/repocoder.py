"""RepoCoder's predictions: JSON Lines of completions, as its generation scripts write them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

import polars as pl

from ingest.runs.importer import Importer
from ingest.runs.input_rows import framed, row_of
from ingest.runs.values import first_row
from ingest.sources.input_file import InputFile
from lake.errors import GoldspanError
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
    def wrong(why: str) -> GoldspanError:
        return input_file.wrong(what=f"line {position}: {why}", examples=[text[:160]], hint=_HINT)

    row = row_of(input_file, position, text, _HINT)
    metadata = row.get("metadata")
    if not isinstance(metadata, dict):
        raise wrong(why="`metadata` is to be an object")
    choices = row.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    completion = choice.get("text") if isinstance(choice, dict) else None
    if not isinstance(completion, str):
        raise wrong(why="`choices` is to hold an object with a `text`")
    place = _fpath(metadata.get("fpath_tuple"))
    if len(place) < 2:
        raise wrong(why="`fpath_tuple` is to be a repository and the parts of a path in it")
    lineno = _line_number(metadata, "lineno" if "lineno" in metadata else "line_no")
    if lineno is None:
        raise wrong(why="`lineno` (or `line_no`) is to be a whole number from 0")
    prompt, target = row.get("prompt"), metadata.get("ground_truth")
    start = _line_number(metadata, "context_start_lineno")
    target_text = target.encode(errors="replace").decode() if isinstance(target, str) else None
    prompt_sha256 = sha256_of(prompt.encode(errors="replace")) if isinstance(prompt, str) else None
    return position, place[0], "/".join(place[1:]), lineno, start, target_text, prompt_sha256, completion


def _fpath(value: object) -> list[str]:
    """A list of texts, or its Python repr; empty for anything else."""
    if isinstance(value, str):
        try:
            value = ast.literal_eval(value)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return []
    if not isinstance(value, (list, tuple)) or not all(isinstance(part, str) for part in value):
        return []
    return list(value)


def _line_number(metadata: Mapping[str, object], key: str) -> int | None:
    value = metadata.get(key)
    is_line = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**62
    return value if is_line and isinstance(value, int) else None


REPOCODER = Importer(
    name="repocoder",
    title="RepoCoder predictions",
    meaning="JSON Lines of completions: the first of `choices`, for the hole that `fpath_tuple` and `lineno` name.",
    recognise=recognise,
    read=read,
    kind="completion",
    example='{"prompt": "…", "choices": [{"text": "…"}], "metadata": {"fpath_tuple": ["repo", "a.py"], "lineno": 8}}',
)
