"""A file made elsewhere, unpacked and read as text or lines; every error message names the position."""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, ClassVar

import polars as pl

from ingest.sources.rows import UnreadableFileError, opened
from ingest.sources.tree import entry_on_disk
from lake.errors import Exit, GoldspanError

BLOCK_BYTES = 1 << 23
HEAD_BYTES = 1 << 20
MAX_LINE_CHARACTERS = 1 << 22
"""Longer lines are refused, as a line has to be held in memory whole."""


@dataclass(frozen=True)
class InputFile:
    """A file or folder to be imported; positions in it count lines, rows or entries, as `unit` says."""

    path: Path
    unit: str = "line"

    ZIP: ClassVar[tuple[bytes, ...]] = (b"PK\x03\x04", b"PK\x05\x06")
    """The first bytes of a ZIP archive; the second form is that of an empty one."""

    @classmethod
    def at(cls, path: Path) -> InputFile:
        """The file or folder at a path; an error if there is none."""
        if not path.is_file() and not path.is_dir():
            hint = "FILE must be a ranking, completions, trajectories or a folder of them."
            raise GoldspanError(f"there is no file {path}", hint=hint, code=Exit.MISSING)
        return cls(path)

    @property
    def name(self) -> str:
        """The file's name without folders, printable whatever bytes it contains."""
        return self.path.name.encode(errors="backslashreplace").decode()

    @cached_property
    def head(self) -> bytes:
        """The first bytes, unpacked."""
        with self.opened() as stream:
            return stream.read(HEAD_BYTES)

    def texts(self) -> Iterator[str]:
        """The unpacked text in blocks, without a byte order mark."""
        decoder, line = codecs.getincrementaldecoder("utf-8-sig")(), 1
        with self.opened() as stream:
            while block := stream.read(BLOCK_BYTES):
                try:
                    text = decoder.decode(block)
                except UnicodeDecodeError as error:
                    number = line + error.object[: error.start].count(b"\n")
                    raise self.wrong(what=f"line {number} is not UTF-8: {error.reason}") from error
                if "\0" in text:
                    number = line + text[: text.index("\0")].count("\n")
                    raise self.wrong(what=f"line {number} holds a NUL byte: this is no text file")
                line += text.count("\n")
                yield text
        if decoder.getstate()[0]:
            raise self.wrong(what=f"line {line} is not UTF-8: the file ends inside a character")

    def lines(self) -> Iterator[pl.DataFrame]:
        """The non-blank lines in blocks: `position` (from 1) and `text`, without line ends."""
        rest, position = "", 1
        for text in self.texts():
            whole, newline, rest = (rest + text).rpartition("\n")
            if newline:
                yield _lines(whole, position)
                position += whole.count("\n") + 1
            if len(rest) > MAX_LINE_CHARACTERS:
                raise self.wrong(what=f"line {position} is longer than {MAX_LINE_CHARACTERS:,} characters")
        if rest:
            yield _lines(rest, position)

    def wrong(self, what: str, *, examples: Sequence[str] = (), hint: str = "") -> GoldspanError:
        """The error for content that cannot be imported."""
        return GoldspanError(what, where=str(self.path), examples=examples, hint=hint, code=Exit.INVALID)

    @contextmanager
    def opened(self) -> Iterator[IO[bytes]]:
        """The file as a stream, unpacked while it is read."""
        try:
            with opened(entry_on_disk(self.path, self.name, "", self.path.stat().st_size)) as stream:
                yield stream
        except UnreadableFileError as error:
            what = f"the file {str(error).removeprefix('it ')}"
            raise self.wrong(what=what, hint="Write it again, or split it.") from error


def _lines(text: str, position: int) -> pl.DataFrame:
    return (
        pl.DataFrame({"text": [text]})
        .select(pl.col("text").str.split("\n").explode().str.strip_chars_end("\r"))
        .select(pl.int_range(position, pl.len() + position, dtype=pl.Int64).alias("position"), "text")
        .filter(pl.col("text").str.strip_chars() != "")
    )
