"""A part of a table: what it is called, where it lies, and whether it is as it was written.

A part lies at `<table>/<folder>=<value>/…/part-<name>.parquet`. Its Parquet footer carries what it is and the digest of
its own bytes: one file holds both, so a part and its record are in place together or not at all. The digest is that of
the file with noughts in the digest's own place; the place in the lake tells a part from its copy.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import BinaryIO, NamedTuple
from urllib.parse import quote, unquote

from lake.errors import Exit, GoldspanError
from lake.fingerprint import SETTLED_NS, State, canonical_json, fingerprint, state_of
from lake.tables import TABLES, Table

FORMAT_VERSION = 3
"""Raised when the layout of the lake changes; part of every fingerprint."""

MAX_NAME_BYTES = 240
"""Of a file's or folder's name: file systems take 255, and what a part is called while it is written is longer."""

HINT = (
    "`python -m ingest verify` names all that does not fit. `make ingest evaluate` sets it aside and makes it again; "
    "a run that was imported is to be imported again."
)

# '@' and '+' are in protocol and system names and are safe in a path; '/' and '%' are not.
_SAFE = "@+,:~ "
_UNFIT = "the lake holds a part that does not fit: "
_FIRST_FORMAT = b"goldspan.fingerprint"
_NO_DIGEST = "0" * 64
# Polars writes the record into the footer as it is given: the name, two or three bytes of Thrift, and the value.
_KEY = "goldspan.part"
_RECORD = re.compile(rb'goldspan\.part[^{]{2,4}(\{[^\0]*"sha256":"([0-9a-f]{64})"\})')
_END = 8
_BLOCK = 1 << 20
_KINDS = {
    stat.S_IFDIR: "folder",
    stat.S_IFIFO: "pipe",
    stat.S_IFSOCK: "socket",
    stat.S_IFCHR: "device",
    stat.S_IFBLK: "device",
}


class DamagedPartError(GoldspanError):
    """A part that is not as it was written, or that was never written there."""

    @property
    def why(self) -> str:
        """What is wrong with it."""
        return self.what.removeprefix(_UNFIT)


class OtherFormatError(GoldspanError):
    """A part of a lake that an older or a newer Goldspan wrote."""


@dataclass(frozen=True)
class Part:
    """One stored part of a table."""

    table: str
    name: str
    path: Path
    folders: dict[str, str]

    @property
    def place(self) -> str:
        """Where it lies in the lake."""
        return "/".join(self.path.parts[-len(self.folders) - 2 :])

    @property
    def fingerprint(self) -> str:
        """What the part was made from, after it was compared with what was recorded when it was written.

        Raises:
            DamagedPartError: It is not as it was written.
        """
        return check_part(self.path, self.place, self.table)


@dataclass
class PartCounts:
    """What was done about a lake's parts, each by its place and counted once, however often it was looked at."""

    made: set[str] = field(default_factory=set)
    current: set[str] = field(default_factory=set)
    removed: set[str] = field(default_factory=set)

    def add(self, other: PartCounts) -> None:
        """Take in what another process did."""
        self.made |= other.made
        self.current |= other.current
        self.removed |= other.removed

    def counts(self) -> dict[str, int]:
        """How many parts were made, were current already, and were removed for good."""
        current, removed = self.current - self.made - self.removed, self.removed - self.made
        return {"made": len(self.made), "current": len(current), "removed": len(removed)}


def part_at(declared: Table, path: Path) -> Part:
    """The part that lies at a path of a table."""
    pairs = (folder.partition("=") for folder in path.parts[-len(declared.folders) - 1 : -1])
    folders = {name: unquote(value) for name, _, value in pairs}
    return Part(declared.name, unquote(path.name.removeprefix("part-").removesuffix(".parquet")), path, folders)


def path_of(root: Path, declared: Table, part: str, folders: Mapping[str, str]) -> Path:
    """Where a part of that name belongs.

    Raises:
        GoldspanError: A name is too long for a file's, or is no text.
    """
    _check_folders(declared, folders, missing=sorted(set(declared.folders) - set(folders)))
    inside = [f"{folder}={quoted(folders[folder])}" for folder in declared.folders]
    names = [declared.name, *inside, f"part-{quoted(part)}.parquet"]
    for name in names:
        if len(name.encode()) > MAX_NAME_BYTES:
            message = f"a name is too long for a file's: {len(name.encode()):,} bytes, {MAX_NAME_BYTES} at most"
            raise GoldspanError(message, examples=[name], hint="Give it a shorter one.", code=Exit.USAGE)
    return root.joinpath(*names)


def parts_below(root: Path, declared: Table, folders: Mapping[str, str]) -> list[Part]:
    """The parts of a table, those of some values of its folders alone, by path; links to folders are not followed."""
    _check_folders(declared, folders)
    # What is special in a pattern is quoted as in the folder's name, but for `*` and `?`.
    values = {name: quoted(value).replace("[", "[[]") for name, value in folders.items()}
    pattern = "/".join([*(f"{folder}={values.get(folder, '*')}" for folder in declared.folders), "part-*.parquet"])
    paths = sorted((root / declared.name).glob(pattern))
    linked = {folder: _is_linked(folder, root) for folder in {path.parent for path in paths}}
    return [part_at(declared, path) for path in paths if not linked[path.parent]]


def _is_linked(folder: Path, root: Path) -> bool:
    """Whether a folder below a lake's root is reached by a link."""
    return folder != root and (folder.is_symlink() or _is_linked(folder.parent, root))


