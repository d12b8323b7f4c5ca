"""Whether a part is as it was written: it carries in its Parquet footer what it is and the digest of its own bytes.

One file holds both, so a part and its record are in place together or not at all, whoever writes and is killed when.
The digest is that of the file with noughts in the digest's own place; the place in the lake tells a part from its copy.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import BinaryIO

from lake.errors import Exit, GoldspanError
from lake.file_states import SETTLED_NS, State, state_of
from lake.fingerprint import canonical_json, fingerprint
from lake.tables import TABLES

FORMAT_VERSION = 3
"""Raised when the layout of the lake changes; part of every fingerprint."""

KEY = "goldspan.part"
"""What the record is called in a part's metadata. Polars writes it into the footer as it is given."""

_FIRST_FORMAT = b"goldspan.fingerprint"
_NO_DIGEST = "0" * 64
# The name, two or three bytes of Thrift, and the value.
_RECORD = re.compile(rb'goldspan\.part[^{]{2,4}(\{[^\0]*"sha256":"([0-9a-f]{64})"\})')
_END = 8
_BLOCK = 1 << 20

_KINDS: tuple[tuple[Callable[[int], bool], str], ...] = (
    (stat.S_ISDIR, "it is a folder"),
    (stat.S_ISFIFO, "it is a pipe"),
    (stat.S_ISSOCK, "it is a socket"),
    (stat.S_ISCHR, "it is a device"),
    (stat.S_ISBLK, "it is a device"),
)

_UNFIT = "the lake holds a part that does not fit: "

HINT = (
    "`python -m ingest verify` names all that does not fit. `make ingest evaluate` sets it aside and makes it again; "
    "a run that was imported is to be imported again."
)


class DamagedPartError(GoldspanError):
    """A part that is not as it was written, or that was never written there."""

    @property
    def why(self) -> str:
        """What is wrong with it."""
        return self.what.removeprefix(_UNFIT)


class OtherFormatError(GoldspanError):
    """A part of a lake that an older or a newer Goldspan wrote."""


@dataclass(frozen=True)
class Record:
    """What a part says of itself.

    Attributes:
        place: Where in the lake it was written.
        fingerprint: What it was made from.
        columns: A digest of its table's columns.
    """

    place: str
    fingerprint: str
    columns: str


def metadata(place: str, made_of: str, table: str) -> dict[str, str]:
    """What a part is written with: its record, the digest still noughts."""
    record = {"columns": columns_of(table), "fingerprint": made_of, "format": FORMAT_VERSION, "place": place}
    # Sorted by name, the digest is last.
    return {KEY: canonical_json({**record, "sha256": _NO_DIGEST})}


def put_digest(path: Path) -> None:
    """Put a new part's digest in the place of the noughts, and the file on the disk."""
    with path.open("r+b") as file:
        footer = _Footer.of(file, path)
        digest = footer.digest_of(file)
        file.seek(footer.start + footer.digest_at)
        file.write(digest.encode())
        file.flush()
        os.fsync(file.fileno())


def checked_record(path: Path, place: str, table: str) -> Record:
    """A part's record, after its bytes were compared with their digest: once per process, while the file is the same.

    Args:
        path: The part.
        place: Where in the lake that is.
        table: Whose part it is to be.

    Raises:
        DamagedPartError: It does not fit its record, or has none.
        OtherFormatError: Another version of the lake's format has written it.
        GoldspanError: It may not be read.
    """
    try:
        record = _read(path)
    except PermissionError as error:
        message = "a part of the lake may not be read"
        raise GoldspanError(message, where=str(path), hint="Grant its reading, then run the same again.") from error
    except OSError as error:
        raise damaged(path, f"it cannot be read: {error.strerror or error}") from error
    if record.place != place:
        raise damaged(path, f"it is a copy of {record.place}")
    if record.columns != columns_of(table):
        raise damaged(path, f"it has other columns than {table} has in this version of Goldspan")
    return record


def damaged(path: Path, why: str) -> DamagedPartError:
    """The error for a part that does not fit."""
    return DamagedPartError(f"{_UNFIT}{why}", where=str(path), hint=HINT, code=Exit.INVALID)


@cache
def columns_of(table: str) -> str:
    """A short digest of a table's columns and their types; empty where there is no such table."""
    declared = TABLES.get(table)
    return fingerprint([(name, str(kind)) for name, kind in declared.columns.items()])[:8] if declared else ""


_checked: dict[Path, tuple[State, Record]] = {}


def _read(path: Path) -> Record:
    status = path.stat()
    for is_kind, why in _KINDS:
        if is_kind(status.st_mode):
            raise damaged(path, why)
    state = state_of(status)
    known = _checked.get(path)
    if known is not None and known[0] == state:
        return known[1]
    with path.open("rb") as file:
        record = _checked_bytes(path, file)
    if time.time_ns() - status.st_ctime_ns > SETTLED_NS:
        _checked[path] = (state, record)
    return record


def _checked_bytes(path: Path, file: BinaryIO) -> Record:
    footer = _Footer.of(file, path)
    if footer.digest_of(file) != footer.digest:
        raise damaged(path, "its bytes are not those that were written")
    record = json.loads(footer.record)
    if record["format"] != FORMAT_VERSION:
        raise _other_format(path, int(record["format"]))
    return Record(record["place"], record["fingerprint"], record["columns"])


def _other_format(path: Path, found: int) -> OtherFormatError:
    age = "an older" if found < FORMAT_VERSION else "a newer"
    message = f"the lake was written by {age} Goldspan: its format is {found}, this one's is {FORMAT_VERSION}"
    hint = "Name another folder with LAKE=…, or delete this one and make it anew: make ingest evaluate. "
    hint += "What was imported is to be imported again."
    return OtherFormatError(message, where=str(path), hint=hint, code=Exit.INVALID)


@dataclass(frozen=True)
class _Footer:
    """The end of a part: where it starts in the file, its bytes, and the record within, whose digest starts there."""

    start: int
    data: bytes
    record: bytes
    digest: str
    digest_at: int

    @classmethod
    def of(cls, file: BinaryIO, path: Path) -> _Footer:
        """Read it.

        Raises:
            DamagedPartError: There is none, or no record in it.
            OtherFormatError: It is of the first format, which had no records.
        """
        n_bytes = file.seek(0, os.SEEK_END)
        file.seek(max(0, n_bytes - _END))
        end = file.read()
        start = n_bytes - _END - int.from_bytes(end[:4], "little")
        if end[4:] != b"PAR1" or start < 0:
            raise damaged(path, "it is no whole Parquet file")
        file.seek(start)
        data = file.read()
        # The metadata is what comes last in a footer; what looks like it before is somebody's text.
        found = _RECORD.match(data, max(0, data.rfind(KEY.encode())))
        if found is None:
            raise _other_format(path, 1) if _FIRST_FORMAT in data else damaged(path, "it was not written by Goldspan")
        return cls(start, data, found[1], found[2].decode(), found.start(2))

    def digest_of(self, file: BinaryIO) -> str:
        """The digest of the file's bytes, noughts being in the digest's place."""
        digest, left = hashlib.sha256(), self.start
        file.seek(0)
        while left and (block := file.read(min(left, _BLOCK))):
            digest.update(block)
            left -= len(block)
        digest.update(self.data[: self.digest_at] + _NO_DIGEST.encode() + self.data[self.digest_at + len(_NO_DIGEST) :])
        return digest.hexdigest()
