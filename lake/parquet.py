"""Parquet files that others made, read in pieces under the process's limit of memory."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import IO

import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]  # ships no types
import pyarrow.parquet as pq  # type: ignore[import-untyped]  # ships no types

from lake.limits import MAX_TABLE_BYTES, MAX_TABLE_ROWS, MIB

_ROWS_AT_ONCE = 1 << 14
_AT_ONCE = 64 * MIB
_POLARS = (pl.exceptions.PolarsError, pl.exceptions.PanicException)


class UnreadableParquetError(ValueError):
    """A file that is no Parquet, is damaged, or holds more than is read; the message says which."""


def read_batches(
    file: Path | IO[bytes],
    choose: Callable[[Sequence[str]], Sequence[str]] = lambda names: names,
    *,
    max_rows: int = MAX_TABLE_ROWS,
    max_bytes: int = MAX_TABLE_BYTES,
) -> Iterator[pl.DataFrame]:
    """The rows of a Parquet file in frames, in order; of a file without rows one empty frame.

    Polars would end the process where a file is damaged. `choose` gives the columns to read of all names, and may raise
    where one is missing.
    """
    with _explained(), file.open("rb") if isinstance(file, Path) else nullcontext(file) as stream:
        stored = pq.ParquetFile(stream)
        about = stored.metadata
        names = list(choose(list(stored.schema_arrow.names)))
        if about.num_rows > max_rows:
            raise _too_much(f"{about.num_rows:,} rows", f"{max_rows:,}")
        unpacked = sum(about.row_group(number).total_byte_size for number in range(about.num_row_groups))
        at_once = min(_ROWS_AT_ONCE, max(1, _AT_ONCE * about.num_rows // max(1, unpacked)))
        n_rows = n_bytes = 0
        for batch in stored.iter_batches(batch_size=at_once, columns=names):
            n_rows += batch.num_rows
            n_bytes += batch.nbytes
            if n_rows > max_rows or n_bytes > max_bytes:
                raise _too_much("more", f"{max_bytes:,} bytes, {max_rows:,} rows")
            batch.validate(full=True)
            yield _frame(batch, names)
        if not n_rows:
            yield _frame(stored.schema_arrow.empty_table(), names)


@contextmanager
def _explained() -> Iterator[None]:
    """Arrow's errors about a damaged file, as one kind."""
    try:
        yield
    except UnreadableParquetError:
        raise
    except MemoryError as error:
        raise UnreadableParquetError("the Parquet takes more memory than --memory-limit leaves; split it") from error
    except (pa.ArrowException, *_POLARS, OSError, ValueError, LookupError) as error:
        reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        raise UnreadableParquetError(f"the Parquet cannot be read: {reason}") from error


def _too_much(holds: str, limit: str) -> UnreadableParquetError:
    return UnreadableParquetError(f"the Parquet holds {holds}; at most {limit} are read; split it")


def _frame(rows: pa.RecordBatch | pa.Table, names: Sequence[str]) -> pl.DataFrame:
    """Column by column: what a damaged file says of itself beside its columns is not taken over."""
    return pl.DataFrame([pl.Series(name, pl.from_arrow(rows.column(name))) for name in names])
