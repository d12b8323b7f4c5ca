"""Rows of foreign files, packed or not: what cannot be read is rejected with its position, and the rest is read."""

import csv
import json
import pickle
import re
import shutil
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from io import BufferedReader, TextIOWrapper
from itertools import chain, count
from tempfile import TemporaryFile
from typing import NoReturn

import polars as pl
import yaml

from ingest.rejects import Rejects, excerpt_of
from ingest.sources.strict_yaml import parsed_yaml
from ingest.sources.tree import Entry, UnreadableFileError, read_document
from lake import limits
from lake.text import listed

JsonObject = dict[str, object]

ROW_ENDINGS = (".jsonl", ".parquet", ".tsv")
MARK = b"\xef\xbb\xbf"
WHOLE_INPUT = "the whole file"
LENIENT = partial(limits.parsed_json, errors="replace")
"""Parses JSON; bytes that are not UTF-8 are replaced."""
_BLOCK_BYTES, _EXCERPT_BYTES = 1 << 20, 1 << 12
_QUOTED = re.compile(r'\A"((?:[^"]|"")*)"\Z')


def format_of(path: str) -> str:
    """The ending that shows a file's format, without that of its compression: `.jsonl` for `a.jsonl.gz`."""
    name = path.rpartition("/")[2].lower().removesuffix(".gz").removesuffix(".zst")
    return f".{name.rpartition('.')[2]}" if "." in name else ""


def read_rows(
    entry: Entry, rejects: Rejects, keys: Sequence[str] = (), row_keys: Collection[str] = ()
) -> Iterator[tuple[str, JsonObject]]:
    """The position and content of each row of a file: by ending Parquet, TSV, CSV, JSON or YAML, else JSON Lines.

    `keys` are the columns to read from Parquet (empty: all), and the column names of a table without a header. Every
    row has one of `row_keys`: an object of JSON or YAML that has none may hold rows (:func:`_rows_in`).
    """
    n = 0
    try:
        for position, row in _rows(entry, keys, row_keys):
            if isinstance(row, UnreadableFileError):
                rejects.add(entry.path, position, row.reason, row.excerpt)
            elif not isinstance(row, dict):
                rejects.add(entry.path, position, f"a {type(row).__name__}, not an object", excerpt_of(row))
            elif n == limits.MAX_ROWS:
                rejects.add(entry.path, position, f"of one file {limits.MAX_ROWS:,} rows are read; split it")
                return
            else:
                n += 1
                yield position, row
    except UnreadableFileError as error:
        rejects.add(entry.path, f"after row {n}" if n else WHOLE_INPUT, error.reason)


def read_pickle(entry: Entry) -> object:
    """The value in a pickle, packed or not; only plain values are accepted, and no name in it is imported."""
    with opened(entry) as stream:
        try:
            value: object = _PlainUnpickler(stream).load()
        except (UnreadableFileError, MemoryError, limits.TooMuchUnpackedError, OSError):
            raise
        except Exception as error:
            # Damaged bytes may raise almost any exception.
            message = f"not a whole pickle, or cut off: {type(error).__name__}: {str(error).partition(chr(10))[0]}"
            raise UnreadableFileError(entry.path, message) from error
        # Read on to the end, where the checksum of packed data is tested.
        while stream.read(_BLOCK_BYTES):
            pass
    return value


class _PlainUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> NoReturn:
        message = f"the pickle names {module}.{name}, and only plain values are read from one; nothing in it was run"
        raise UnreadableFileError("pickle", message)


@contextmanager
def opened(entry: Entry) -> Iterator[BufferedReader]:
    """A file's bytes, unpacked while they are read; all errors become an `UnreadableFileError`."""
    import pyarrow as pa  # type: ignore[import-untyped]  # ships no types, and takes a while to load

    try:
        with entry.open() as file, limits.unpacked(file) as stream:
            yield stream
    except limits.TooMuchUnpackedError as error:
        raise UnreadableFileError(entry.path, str(error)) from error
    except (OSError, pa.ArrowException) as error:
        message = f"it cannot be read to its end ({str(error).partition(chr(10))[0]}); is it cut off?"
        raise UnreadableFileError(entry.path, message) from error


def _rows(entry: Entry, keys: Sequence[str], row_keys: Collection[str]) -> Iterator[tuple[str, object]]:
    kind = format_of(entry.path)
    if kind == ".parquet":
        yield from parquet_rows(entry, lambda names: [name for name in names if not keys or name in keys])
    elif kind in (".tsv", ".csv"):
        yield from _table(entry, keys, is_csv=kind == ".csv")
    else:
        is_yaml = kind in (".yaml", ".yml")
        is_lines = is_json_lines if kind == ".json" else lambda _: not is_yaml
        numbers = count(1)
        for position, value in json_values(entry, is_lines, parsed_yaml if is_yaml else limits.parsed_json):
            rows = [value] if kind == ".jsonl" else _rows_in(value, row_keys)
            for row, number in zip(rows, numbers, strict=False):
                yield position if "line" in position and row is value else f"row {number}", row


def _rows_in(value: object, row_keys: Collection[str]) -> list[object]:
    """The rows in an object that is none, as in {"repo": "a", "questions": [...]} and {"q1": {...}}; else the value.

    A row has the texts of the objects around it as well, such as its repository, but not their ids. A key is an id.
    """
    if not isinstance(value, dict) or not value.keys().isdisjoint(row_keys):
        return [value]
    about = {key: each for key, each in value.items() if isinstance(each, str) and key[-2:] != "id"}
    rows = list[object]()
    for name, each in value.items():
        if isinstance(each, dict) and not each.keys().isdisjoint(row_keys):
            rows.append({"id": name, **about, **each})
        elif isinstance(each, list):
            entries = [{**about, **entry} if isinstance(entry, dict) else entry for entry in each]
            inner = [row for entry in entries for row in _rows_in(entry, row_keys)]
            is_rows = any(isinstance(row, dict) and not row.keys().isdisjoint(row_keys) for row in inner)
            rows += inner if is_rows else []
    return rows or [value]


