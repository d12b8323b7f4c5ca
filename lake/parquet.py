"""Parquet files that others made, read in pieces: neither rows nor bytes are taken on the file's own word."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import IO

import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]  # ships no types
import pyarrow.compute as pc  # type: ignore[import-untyped]  # ships no types
import pyarrow.parquet as pq  # type: ignore[import-untyped]  # ships no types

from lake.limits import MAX_COLUMN_BYTES, MAX_PAGE_BYTES, MAX_TABLE_BYTES, MAX_TABLE_ROWS, MIB
from lake.parquet_pages import Column, columns, pages

ROWS_AT_ONCE = 1 << 16
_AT_ONCE = 64 * MIB
_MAX_FOOTER_BYTES = 8 * MIB
_VALUE_BYTES = 8
_POLARS = (pl.exceptions.PolarsError, pl.exceptions.PanicException)


class UnreadableParquetError(ValueError):
    """A file that is no Parquet, is damaged, or holds more than is read; the message says which."""


def read_batches(
    file: Path | IO[bytes],
    choose: Callable[[Sequence[str]], Sequence[str]] = lambda names: names,
    *,
    max_rows: int = MAX_TABLE_ROWS,
    max_bytes: int = MAX_TABLE_BYTES,
    at_once: int = _AT_ONCE,
) -> Iterator[pl.DataFrame]:
    """The rows of a Parquet file in frames of at most so many bytes, in order; of a file without rows one empty frame.

    Polars would end the process where a file is damaged, and makes room for whatever a file claims.

    Args:
        file: Where it lies, or its bytes as a file that can be sought in.
        choose: Which of its columns are read; it may raise where one is missing.
        max_rows: How many rows are read at most.
        max_bytes: How many bytes their values are at most.
        at_once: How many bytes a frame has at most.

    Raises:
        UnreadableParquetError: It cannot be read, or goes beyond a limit.
    """
    with _told(), file.open("rb") if isinstance(file, Path) else nullcontext(file) as stream:
        n_rows, held = columns(_footer(stream))
        stored = pq.ParquetFile(stream)
        names = list(choose(list(stored.schema_arrow.names)))
        if n_rows > max_rows:
            raise _too_much(found=f"{n_rows:,} rows", limit=f"{max_rows:,}")
        coded, rows_at_once = _surveyed(stream, held, n_rows, names, max_bytes)
        reader = pq.ParquetFile(stream, read_dictionary=coded) if coded else stored
        plain = pa.schema([stored.schema_arrow.field(name) for name in names])
        left_rows, left = max_rows, max_bytes
        for batch in reader.iter_batches(batch_size=rows_at_once, columns=names):
            batch.validate(full=True)
            left_rows -= batch.num_rows
            for piece, size in pieces_of(batch.select(names), at_once):
                left -= size
                if left < 0 or left_rows < 0:
                    raise _too_much(found="more", limit=f"{max_bytes:,} bytes, {max_rows:,} rows")
                yield _frame(pa.Table.from_batches([piece]).cast(plain), names)
        if left_rows == max_rows:
            yield _frame(plain.empty_table(), names)


def read_parquet(
    file: Path | IO[bytes],
    choose: Callable[[Sequence[str]], Sequence[str]] = lambda names: names,
    *,
    max_rows: int = MAX_TABLE_ROWS,
    max_bytes: int = MAX_TABLE_BYTES,
) -> pl.DataFrame:
    """A whole Parquet file, or some columns of it, as :func:`read_batches` reads it."""
    return pl.concat(read_batches(file, choose, max_rows=max_rows, max_bytes=max_bytes))


@contextmanager
def _told() -> Iterator[None]:
    """Whatever a damaged file makes Arrow raise, as one error."""
    try:
        yield
    except UnreadableParquetError:
        raise
    except (pa.ArrowException, *_POLARS, OSError, ValueError, LookupError, MemoryError) as error:
        said = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        raise UnreadableParquetError(f"the Parquet cannot be read: {said}") from error


def _footer(stream: IO[bytes]) -> bytes:
    """What a file says of itself: it is read whole, so it is not to be long."""
    size = stream.seek(0, 2)
    stream.seek(max(0, size - 8))
    length = int.from_bytes(stream.read(4), "little")
    if length > _MAX_FOOTER_BYTES and length < size:
        raise _too_much(found=f"a description of {length:,} bytes", limit=f"{_MAX_FOOTER_BYTES:,}")
    stream.seek(max(0, size - 8 - length))
    footer = stream.read(length)
    stream.seek(0)
    return footer


def _too_much(found: str, limit: str) -> UnreadableParquetError:
    return UnreadableParquetError(f"the Parquet holds {found}; at most {limit} are read; split it")


def _surveyed(
    stream: IO[bytes], held: Sequence[Column], n_rows: int, names: Sequence[str], max_bytes: int
) -> tuple[list[str], int]:
    """The paths of the columns whose texts stand in dictionaries, and how many rows may be unpacked at once.

    Raises:
        UnreadableParquetError: The pages unpack to more than is read.
    """
    wanted, total = frozenset(names), 0
    coded: set[str] = set()
    rows_at_once = ROWS_AT_ONCE
    for column in held:
        if column.path.split(".", 1)[0] not in wanted:
            continue
        n_bytes = n_values = 0
        for page in pages(stream, column.start, column.n_bytes):
            n_bytes += page.n_bytes
            n_values += page.n_values
            if page.n_bytes > MAX_PAGE_BYTES:
                raise _too_much(found=f"a page of {page.n_bytes:,} bytes", limit=f"{MAX_PAGE_BYTES:,}")
            if column.is_text and page.is_dictionary:
                coded.add(column.path)
            if column.is_text and page.is_delta:
                # Such a value may be as long as its page, and so may all that follow.
                rows_at_once = max(1, min(rows_at_once, 2 * _AT_ONCE // max(1, page.n_bytes)))
                if "." in column.path and page.n_bytes * page.n_values > MAX_COLUMN_BYTES:
                    raise _too_much(found="lists of texts whose encoding may hide any length", limit="1 GB of such")
        size = max(n_bytes, n_values * _VALUE_BYTES)
        if size > max(MAX_COLUMN_BYTES, min(16 * n_bytes, max_bytes)):
            raise _too_much(
                found=f"{size:,} bytes of {column.path} in one group of rows", limit=f"{MAX_COLUMN_BYTES:,}"
            )
        total += n_bytes
    if total > max_bytes:
        raise _too_much(found=f"{total:,} bytes", limit=f"{max_bytes:,}")
    rows_at_once = min(rows_at_once, max(1, _AT_ONCE * n_rows // max(1, total)))
    stream.seek(0)
    return sorted(coded), rows_at_once


def pieces_of(batch: pa.RecordBatch, at_once: int = _AT_ONCE) -> Iterator[tuple[pa.RecordBatch, int]]:
    """Parts of a batch that are small once their dictionaries are written out, and their sizes."""
    size = sum(_unfolded(column) for column in batch.columns)
    if size <= at_once:
        yield batch, size
    elif batch.num_rows > 1:
        half = batch.num_rows // 2
        # Taken, not sliced: of a slice of lists, all of the batch's texts would be written out.
        for start, end in ((0, half), (half, batch.num_rows)):
            yield from pieces_of(batch.take(pa.array(range(start, end), pa.int64())), at_once)
    else:
        raise _too_much(found=f"a row of {size:,} bytes", limit=f"{at_once:,}")


def _unfolded(array: pa.Array) -> int:
    """What a column takes in memory with its dictionaries written out."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        if kind.value_type not in (pa.string(), pa.large_string(), pa.binary(), pa.large_binary()):
            return int(array.nbytes)
        lengths = pc.binary_length(array.dictionary)
        return int(pc.sum(lengths.take(array.indices)).as_py() or 0) + _VALUE_BYTES * len(array)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _unfolded(array.flatten()) + _VALUE_BYTES * len(array)
    if pa.types.is_struct(kind):
        return sum(_unfolded(array.field(place)) for place in range(kind.num_fields))
    return int(array.nbytes)


def _frame(rows: pa.Table, names: Sequence[str]) -> pl.DataFrame:
    """Column by column: what a damaged file says of itself beside its columns is not taken over."""
    return pl.DataFrame([pl.Series(name, pl.from_arrow(rows.column(name))) for name in names])