def _check_folders(declared: Table, folders: Mapping[str, str], missing: Sequence[str] = ()) -> None:
    unexpected = sorted(set(folders) - set(declared.folders))
    if unexpected or missing:
        message = f"{declared.name}: folders missing {missing or []}, unexpected {unexpected}"
        raise GoldspanError(message, hint=f"Its folders are {list(declared.folders)}.")


def quoted(value: str) -> str:
    """A value as it is spelt in a path.

    Raises:
        GoldspanError: It is no text: half a surrogate pair.
    """
    try:
        return quote(value, safe=_SAFE)
    except UnicodeEncodeError as error:
        message = "a name holds bytes that are no text"
        raise GoldspanError(message, examples=[value], hint="Write it in UTF-8.", code=Exit.USAGE) from error


def metadata(place: str, made_of: str, table: str) -> dict[str, str]:
    """What a part is written with: its record, the digest still noughts."""
    record = {"columns": columns_of(table), "fingerprint": made_of, "format": FORMAT_VERSION, "place": place}
    # Sorted by name, the digest is last.
    return {_KEY: canonical_json({**record, "sha256": _NO_DIGEST})}


def put_digest(path: Path) -> None:
    """Put a new part's digest in the place of the noughts, and the file on the disk."""
    with path.open("r+b") as file:
        seal = _seal(file, path)
        file.seek(seal.digest_at)
        file.write(seal.actual.encode())
        file.flush()
        os.fsync(file.fileno())


def check_part(path: Path, place: str, table: str) -> str:
    """A part's fingerprint, after its bytes were compared with their digest: once per process, while it is the same.

    Raises:
        DamagedPartError: It does not fit its record, or has none.
        OtherFormatError: Another version of the lake's format has written it.
        GoldspanError: It may not be read.
    """
    try:
        record = _record(path)
    except PermissionError as error:
        message = "a part of the lake may not be read"
        raise GoldspanError(message, where=str(path), hint="Grant its reading, then run the same again.") from error
    except OSError as error:
        raise damaged(path, f"it cannot be read: {error.strerror or error}") from error
    if record["place"] != place:
        raise damaged(path, f"it is a copy of {record['place']}")
    if record["columns"] != columns_of(table):
        raise damaged(path, f"it has other columns than {table} has in this version of Goldspan")
    return record["fingerprint"]


def damaged(path: Path, why: str) -> DamagedPartError:
    """The error for a part that does not fit."""
    return DamagedPartError(f"{_UNFIT}{why}", where=str(path), hint=HINT, code=Exit.INVALID)


@cache
def columns_of(table: str) -> str:
    """A short digest of a table's columns and their types."""
    return fingerprint([(name, str(kind)) for name, kind in TABLES[table].columns.items()])[:8]


_checked: dict[Path, tuple[State, dict[str, str]]] = {}


def _record(path: Path) -> dict[str, str]:
    status = path.stat()
    if kind := _KINDS.get(stat.S_IFMT(status.st_mode)):
        raise damaged(path, f"it is a {kind}")
    state = state_of(status)
    known = _checked.get(path)
    if known is not None and known[0] == state:
        return known[1]
    with path.open("rb") as file:
        seal = _seal(file, path)
    if seal.actual != seal.digest:
        raise damaged(path, "its bytes are not those that were written")
    try:
        record = json.loads(seal.record)
    except (ValueError, RecursionError):
        record = {}
    if not record.keys() >= {"columns", "fingerprint", "format", "place"}:
        raise damaged(path, "its record cannot be read")
    if record["format"] != FORMAT_VERSION:
        raise _other_format(path, record["format"])
    if time.time_ns() - status.st_ctime_ns > SETTLED_NS:
        _checked[path] = (state, record)
    return dict(record)


def _other_format(path: Path, found: int) -> OtherFormatError:
    age = "an older" if found < FORMAT_VERSION else "a newer"
    message = f"the lake was written by {age} Goldspan: its format is {found}, this one's is {FORMAT_VERSION}"
    hint = "Name another folder with LAKE=…, or delete this one and make it anew: make ingest evaluate. "
    hint += "What was imported is to be imported again."
    return OtherFormatError(message, where=str(path), hint=hint, code=Exit.INVALID)


class _Seal(NamedTuple):
    """A part's record, the digest in it, where in the file that stands, and what it should be."""

    record: bytes
    digest: str
    digest_at: int
    actual: str


def _seal(file: BinaryIO, path: Path) -> _Seal:
    n_bytes = file.seek(0, os.SEEK_END)
    file.seek(max(0, n_bytes - _END))
    end = file.read()
    start = n_bytes - _END - int.from_bytes(end[:4], "little")
    if end[4:] != b"PAR1" or start < 0:
        raise damaged(path, "it is no whole Parquet file")
    file.seek(start)
    footer = file.read()
    # The metadata is what comes last in a footer; what looks like it before is somebody's text.
    found = _RECORD.match(footer, max(0, footer.rfind(_KEY.encode())))
    if found is None:
        raise _other_format(path, 1) if _FIRST_FORMAT in footer else damaged(path, "it was not written by Goldspan")
    digest, left = hashlib.sha256(), start
    file.seek(0)
    while left and (block := file.read(min(left, _BLOCK))):
        digest.update(block)
        left -= len(block)
    digest.update(footer[: found.start(2)] + _NO_DIGEST.encode() + footer[found.end(2) :])
    return _Seal(found[1], found[2].decode(), start + found.start(2), digest.hexdigest())
