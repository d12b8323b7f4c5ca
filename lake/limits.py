"""Limits on untrusted data, each with its reason, and readers of JSON, compressed files and Parquet that enforce them.

The limits per file are at least twice what the published benchmarks need.
"""

import io
import json
import os
import resource
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import IO, TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]  # ships no types
    from typing_extensions import Buffer

MIB = 2**20

# Limits in bytes. Next to each: what it applies to, and the largest known case.
MAX_DOCUMENT_BYTES = 256 * MIB  # a file or an archive's entry that is read whole; trajectories have tens of MB
MAX_STREAMED_BYTES = 8 * 2**30  # a file that is decompressed as a stream
MAX_LINE_BYTES = 64 * MIB  # a line of JSON Lines, held in memory; published rows have a few MB
MAX_SOURCE_BYTES = 8 * MIB  # a searched file; generated code is smaller, and a parse tree takes a hundred times as much
MAX_FILE_BYTES = 32 * MIB  # any other stored file of a repository
MAX_REPOSITORY_BYTES = 768 * MIB  # all files of one repository in a Parquet file; largest: 670 MB
MAX_TABLE_BYTES = 512 * MIB  # the values of a Parquet file held in memory
MAX_ROWS_BYTES = 4096 * MIB  # the values of a Parquet file read in batches
UNPACKED_FREELY = 64 * MIB
_UNPACKED_AT_ONCE = MIB // 4
MAX_RATIO = 300  # of decompressed to compressed bytes, for output above UNPACKED_FREELY; runs as text reach 30

# Limits on counts.
MAX_TABLE_ROWS = 10_000_000  # rows of a Parquet file held in memory
MAX_ROWS = 1_000_000  # rows of one file of items; RepoBench-R has about 192,000 in all
MAX_RUN_ROWS = 3_000_000  # rows of one imported run; all candidates of RepoBench-R: 2,500,000
MAX_VIEWS = 5_000_000  # file locations shown or named in the trajectories of one run; about 1,000 per item
MAX_FILES = 500_000  # files of one commit; largest: 100,000
MAX_REJECTS = 100_000  # rejects of one step stored one by one; further ones are only counted
MAX_NAME_CHARACTERS = 4_096  # a path or symbol, possibly repeated in every row: the longest path that systems allow
MAX_PATCH_CHARACTERS = 8 * MIB  # a patch: 100,000 if written by people, some millions if it adds built files

_PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
_ROWS_AT_ONCE = 1 << 14
_AT_ONCE = 64 * MIB
_POLARS = (pl.exceptions.PolarsError, pl.exceptions.PanicException)


class TooMuchUnpackedError(Exception):
    """A file is larger than the limit, or becomes so when it is decompressed."""


def parsed_json(
    data: bytes, *, errors: str = "strict", of_pairs: Callable[[list[tuple[str, object]]], object] | None = None
) -> object:
    """The value of a UTF-8 JSON text; raises UnicodeDecodeError, ValueError or (nested too deep) RecursionError.

    `of_pairs` makes an object of its names and values, where a name may stand twice.
    """
    value: object = json.loads(data.decode("utf-8", errors), object_pairs_hook=of_pairs)
    return value


@contextmanager
def unpacked(file: IO[bytes]) -> Iterator[io.BufferedReader]:
    """A file's bytes, decompressed while read if gzip or zstd; damaged data raise OSError or ArrowException."""
    magic = file.read(max(map(len, _PACKED)))
    packed = next((name for start, name in _PACKED.items() if magic.startswith(start)), "")
    n_bytes = file.seek(0, io.SEEK_END)
    file.seek(0)
    limit = MAX_STREAMED_BYTES
    if packed:
        # Arrow is slow to import, and most files are not compressed.
        import pyarrow as pa

        # The most that this number of compressed bytes may expand to.
        limit = min(limit, max(UNPACKED_FREELY, MAX_RATIO * n_bytes))
        file = pa.CompressedInputStream(pa.PythonFile(file, "r"), packed)
    yield io.BufferedReader(_Measured(file, limit), _UNPACKED_AT_ONCE)


class _Measured(io.RawIOBase):
    """A stream that raises an error after `limit` bytes."""

    def __init__(self, stream: IO[bytes], limit: int) -> None:
        self.stream, self.limit, self.left = stream, limit, limit

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "Buffer") -> int:
        into = memoryview(buffer)
        data = self.stream.read(len(into))
        self.left -= len(data)
        if self.left < 0:
            message = f"it holds more than {self.limit:,} bytes once it is unpacked, the most that is read of it"
            raise TooMuchUnpackedError(message)
        into[: len(data)] = data
        return len(data)


class UnreadableParquetError(ValueError):
    """A file is not Parquet, is damaged or exceeds a limit; the message says which."""


def read_batches(
    file: Path | IO[bytes],
    choose: Callable[[Sequence[str]], Sequence[str]] = lambda names: names,
    *,
    max_rows: int = MAX_TABLE_ROWS,
    max_bytes: int = MAX_TABLE_BYTES,
) -> Iterator[pl.DataFrame]:
    """The rows of an untrusted Parquet file as frames, in order; one empty frame if it has no rows.

    Arrow reads it, as polars can end the process on a damaged file. `choose` maps all column names to those to read.
    """
    # Slow to import, as above.
    import pyarrow as pa
    import pyarrow.parquet as pq  # type: ignore[import-untyped]  # ships no types

    try:
        with file.open("rb") if isinstance(file, Path) else nullcontext(file) as stream:
            stored = pq.ParquetFile(stream)
            about = stored.metadata
            names = list(choose(list(stored.schema_arrow.names)))
            n_unpacked = sum(about.row_group(number).total_byte_size for number in range(about.num_row_groups))
            at_once = min(_ROWS_AT_ONCE, max(1, _AT_ONCE * about.num_rows // max(1, n_unpacked)))
            n_rows = n_bytes = 0
            for batch in stored.iter_batches(batch_size=at_once, columns=names):
                n_rows += batch.num_rows
                n_bytes += batch.nbytes
                if max(n_rows, about.num_rows) > max_rows or n_bytes > max_bytes:
                    limits = f"{max_rows:,} rows, {max_bytes:,} bytes"
                    raise UnreadableParquetError(f"the Parquet holds more than the {limits} that are read; split it")
                batch.validate(full=True)
                yield _frame(batch, names)
            if not n_rows:
                yield _frame(stored.schema_arrow.empty_table(), names)
    except UnreadableParquetError:
        raise
    except MemoryError as error:
        raise UnreadableParquetError("the Parquet takes more memory than --memory-limit leaves; split it") from error
    except (pa.ArrowException, *_POLARS, OSError, ValueError, LookupError) as error:
        reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        raise UnreadableParquetError(f"the Parquet cannot be read: {reason}") from error


def _frame(rows: "pa.RecordBatch | pa.Table", names: Sequence[str]) -> pl.DataFrame:
    """Rows as a frame, built column by column: other metadata of a possibly damaged file are not copied."""
    return pl.DataFrame([pl.Series(name, pl.from_arrow(rows.column(name))) for name in names])


def limit_memory(gigabytes: float | None) -> float | None:
    """Limit the data memory (not address space) of this process and its children; default: 85 % of the machine's."""
    present = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    n_bytes = int(gigabytes * 10**9 if gigabytes else 0.85 * present)
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    resource.setrlimit(resource.RLIMIT_DATA, (n_bytes if hard == resource.RLIM_INFINITY else min(n_bytes, hard), hard))
    return gigabytes
