"""Rows of foreign files: JSON Lines, JSON, values between tabs or commas, Parquet and pickles, packed or not.

Parts of a file that cannot be read are rejected with their position, and the rest is read.
"""

import csv
import json
import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from itertools import chain
from typing import IO, Any, NoReturn

import polars as pl

from ingest.sources.tree import Entry, UnreadableEntryError, read_whole
from lake import limits
from lake.rejects import Rejects, excerpt_of
from lake.text import listed

JsonObject = dict[str, object]

ROW_ENDINGS = (".jsonl", ".parquet", ".tsv")
MARK = b"\xef\xbb\xbf"
WHOLE_INPUT = "the whole file"
_BLOCK_BYTES = 1 << 20


class UnreadableFileError(ValueError):
    """The rest of a file cannot be read; the message says why."""


def format_of(path: str) -> str:
    """The ending that shows a file's format, without that of its compression: `.jsonl` for `a.jsonl.gz`."""
    name = path.rpartition("/")[2].lower().removesuffix(".gz").removesuffix(".zst")
    return f".{name.rpartition('.')[2]}" if "." in name else ""


def read_rows(entry: Entry, rejects: Rejects, keys: Sequence[str] = ()) -> Iterator[tuple[str, JsonObject]]:
    """The position and content of each row of a file: by ending `.parquet`, `.tsv`, `.csv`, `.json`, else JSON Lines.

    `keys` are the columns to read from Parquet (empty: all), and the column names of a table without a header.
    """
    n = 0
    try:
        for position, row in _rows(entry, rejects, keys):
            if isinstance(row, dict):
                n += 1
                if n > limits.MAX_ROWS:
                    rejects.add(entry.path, position, f"of one file {limits.MAX_ROWS:,} rows are read; split it")
                    return
                yield position, row
            else:
                rejects.add(entry.path, position, f"a {type(row).__name__}, not an object", excerpt_of(row))
    except UnreadableFileError as error:
        rejects.add(entry.path, f"after row {n}" if n else WHOLE_INPUT, str(error))


def read_pickle(entry: Entry) -> object:
    """The value in a pickle, packed or not; only plain values are accepted, and no name in it is imported."""
    with opened(entry) as stream:
        try:
            value: object = _PlainUnpickler(stream).load()
        except (UnreadableFileError, MemoryError, limits.TooMuchUnpackedError, OSError):
            raise
        # Damaged bytes may raise almost any exception.
        except Exception as error:
            message = f"not a whole pickle, or cut off: {type(error).__name__}: {str(error).partition(chr(10))[0]}"
            raise UnreadableFileError(message) from error
        # Read on to the end, where the checksum of packed data is tested.
        while stream.read(_BLOCK_BYTES):
            pass
    return value


class _PlainUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> NoReturn:
        message = f"the pickle names {module}.{name}, and only plain values are read from one; nothing in it was run"
        raise UnreadableFileError(message)


@contextmanager
def opened(entry: Entry) -> Iterator[IO[bytes]]:
    """A file's bytes, unpacked while they are read; all errors become an `UnreadableFileError`."""
    import pyarrow as pa  # type: ignore[import-untyped]  # ships no types, and takes a while to load

    try:
        with entry.open() as file, limits.unpacked(file) as stream:
            yield stream
    except UnreadableEntryError as error:
        raise UnreadableFileError(f"cannot be read: {error.reason}") from error
    except limits.TooMuchUnpackedError as error:
        raise UnreadableFileError(str(error)) from error
    except (OSError, pa.ArrowException) as error:
        message = f"cannot be read to its end ({str(error).partition(chr(10))[0]}); is it cut off?"
        raise UnreadableFileError(message) from error


def _rows(entry: Entry, rejects: Rejects, keys: Sequence[str]) -> Iterator[tuple[str, object]]:
    kind = format_of(entry.path)
    if kind == ".parquet":
        frames = read_frames(entry, lambda names: [n for n in names if not keys or n in keys], limits.MAX_ROWS_BYTES)
        # Few rows at a time: if memory ran out, polars would end the process.
        rows = (row for frame in frames for row in frame.iter_rows(named=True, buffer_size=8))
        yield from ((f"row {number}", row) for number, row in enumerate(rows, 1))
        return
    with opened(entry) as stream:
        if kind in (".tsv", ".csv"):
            yield from _table(entry, stream, rejects, keys, kind)
        elif kind == ".json":
            yield from _json(entry, stream, rejects)
        else:
            yield from _json_lines(entry, stream, rejects)


def read_frames(
    entry: Entry, choose: Callable[[Sequence[str]], Sequence[str]], max_bytes: int
) -> Iterator[pl.DataFrame]:
    """The frames of a Parquet file, as from `read_batches`; all errors become an `UnreadableFileError`."""
    try:
        with entry.open() as file:
            yield from limits.read_batches(file, choose, max_bytes=max_bytes)
    except UnreadableEntryError as error:
        raise UnreadableFileError(f"cannot be read: {error.reason}") from error
    except limits.UnreadableParquetError as error:
        raise UnreadableFileError(str(error)) from error


