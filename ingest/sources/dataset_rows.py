"""The rows of a data set, whatever holds them: JSON Lines, Parquet, a table of tab-separated values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from ingest.sources.jsonl import JsonObject, Lines, json_lines
from ingest.sources.tree import Entry, UnreadableEntryError
from lake.limits import MAX_LINE_BYTES, MAX_ROWS, MAX_ROWS_BYTES
from lake.parquet import UnreadableParquetError, read_batches
from lake.rejects import Rejects
from lake.text import listed

ENDINGS = (".jsonl", ".parquet", ".tsv")


def dataset_rows(entry: Entry, rejects: Rejects, keys: Sequence[str] = ()) -> Iterator[tuple[str, JsonObject]]:
    """The rows of a file and where each stands, as far as the limits go; what cannot be read is rejected.

    Args:
        entry: The file. `.parquet` and `.tsv` say what they are; anything else is JSON Lines.
        rejects: Where that goes.
        keys: The columns that are read of Parquet, all without any; and those of a table without a line of names.
    """
    n = 0
    try:
        for position, row in _rows(entry, rejects, keys):
            n += 1
            if n > MAX_ROWS:
                rejects.add(entry.path, position, f"of one file {MAX_ROWS:,} rows are read; split it")
                return
            yield position, row
    except (UnreadableEntryError, UnreadableParquetError) as error:
        rejects.add(entry.path, f"after row {n}" if n else "the whole file", str(error))


def _rows(entry: Entry, rejects: Rejects, keys: Sequence[str]) -> Iterator[tuple[str, JsonObject]]:
    path = entry.path.lower()
    if path.endswith(".tsv"):
        yield from _table(entry, rejects, keys)
    elif path.endswith(".parquet"):
        with entry.open() as file:
            frames = read_batches(file, partial(_chosen, keys), max_bytes=MAX_ROWS_BYTES)
            rows = (row for frame in frames for row in frame.iter_rows(named=True))
            yield from ((f"row {number}", row) for number, row in enumerate(rows, 1))
    else:
        yield from ((f"line {number}", row) for number, row in json_lines(entry, rejects))


def _chosen(keys: Sequence[str], names: Sequence[str]) -> list[str]:
    return [name for name in names if name in keys or not keys]


def _table(entry: Entry, rejects: Rejects, keys: Sequence[str]) -> Iterator[tuple[str, JsonObject]]:
    names: list[str] = []
    with entry.open() as file:
        for number, line in Lines(file):
            where = f"line {number}"
            if line is None:
                rejects.add(entry.path, where, f"longer than {MAX_LINE_BYTES:,} bytes, the most that is read of a line")
                continue
            if not line.strip():
                continue
            values = line.rstrip(b"\r").decode(errors="replace").split("\t")
            if not names:
                names = values if set(keys) <= set(values) else list(keys)
                if names is values:
                    continue
            if len(values) == len(names):
                yield where, dict(zip(names, values, strict=True))
            else:
                reason = f"{len(values)} values, not {len(names)}: {listed(names)}"
                rejects.add(entry.path, where, reason, line[:200].decode(errors="replace"))
