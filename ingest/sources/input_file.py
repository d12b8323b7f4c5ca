"""A file made elsewhere, unpacked and read as bytes, text, lines or JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from ingest.sources.rows import LENIENT, MARK, opened, parsed
from ingest.sources.tree import Entry, UnreadableFileError, entry_on_disk, read_document
from lake.errors import Exit, GoldspanError
from lake.limits import MAX_LINE_BYTES

BLOCK_BYTES = 1 << 23
_HEAD_BYTES, _HEAD_BLOCK_BYTES = 1 << 20, 1 << 12


@dataclass(frozen=True)
class InputFile:
    """A file or folder that a user gives, or a file of such a folder or ZIP; its reading raises `UnreadableFileError`.

    `source` is the path as given, for messages; positions count lines, rows or entries, as `unit` says; `example` shows
    the format that it should have.
    """

    entry: Entry
    source: Path = field(default=Path(), kw_only=True)
    unit: str = field(default="line", kw_only=True)
    example: str = field(default="", kw_only=True)

    @classmethod
    def at(cls, path: Path) -> InputFile:
        """The file or folder at a path."""
        # The name is to be printable whatever bytes it contains.
        return cls(entry_on_disk(path, path.name.encode(errors="backslashreplace").decode()), source=path)

    @property
    def path(self) -> str:
        """The file's path among the files it was given with."""
        return self.entry.path

    @property
    def name(self) -> str:
        """The file's name without folders."""
        return self.path.rpartition("/")[2]

    def head(self) -> bytes:
        """The first unpacked bytes, by which a format is recognised; for a damaged file, those before the damage."""
        data = b""
        try:
            with opened(self.entry) as stream:
                while len(data) < _HEAD_BYTES and (block := stream.read(_HEAD_BLOCK_BYTES)):
                    data += block
        except UnreadableFileError:
            if not data:
                raise
        return data

    def data(self) -> bytes:
        """The unpacked content without a byte order mark."""
        with opened(self.entry) as stream:
            return read_document(self.path, stream).removeprefix(MARK)

    def text(self) -> str:
        """The content as text; bytes that are not UTF-8 are replaced."""
        return self.data().decode(errors="replace")

    def json(self, parse: Callable[[bytes], object] = LENIENT) -> object:
        """The content as one JSON value."""
        return parsed(self.path, self.data(), parse)

    def lines(self) -> Iterator[pl.DataFrame]:
        """The non-blank lines in blocks: `position` (from 1) and `text`, without line ends."""
        rest, position = b"", 1
        with opened(self.entry) as stream:
            while block := stream.read(BLOCK_BYTES):
                lines, newline, rest = (rest + block).rpartition(b"\n")
                if newline:
                    yield self._lines(lines, position)
                    position += lines.count(b"\n") + 1
                if len(rest) > MAX_LINE_BYTES:
                    raise self.wrong(what=f"line {position} is longer than {MAX_LINE_BYTES:,} bytes")
        yield self._lines(rest, position)

    def _lines(self, data: bytes, position: int) -> pl.DataFrame:
        try:
            text = data.decode("utf-8-sig" if position == 1 else "utf-8")
        except UnicodeDecodeError as error:
            number = position + data[: error.start].count(b"\n")
            raise self.wrong(what=f"line {number} is not UTF-8: {error.reason}") from error
        return (
            pl.DataFrame({"text": [text]})
            .select(pl.col("text").str.split("\n").explode().str.strip_chars_end("\r"))
            .select(pl.int_range(position, pl.len() + position, dtype=pl.Int64).alias("position"), "text")
            .filter(pl.col("text").str.strip_chars() != "")
        )

    def wrong(self, what: str, *, examples: Sequence[str] = (), hint: str = "") -> GoldspanError:
        """The error for content that cannot be imported; without a `hint`, the format's example is shown."""
        hint = hint or (f"An example of the format: {self.example}" if self.example else "")
        return GoldspanError(what, where=str(self.source), examples=examples, hint=hint, code=Exit.INVALID)