def _json(entry: Entry, stream: IO[bytes], rejects: Rejects) -> Iterator[tuple[str, object]]:
    """The objects of a JSON file: a list of them, a single one, or JSON Lines under the wrong ending."""
    data = stream.read(_BLOCK_BYTES)
    if is_json_lines(data):
        yield from _json_lines(entry, stream, rejects, data)
        return
    data = data.removeprefix(MARK) + read_whole(stream, limits.MAX_DOCUMENT_BYTES)
    if len(data) > limits.MAX_DOCUMENT_BYTES:
        raise UnreadableFileError(f"it has more than {limits.MAX_DOCUMENT_BYTES:,} bytes, the most that is read whole")
    try:
        value = limits.parsed_json(data)
    except (ValueError, RecursionError) as error:
        raise UnreadableFileError(f"not JSON ({error}); is the file cut off?") from error
    values = value if isinstance(value, list) else [value]
    # A list without objects has no rows at all, which is not a fault of each element.
    if any(isinstance(row, dict) for row in values):
        yield from ((f"row {number}", row) for number, row in enumerate(values, 1))


def _json_lines(entry: Entry, stream: IO[bytes], rejects: Rejects, head: bytes = b"") -> Iterator[tuple[str, object]]:
    for position, line in _lines(entry, stream, rejects, head):
        try:
            yield position, limits.parsed_json(line)
        except UnicodeDecodeError as error:
            rejects.add(entry.path, position, f"not UTF-8: {error.reason} at byte {error.start}")
        except (ValueError, RecursionError) as error:
            rejects.add(entry.path, position, f"not JSON ({error}); is the file cut off?", _excerpt(line))


def _table(
    entry: Entry, stream: IO[bytes], rejects: Rejects, keys: Sequence[str], kind: str
) -> Iterator[tuple[str, object]]:
    """The rows of a table: values between commas, or between tabs without quotes and maybe without a line of names."""
    csv.field_size_limit(limits.MAX_LINE_BYTES)
    style: dict[str, Any] = {"delimiter": "\t", "quoting": csv.QUOTE_NONE} if kind == ".tsv" else {"strict": True}
    with TextIOWrapper(stream, encoding="utf-8-sig", errors="replace", newline="") as text:
        rows = csv.reader(text, **style)
        try:
            first, number = next(filter(None, rows), []), 0
            has_names = kind == ".csv" or set(keys) <= set(first)
            names = first if has_names else keys
            if len(set(names)) < len(names):
                raise UnreadableFileError(f"two columns have the same name: {listed(names)}")
            for values in chain([first], rows):
                position, number = f"line {number + 1}", rows.line_num
                if values is first and has_names:
                    continue
                if len(values) == len(names):
                    yield position, dict(zip(names, values, strict=True))
                elif values:
                    reason = f"{len(values)} values, not {len(names)}: {listed(names)}"
                    rejects.add(entry.path, position, reason, excerpt_of(values))
        except csv.Error as error:
            raise UnreadableFileError(f"not a table from line {rows.line_num} on: {error}") from error


def _lines(entry: Entry, stream: IO[bytes], rejects: Rejects, head: bytes = b"") -> Iterator[tuple[str, bytes]]:
    for number, line in Lines(stream, head=head):
        if line is None:
            too_long = f"longer than {limits.MAX_LINE_BYTES:,} bytes, the most that is read of a line"
            rejects.add(entry.path, f"line {number}", too_long)
        elif line.strip():
            yield f"line {number}", line


class Lines:
    """The lines of a file with their numbers, from 1, without line ends; None for a line over the limit."""

    def __init__(self, stream: IO[bytes], limit: int = limits.MAX_LINE_BYTES, head: bytes = b"") -> None:
        self.stream, self.limit, self.head = stream, limit, head
        self.parts = list[bytes]()

    def __iter__(self) -> Iterator[tuple[int, bytes | None]]:
        number, length = 1, 0
        while block := self.head or self.stream.read(_BLOCK_BYTES):
            self.head, parts = b"", block.split(b"\n")
            for left, part in zip(range(len(parts) - 1, -1, -1), parts, strict=True):
                length += len(part)
                self.parts.append(part)
                if length > self.limit:
                    self.parts.clear()
                if left:
                    yield number, self._taken(number, length)
                    number, length = number + 1, 0
        if length:
            yield number, self._taken(number, length)

    def _taken(self, number: int, length: int) -> bytes | None:
        if length > self.limit:
            return None
        line = b"".join(self.parts)
        self.parts.clear()
        return line.removeprefix(MARK) if number == 1 else line


def is_json_lines(head: bytes) -> bool:
    """Whether a file with this beginning is JSON Lines rather than one JSON value over all of its lines.

    It is if the first non-blank line is a whole JSON value and the text after it does not continue that value: `[]` and
    an object below it are two lines, while a list alone on one line is the whole file.
    """
    first, newline, rest = head.removeprefix(MARK).lstrip().partition(b"\n")
    if not newline or not rest.strip():
        # Only one line is visible: a single object is also JSON Lines of one line.
        return not first or first.startswith(b"{")
    if rest.lstrip().startswith(b"{") and not first.rstrip().endswith((b"[", b",")):
        return True
    try:
        json.loads(first)
    except (ValueError, RecursionError):
        return False
    return True


def _excerpt(line: bytes) -> str:
    return line[:200].decode(errors="replace")
