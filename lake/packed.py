"""Files that are packed with gzip or zstd, unpacked while they are read and held against limits."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

from lake.limits import MAX_RATIO, MAX_STREAMED_BYTES, UNPACKED_FREELY

if TYPE_CHECKING:
    from typing_extensions import Buffer

MAGIC_BYTES = 4
_PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}


class TooMuchUnpackedError(Exception):
    """A file holds or unpacks to more than is read."""


@contextmanager
def unpacked(file: IO[bytes]) -> Iterator[IO[bytes]]:
    """What a file at its start holds, unpacked while it is read if it is gzip or zstd.

    Raises:
        OSError, ArrowException: What is packed is cut off or damaged.
        TooMuchUnpackedError: It unpacks to more than is read, or to far more than such files do.
    """
    packed = packing(file.read(MAGIC_BYTES))
    n_bytes = file.seek(0, io.SEEK_END)
    file.seek(0)
    if not packed:
        yield io.BufferedReader(_Measured(file, MAX_STREAMED_BYTES))
        return
    limit = min(MAX_STREAMED_BYTES, max(UNPACKED_FREELY, MAX_RATIO * n_bytes))
    # Arrow takes a while to load, and most files are not packed.
    import pyarrow as pa  # type: ignore[import-untyped]  # ships no types

    with pa.CompressedInputStream(pa.PythonFile(file, "r"), packed) as stream:
        yield io.BufferedReader(_Measured(stream, limit))


class _Measured(io.RawIOBase):
    """A stream that is refused where it gives more than so many bytes."""

    def __init__(self, stream: IO[bytes], limit: int) -> None:
        self.stream, self.limit, self.left = stream, limit, limit

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer) -> int:
        into = memoryview(buffer)
        found = self.stream.read(len(into))
        self.left -= len(found)
        if self.left < 0:
            message = f"it holds more than {self.limit:,} bytes once it is unpacked, the most that is read of it"
            raise TooMuchUnpackedError(message)
        into[: len(found)] = found
        return len(found)


def packing(start: bytes) -> str:
    """How a file with these first bytes is packed: `gzip`, `zstd`, or empty."""
    return next((name for magic, name in _PACKED.items() if start.startswith(magic)), "")
