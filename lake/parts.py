"""A part of a table: what it is called, where it lies, and whether it is as it was written.

A part lies at `<table>/<folder>=<value>/…/part-<name>.parquet`. Its Parquet metadata says what it is. Between its rows
and its Parquet footer, where no reader of Parquet looks, stands the sha256 of all its other bytes: one file holds both.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote, unquote

import polars as pl

from lake.errors import Exit, GoldspanError
from lake.fingerprint import State, canonical_json, fingerprint, state_of
from lake.tables import TABLES, Table

FORMAT_VERSION = 4
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
_KEY = "goldspan.part"
_FIRST_WITH_DIGEST = 4
"""The first format whose parts have their digest before the footer."""
_DIGEST_BYTES = 32
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
    def relative_path(self) -> str:
        """Where it lies in the lake."""
        return "/".join(self.path.parts[-len(self.folders) - 2 :])

    @property
    def fingerprint(self) -> str:
        """What the part was made from, after it was compared with what was recorded when it was written.

        Raises:
            DamagedPartError: It is not as it was written.
        """
        return check_part(self.path, self.relative_path, self.table)


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
    """What a part's Parquet metadata says of it."""
    record = {"columns": columns_of(table), "fingerprint": made_of, "format": FORMAT_VERSION, "place": place}
    return {_KEY: canonical_json(record)}


def add_digest(path: Path) -> None:
    """Put the digest of a new Parquet file before its footer, and the file on the disk."""
    with path.open("r+b") as file:
        start, footer = _footer(file, path)
        digest = _digest(file, start, footer)
        file.seek(start)
        file.write(digest + footer)
        file.flush()
        os.fsync(file.fileno())


def check_part(path: Path, place: str, table: str) -> str:
    """A part's fingerprint, after its bytes were compared with their digest, once per process.

    Raises:
        DamagedPartError: It does not fit its record, or has none.
        OtherFormatError: Another version of the lake's format has written it.
        GoldspanError: It may not be read.
    """
    try:
        record = _record(path, state_of(path.stat()))
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


@cache
def _record(path: Path, _: State) -> dict[str, str]:
    if kind := _KINDS.get(stat.S_IFMT(path.stat().st_mode)):
        raise damaged(path, f"it is a {kind}")
    with path.open("rb") as file:
        start, footer = _footer(file, path)
        start = max(0, start - _DIGEST_BYTES)
        file.seek(start)
        is_whole = file.read(_DIGEST_BYTES) == _digest(file, start, footer)
    try:
        record = json.loads(pl.read_parquet_metadata(path)[_KEY])
        version = int(record["format"])
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, LookupError, ValueError, RecursionError) as error:
        why = "its record cannot be read" if is_whole else "its bytes are not those that were written"
        raise damaged(path, why) from error
    if version != FORMAT_VERSION and (is_whole or 0 < version < _FIRST_WITH_DIGEST):
        raise _other_format(path, version)
    if not is_whole:
        raise damaged(path, "its bytes are not those that were written")
    return {name: str(record.get(name)) for name in ("columns", "fingerprint", "place")}


def _other_format(path: Path, found: int) -> OtherFormatError:
    age = "an older" if found < FORMAT_VERSION else "a newer"
    message = f"the lake was written by {age} Goldspan: its format is {found}, this one's is {FORMAT_VERSION}"
    hint = "Name another folder with LAKE=…, or delete this one and make it anew: make ingest evaluate. "
    hint += "What was imported is to be imported again."
    return OtherFormatError(message, where=str(path), hint=hint, code=Exit.INVALID)


def _footer(file: BinaryIO, path: Path) -> tuple[int, bytes]:
    """Where a Parquet file's footer starts, and its bytes to the end of the file."""
    n_bytes = file.seek(0, os.SEEK_END)
    file.seek(max(0, n_bytes - _END))
    end = file.read()
    start = n_bytes - _END - int.from_bytes(end[:4], "little")
    if end[4:] != b"PAR1" or start < 0:
        raise damaged(path, "it is no whole Parquet file")
    file.seek(start)
    return start, file.read()


def _digest(file: BinaryIO, n_bytes: int, footer: bytes) -> bytes:
    """The sha256 of a file's first bytes and its footer."""
    digest = hashlib.sha256()
    file.seek(0)
    while block := file.read(min(_BLOCK, n_bytes - file.tell())):
        digest.update(block)
    digest.update(footer)
    return digest.digest()
