"""Files on this machine as entries: never more is read of one than it had when it was listed."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING

from ingest.sources.tree import Entry, UnreadableEntryError
from lake.limits import MAX_DOCUMENT_BYTES, MAX_STREAMED_BYTES

if TYPE_CHECKING:
    from typing_extensions import Buffer


def entry_on_disk(file: Path, path: str, location: str, size: int) -> Entry:
    """A regular file as an entry, called by some path in the tree of a location.

    It has the size that it was listed with: a file without end, as those of /proc, says 0.
    """
    return Entry(path, size, partial(_read, file, path, location, size), partial(_opened, file, path, location, size))


def too_large(size: int) -> str | None:
    """Why a file of a size is not read at all, if it is not."""
    if size <= MAX_STREAMED_BYTES:
        return None
    return f"it has {size:,} bytes; at most {MAX_STREAMED_BYTES:,} are read of one file"


def _read(file: Path, path: str, location: str, size: int) -> bytes:
    if size > MAX_DOCUMENT_BYTES:
        reason = f"it has {size:,} bytes; at most {MAX_DOCUMENT_BYTES:,} are read whole"
        raise UnreadableEntryError(location, path, reason)
    with _opened(file, path, location, size) as stream:
        return stream.read()


@contextmanager
def _opened(file: Path, path: str, location: str, size: int) -> Iterator[IO[bytes]]:
    try:
        raw = io.FileIO(file, "rb", opener=_at_once)
    except OSError as error:
        raise UnreadableEntryError(location, path, error.strerror or type(error).__name__) from error
    with raw:
        yield io.BufferedReader(_Bounded(raw, path, location, size), 1 << 16)


def _at_once(path: str, flags: int) -> int:
    """Open a file so that nothing is waited for: a pipe without a writer, or one of /proc that has no end."""
    return os.open(path, flags | os.O_NONBLOCK)


class _Bounded(io.RawIOBase):
    """A file that ends where it ended when it was listed, or is refused."""

    def __init__(self, raw: io.FileIO, path: str, location: str, size: int) -> None:
        self.raw, self.path, self.location, self.size = raw, path, location, size

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        return self.raw.seek(offset, whence)

    def tell(self) -> int:
        return self.raw.tell()

    def readinto(self, buffer: Buffer) -> int:
        try:
            n_read = self.raw.readinto(buffer)
        except OSError as error:
            raise UnreadableEntryError(self.location, self.path, error.strerror or type(error).__name__) from error
        if n_read is None:
            reason = "it is still written to: what follows would have to be waited for"
            raise UnreadableEntryError(self.location, self.path, reason)
        if n_read and self.raw.tell() > self.size:
            reason = f"it holds more than the {self.size:,} bytes it was listed with; is it still written to?"
            raise UnreadableEntryError(self.location, self.path, reason)
        return n_read
