"""JSON Lines, read as a stream so that one bad line costs that line alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import IO

from ingest.sources.tree import Entry, UnreadableEntryError
from lake.limits import MAX_LINE_BYTES, parsed_json
from lake.rejects import Rejects

JsonObject = dict[str, object]

MARK = b"\xef\xbb\xbf"
_BLOCK_BYTES = 1 << 20
_BEGINNING_BYTES = 1 << 12


def json_lines(entry: Entry, rejects: Rejects) -> Iterator[tuple[int, JsonObject]]:
    r"""The objects of a JSON Lines file with their line numbers, counted from 1.

    Lines end in `\n` or `\r\n`; blank ones are passed over. A line that is no JSON object, no UTF-8, or beyond the
    limits is refused; so is a file that cannot be read.
    """
    try:
        with entry.open() as stream:
            for number, line in Lines(stream):
                yield from _object(entry.path, number, line, rejects)
    except UnreadableEntryError as error:
        rejects.add(entry.path, "file", f"cannot be read: {error.reason}")


def _object(path: str, number: int, line: bytes | None, rejects: Rejects) -> Iterator[tuple[int, JsonObject]]:
    where = f"line {number}"
    if line is None:
        rejects.add(path, where, f"longer than {MAX_LINE_BYTES:,} bytes, the most that is read of a line")
        return
    if not line.strip():
        return
    try:
        value = parsed_json(line)
    except UnicodeDecodeError as error:
        rejects.add(path, where, f"not UTF-8: {error.reason} at byte {error.start}")
    except (ValueError, RecursionError) as error:
        rejects.add(path, where, f"not JSON ({error}); is the file cut off?", _excerpt(line))
    else:
        if isinstance(value, dict):
            yield number, value
        else:
            rejects.add(path, where, f"a {type(value).__name__}, not an object", _excerpt(line))


class Lines:
    """The lines of a file with their numbers, from 1, without their ends and without a byte order mark.

    In place of a line that is longer than the limit stands None; it is never held whole.

    Attributes:
        unfinished: What was read of the line at which reading broke off.
        beginning: How the last line that was longer than the limit begins.
    """

    def __init__(self, stream: IO[bytes], limit: int = MAX_LINE_BYTES) -> None:
        self.stream, self.limit = stream, limit
        self.parts: list[bytes] = []
        self.length = 0
        self.beginning = b""

    @property
    def unfinished(self) -> bytes:  # noqa: D102
        return b"".join(self.parts)

    def __iter__(self) -> Iterator[tuple[int, bytes | None]]:
        number = 1
        while block := self.stream.read(_BLOCK_BYTES):
            *whole, rest = block.split(b"\n")
            for end in whole:
                self._add(end)
                yield number, self._taken(number)
                number += 1
            self._add(rest)
        if self.length:
            yield number, self._taken(number)

    def _add(self, part: bytes) -> None:
        self.length += len(part)
        self.parts.append(part)
        if self.length > self.limit and self.parts:
            self.beginning = self.beginning or self.unfinished[:_BEGINNING_BYTES]
            self.parts.clear()

    def _taken(self, number: int) -> bytes | None:
        line = self.unfinished if self.length <= self.limit else None
        if line is not None:
            self.beginning = b""
        self.parts, self.length = [], 0
        return line.removeprefix(MARK) if line is not None and number == 1 else line


def is_json_lines(head: bytes) -> bool:
    """Whether a file that begins so is JSON Lines, and not one JSON value over all of its lines.

    It is where the first line that is not blank is a whole JSON value and something follows that does not go on with
    it: `[]` and an object below it are two lines, while a list that stands on one line alone is the whole file.
    """
    first, newline, rest = head.removeprefix(MARK).lstrip().partition(b"\n")
    if not newline or not rest.strip():
        # One line, as far as it can be seen: a single object is JSON Lines of one line as well.
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
