"""A part of a table: one Parquet file, whose name says what it was made from and which bytes were written.

It lies at `<table>/<folder>=<value>/…/part-<name>.<fingerprint>.<digest>.parquet`. The digest is of the lake's format,
the table's columns, all of the path before it, and the bytes; whoever reads a part first compares it. A part of which
a bit is flipped, which was copied or moved, or which has the columns of another version, is so told from a whole one.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from urllib.parse import quote, unquote

import polars as pl

from lake.errors import Exit, GoldspanError
from lake.tables import TABLES, Table

FORMAT_VERSION = 5
"""Raised when the layout of the lake changes; part of every fingerprint and of every digest."""
MAX_NAME_BYTES = 240
"""Of a file's or folder's name: file systems take 255, and what a part is called while it is written is longer."""
FORMAT = {"goldspan.part": f'{{"format":{FORMAT_VERSION}}}'}
"""What every part's Parquet metadata says, by which another version's lake is known."""

DAMAGE_HINT = (
    "`python -m ingest verify` names all that does not fit. `make ingest evaluate` sets it aside and makes it again; "
    "a run that was imported is to be imported again."
)

# '@' and '+' are in protocol and system names and are safe in a path; '/' and '%' are not.
_SAFE = "@+,:~ "
_DIGEST_LENGTH = 16
_FILE = re.compile(rf"part-(.*)\.([^.]*)\.([0-9a-f]{{{_DIGEST_LENGTH}}})\.parquet", re.DOTALL)
_WRITTEN_AS = re.compile(r'\{.*"format":(\d{1,9})\b.*\}')


class DamagedPartError(GoldspanError):
    """A part that is not as it was written, or that was never written there."""


class OtherFormatError(GoldspanError):
    """A part of a lake that an older or a newer Goldspan wrote."""


@dataclass(frozen=True)
class Part:
    """One stored part of a table; without a fingerprint of its inputs it is a file that was not written here."""

    table: str
    name: str
    path: Path
    folders: dict[str, str]
    fingerprint: str = ""
    digest: str = ""

    @property
    def relative_path(self) -> str:
        """Where in the lake it belongs, whatever it is made from."""
        return "/".join([*self.path.parts[-len(self.folders) - 2 : -1], f"part-{quoted(self.name)}"])


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


def new_part(
    root: Path, declared: Table, name: str, folders: Mapping[str, str], fingerprint: str, data: memoryview
) -> Part:
    """A part that is to be written: its path holds the digest of its bytes."""
    stem = ".".join([f"part-{quoted(name)}", fingerprint])
    inside = [declared.name, *(f"{folder}={quoted(folders[folder])}" for folder in declared.folders)]
    for called in [*inside, f"{stem}.{'0' * _DIGEST_LENGTH}.parquet"]:
        if len(called.encode()) > MAX_NAME_BYTES:
            message = f"a name is too long for a file's: {len(called.encode()):,} bytes, {MAX_NAME_BYTES} at most"
            raise GoldspanError(message, examples=[called], hint="Give it a shorter one.", code=Exit.USAGE)
    written = hashlib.sha256(_digest_prefix(declared.name, root.joinpath(*inside), stem, len(inside)))
    written.update(data)
    digest = written.hexdigest()[:_DIGEST_LENGTH]
    return Part(
        declared.name, name, root.joinpath(*inside, f"{stem}.{digest}.parquet"), dict(folders), fingerprint, digest
    )


def parts_below(root: Path, declared: Table, folders: Mapping[str, str], name: str | None = None) -> list[Part]:
    """The parts of a table by path, those of some values of its folders, or of one name, alone."""
    if unexpected := sorted(set(folders) - set(declared.folders)):
        raise KeyError(f"{declared.name} has no folder {unexpected[0]}")
    # Names, not paths: this is asked some thousand times of a lake, and paths cost more than the system's answers.
    below = [(f"{root}/{declared.name}", list[str]())]
    for folder in declared.folders:
        start = f"{folder}={quoted(folders[folder])}" if folder in folders else f"{folder}="
        below = [
            (f"{path}/{value}", [*values, value])
            for path, values in below
            for value in ([start] if folder in folders else _names(path, start, is_folder=True))
        ]
    start = "part-" if name is None else f"part-{quoted(name)}."
    parts = []
    for path, values in below:
        inside = dict(zip(declared.folders, (unquote(value.partition("=")[2]) for value in values), strict=True))
        for file in _names(path, start):
            written = _FILE.fullmatch(file)
            called, *made = (unquote(written[1]), written[2], written[3]) if written else (file,)
            parts.append((values, Part(declared.name, called, Path(path, file), inside, *made)))
    # By name, whatever they were made from: equal inputs are read in the same order in every lake.
    parts.sort(key=lambda pair: (pair[0], f"{pair[1].name}.parquet", pair[1].path.name))
    return [part for _, part in parts if name in (None, part.name)]


def _names(folder: str, start: str, *, is_folder: bool = False) -> list[str]:
    """What in a folder begins so: the folders, or the Parquet files."""
    try:
        with os.scandir(folder) as entries:
            return [
                entry.name
                for entry in entries
                if entry.name.startswith(start)
                and (entry.is_dir() if is_folder else entry.name.endswith(".parquet") and entry.is_file())
            ]
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return []


def remove_empty(folder: Path, root: Path) -> None:
    """Take away a folder below a lake's root, and those above it, as far as they are empty."""
    while folder != root and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent


def fault_of(part: Part) -> str:
    """What is wrong with a part; empty where it is as it was written.

    Raises:
        OtherFormatError: Another version of the lake's format has written it.
    """
    try:
        prefix = _digest_prefix(part.table, part.path.parent, part.path.name.rsplit(".", 2)[0], len(part.folders) + 1)
        is_whole = part.digest == _digest(part.path, part.path.stat().st_mtime_ns, prefix)
    except PermissionError:
        raise
    except OSError as error:
        return f"it cannot be read: {error.strerror or error}"
    if is_whole:
        return ""
    _check_format(part.path)
    return "it is not what was written there"


def check_part(part: Part) -> None:
    """See that a part is as it was written; its bytes are read once per process."""
    if why := fault_of(part):
        message = f"the lake holds a part that does not fit: {why}"
        raise DamagedPartError(message, where=str(part.path), hint=DAMAGE_HINT, code=Exit.INVALID)


def _digest_prefix(table: str, folder: Path, stem: str, depth: int) -> bytes:
    """The first of what a part's digest is over: the lake's format, the table's columns and the part's path."""
    return repr((FORMAT_VERSION, _columns(table), folder.parts[-depth:], stem)).encode(errors="surrogateescape")


@cache
def _columns(table: str) -> str:
    return ", ".join(f"{name} {kind}" for name, kind in TABLES[table].columns.items())


@cache
def _digest(path: Path, _: int, prefix: bytes) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.sha256(prefix)).hexdigest()[:_DIGEST_LENGTH]


def _check_format(path: Path) -> None:
    try:
        with path.open("rb") as file:
            record = pl.read_parquet_metadata(file).get("goldspan.part", "")
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return
    if (written := _WRITTEN_AS.fullmatch(record)) and (version := int(written[1])) != FORMAT_VERSION:
        age = "an older" if version < FORMAT_VERSION else "a newer"
        message = f"the lake was written by {age} Goldspan: its format is {version}, this one's is {FORMAT_VERSION}"
        hint = "Name another folder with LAKE=…, or delete this one and make it anew: make ingest evaluate. "
        hint += "What was imported is to be imported again."
        raise OtherFormatError(message, where=str(path), hint=hint, code=Exit.INVALID)


def quoted(value: str) -> str:
    """A value as it is spelt in a path."""
    try:
        return quote(value, safe=_SAFE)
    except UnicodeEncodeError as error:
        message = "a name holds bytes that are no text"
        raise GoldspanError(message, examples=[value], hint="Write it in UTF-8.", code=Exit.USAGE) from error
