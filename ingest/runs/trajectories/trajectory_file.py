"""The files that trajectories stand in: one alone, or those of a folder or a ZIP; what is damaged is told, not lost."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from posixpath import dirname, join, normpath
from typing import IO

from ingest.runs.values import JsonRecord
from ingest.sources.input_file import HEAD_BYTES
from ingest.sources.rows import MARK, Lines, UnreadableFileError, is_json_lines
from lake.errors import MAX_EXAMPLES, GoldspanError
from lake.limits import MAX_DOCUMENT_BYTES, MAX_LINE_BYTES, parsed_json

_NAMED = re.compile(r'"(?:original_inst_id|instance_id)"\s*:\s*"([^"\\]{1,300})"')
_LOOKED_THROUGH = 4096
_SMALL_BLOCK_BYTES, _BLOCK_BYTES = 1 << 12, 1 << 20
_KINDS = {list: "a list", str: "a text", bool: "true or false", type(None): "null"}


class DamagedFileError(Exception):
    """A file, or a part of one, that cannot be read to its end: why, the item it says it is about, and where it is."""

    def __init__(self, reason: str, item: str = "", position: str = "") -> None:
        super().__init__(reason)
        self.reason, self.item, self.position = reason, item, position


@dataclass(frozen=True)
class TrajectoryFile:
    """One file that may hold trajectories, read when asked and never kept; `all` are those given with it, by path.

    `damages` are parts that could not be read; `objects` adds to them, and the import makes failed items of them.
    """

    path: str
    opened: Callable[[], AbstractContextManager[IO[bytes]]]
    all: Mapping[str, TrajectoryFile] = field(default_factory=dict, repr=False, compare=False)
    damages: list[DamagedFileError] = field(default_factory=list, compare=False)

    def head(self) -> bytes:
        """The first bytes, unpacked: what a format is recognised by. Of a damaged file, those before the damage."""
        data = bytearray()
        try:
            for block in self._blocks(HEAD_BYTES, _SMALL_BLOCK_BYTES):
                data += block
        except DamagedFileError:
            if not data:
                raise
        return bytes(data)

    def beside(self, path: str) -> TrajectoryFile | None:
        """The file of a path relative to this one's folder, where one was given."""
        return self.all.get(normpath(join(dirname(self.path), path)))

    def data(self) -> bytes:
        """The content, unpacked; a `DamagedFileError` where it is damaged or has more than `MAX_DOCUMENT_BYTES`."""
        data = b"".join(self._blocks(MAX_DOCUMENT_BYTES + 1, _BLOCK_BYTES))
        if len(data) > MAX_DOCUMENT_BYTES:
            reason = f"it holds more than {MAX_DOCUMENT_BYTES:,} bytes, which are read at most"
            raise DamagedFileError(reason, _item_named(data))
        return data

    def text(self) -> str:
        """The content as text, without a byte order mark; bytes that are no UTF-8 are replaced."""
        return self.data().decode(errors="replace").removeprefix("\ufeff")

    def json(self) -> object:
        """The content as one JSON value, a `DamagedFileError` where it is none."""
        value = _parsed(self.data().removeprefix(MARK))
        if isinstance(value, DamagedFileError):
            raise value
        return value

    def objects(self) -> Iterator[tuple[str, JsonRecord]]:
        """The objects of JSON Lines, of a JSON list, or of one JSON object, each with its position.

        A line or entry that is no object is added to `damages`, and the next is read. JSON Lines may be of any length.
        A file that holds one object gives it an empty position. What else is damaged is a `DamagedFileError`.
        """
        values = self._lines() if is_json_lines(self.head()) else self._entries()
        for position, value in values:
            if isinstance(value, dict):
                yield position, value
                continue
            if not isinstance(value, DamagedFileError):
                value = DamagedFileError(f"it is {_KINDS.get(type(value), 'a number')}, not an object")
            value.position = position
            self.damages.append(value)

    def fail_if_damaged(self) -> None:
        """Refuse a file whose rows make up one trajectory, where some of them could not be read."""
        if self.damages:
            reason = "; ".join(f"{damage.position}: {damage.reason}" for damage in self.damages[:MAX_EXAMPLES])
            self.damages.clear()
            raise DamagedFileError(reason)

    def rows(self) -> list[JsonRecord]:
        """The objects of a file that is one trajectory: where one is damaged, all of it is."""
        rows = [row for _, row in self.objects()]
        self.fail_if_damaged()
        return rows

    def _entries(self) -> Iterator[tuple[str, object]]:
        value = self.json()
        if isinstance(value, list):
            return ((f"entry {number}", entry) for number, entry in enumerate(value, start=1))
        return iter([("", value)])

    def _lines(self) -> Iterator[tuple[str, object]]:
        unfinished = b""
        try:
            with self._stream() as stream:
                lines = Lines(stream)
                try:
                    for number, line in lines:
                        if line is None:
                            longest = f"line {number} has more than {MAX_LINE_BYTES:,} bytes, which are read at most"
                            yield f"line {number}", DamagedFileError(longest, _item_named(lines.beginning))
                        elif line.strip():
                            yield f"line {number}", _parsed(line)
                finally:
                    unfinished = lines.unfinished
        except DamagedFileError as error:
            raise DamagedFileError(error.reason, error.item or _item_named(unfinished)) from error

    def _blocks(self, n_bytes: int, block_bytes: int) -> Iterator[bytes]:
        with self._stream() as stream:
            while n_bytes > 0 and (block := stream.read(min(n_bytes, block_bytes))):
                n_bytes -= len(block)
                yield block

    @contextmanager
    def _stream(self) -> Iterator[IO[bytes]]:
        try:
            with self.opened() as stream:
                yield stream
        except (GoldspanError, UnreadableFileError) as error:
            reason = error.what if isinstance(error, GoldspanError) else f"it {str(error).removeprefix('it ')}"
            raise DamagedFileError(reason) from error


def _parsed(data: bytes) -> object:
    try:
        return parsed_json(data, errors="replace")
    except json.JSONDecodeError as error:
        cut = "; is it cut off?" if error.pos >= len(error.doc.rstrip()) or error.msg.startswith("Unterminated") else ""
        reason = f"not JSON at line {error.lineno}, column {error.colno}: {error.msg}{cut}"
    except RecursionError:
        reason = "its lists and objects are nested too deep"
    except ValueError as error:
        # A number of more digits than Python turns into one.
        reason = f"not JSON: {str(error).partition(';')[0]}"
    return DamagedFileError(reason, _item_named(data))


def _item_named(data: bytes) -> str:
    parts = (data[:_LOOKED_THROUGH], data[-_LOOKED_THROUGH:])
    return next((match[1] for part in parts if (match := _NAMED.search(part.decode(errors="replace")))), "")
