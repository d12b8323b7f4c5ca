"""What a part of a table is called and where it lies: `<table>/<folder>=<value>/…/part-<name>.parquet`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, unquote

from lake.errors import Exit, GoldspanError
from lake.integrity import checked_record
from lake.tables import Table

MAX_NAME_BYTES = 240
"""Of a file's or folder's name: file systems take 255, and what a part is called while it is written is longer."""

# '@' and '+' are in protocol and system names and are safe in a path; '/' and '%' are not.
_SAFE = "@+,:~ "


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
        """What the part was made from.

        Raises:
            DamagedPartError: It is not as it was written.
        """
        return self.check()

    def check(self) -> str:
        """Compare the part with what was recorded when it was written; its fingerprint.

        Raises:
            DamagedPartError: It is not as it was written.
        """
        return checked_record(self.path, self.place, self.table).fingerprint


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
    inside = [f"{folder}={quoted(folders[folder])}" for folder in declared.folders]
    names = [declared.name, *inside, f"part-{quoted(part)}.parquet"]
    for name in names:
        if len(name.encode()) > MAX_NAME_BYTES:
            message = f"a name is too long for a file's: {len(name.encode()):,} bytes, {MAX_NAME_BYTES} at most"
            raise GoldspanError(message, examples=[name], hint="Give it a shorter one.", code=Exit.USAGE)
    return root.joinpath(*names)


def pattern_of(declared: Table, folders: Mapping[str, str]) -> str:
    """What the paths of the parts below some folders look like, for glob."""
    # What is special there is quoted as in the folder's name, but for `*` and `?`.
    values = {name: quoted(value).replace("[", "[[]") for name, value in folders.items()}
    return "/".join([*(f"{folder}={values.get(folder, '*')}" for folder in declared.folders), "part-*.parquet"])


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