def read_frames(
    entry: Entry, choose: Callable[[Sequence[str]], Sequence[str]], max_bytes: int
) -> Iterator[pl.DataFrame]:
    """The frames of a Parquet file, packed or not, as from `read_batches`; errors become an `UnreadableFileError`."""
    try:
        with entry.open() as file, TemporaryFile() as whole:
            if file.read(4) != b"PAR1":
                # Unpacked as a whole, as Parquet is not read from start to end.
                with opened(entry) as stream:
                    shutil.copyfileobj(stream, whole)
            yield from limits.read_batches(whole if whole.tell() else file, choose, max_bytes=max_bytes)
    except limits.UnreadableParquetError as error:
        raise UnreadableFileError(entry.path, str(error)) from error


def parquet_rows(entry: Entry, choose: Callable[[Sequence[str]], Sequence[str]]) -> Iterator[tuple[str, JsonObject]]:
    """The position and content of each row of a Parquet file, read as by `read_frames`."""
    frames = read_frames(entry, choose, limits.MAX_ROWS_BYTES)
    # Few rows at a time: if memory ran out, polars would end the process.
    rows = (row for frame in frames for row in frame.iter_rows(named=True, buffer_size=8))
    yield from ((f"row {number}", row) for number, row in enumerate(rows, 1))


def json_values(
    entry: Entry, is_lines: Callable[[bytes], bool], parse: Callable[[bytes], object] = limits.parsed_json
) -> Iterator[tuple[str, object]]:
    """The values of JSON Lines if `is_lines` of the first bytes, else of a JSON list, or the only one; with positions.

    For a line that cannot be read there is its `UnreadableFileError`. The position of an only value is empty.
    """
    with opened(entry) as stream:
        if is_lines(stream.peek()):
            for number, line in enumerate(stream, 1):
                if line := line.removeprefix(MARK).strip():
                    try:
                        value = parsed(entry.path, line, parse)
                    except UnreadableFileError as error:
                        value = error
                    yield f"line {number}", value
            return
        value = parsed(entry.path, read_document(entry.path, stream).removeprefix(MARK), parse)
    if not isinstance(value, list):
        yield "", value
    # A list without objects has no rows at all, which is not a fault of each element.
    elif any(isinstance(row, dict) for row in value):
        yield from ((f"row {number}", row) for number, row in enumerate(value, 1))


def parsed(path: str, data: bytes, parse: Callable[[bytes], object] = limits.parsed_json) -> object:
    """The value that a file, or a line of it, holds; raises `UnreadableFileError`."""
    try:
        return parse(data)
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        kind, (what, *_) = ("YAML" if parse is parsed_yaml else "JSON"), str(error).partition(";")
        reason = f"not {kind} ({' '.join(what.split())}); is it cut off?"
        excerpt = data[:_EXCERPT_BYTES] + data[max(_EXCERPT_BYTES, len(data) - _EXCERPT_BYTES) :]
        raise UnreadableFileError(path, reason, excerpt=excerpt.decode(errors="replace")) from error


def _table(entry: Entry, keys: Sequence[str], *, is_csv: bool) -> Iterator[tuple[str, object]]:
    """The rows of a table: values between commas or semicolons, or between tabs and maybe without a line of names."""
    csv.field_size_limit(limits.MAX_LINE_BYTES)
    with opened(entry) as stream, TextIOWrapper(stream, "utf-8-sig", errors="replace", newline="") as text:
        head = stream.peek().partition(b"\n")[0]
        delimiter = max(",;\t", key=lambda each: head.count(each.encode())) if is_csv else "\t"
        rows = csv.reader(
            text, delimiter=delimiter, quoting=csv.QUOTE_MINIMAL if is_csv else csv.QUOTE_NONE, strict=True
        )
        try:
            first = next(filter(None, rows), [])
            has_names = is_csv or set(keys) <= set(first)
            names, number = (first, rows.line_num) if has_names else (keys, 0)
            if len(set(names)) < len(names):
                raise UnreadableFileError(entry.path, f"two columns have the same name: {listed(names)}")
            for values in rows if has_names else chain([first], rows):
                position, number = f"line {number + 1}", rows.line_num
                if not is_csv:
                    # Only a whole value is quoted here: texts may begin with a quote.
                    values = [_QUOTED.sub(lambda match: match[1].replace('""', '"'), value) for value in values]
                if len(values) == len(names):
                    yield position, dict(zip(names, values, strict=True))
                elif values:
                    reason = f"{len(values)} values, not {len(names)}: {listed(names)}"
                    yield position, UnreadableFileError(entry.path, reason, excerpt=excerpt_of(values))
        except csv.Error as error:
            raise UnreadableFileError(entry.path, f"not a table from line {rows.line_num} on: {error}") from error


def is_json_lines(head: bytes) -> bool:
    """Whether a file with this beginning is JSON Lines rather than one JSON value over all of its lines.

    It is if the first non-blank line is a whole value that the text after it does not continue; a list alone is not.
    """
    first, _, rest = head.removeprefix(MARK).lstrip().partition(b"\n")
    if not rest.strip():
        # Only one line is visible: a single object is also JSON Lines of one line.
        return not first or first.startswith(b"{")
    if rest.lstrip().startswith(b"{") and not first.rstrip().endswith((b"[", b",")):
        return True
    try:
        json.loads(first)
    except (ValueError, RecursionError):
        return False
    return True
