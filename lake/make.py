"""The single rule for whether stored parts are current, and the making of those that are not.

A part is current as long as the fingerprints of its inputs, its parameters, and the code in the import closure of the
functions that make it are the same as when it was written. Nothing else matters.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import polars as pl

from lake.code import code_digest
from lake.fingerprint import fingerprint
from lake.parts import FORMAT_VERSION
from lake.store import Lake


class Input(Protocol):
    """An input of a part: a stored part, a build target, or anything else with a fingerprint."""

    @property
    def fingerprint(self) -> str: ...  # noqa: D102


class Slot(NamedTuple):
    """The location of one part: its table, its name and the values of the table's folders."""

    table: str
    part: str
    folders: Mapping[str, str]


@dataclass(frozen=True)
class BuildTarget:
    """Parts made together, with the fingerprint they would have now; the last is written last, to mark completion."""

    lake: Lake
    slots: Sequence[Slot]
    fingerprint: str

    @property
    def is_current(self) -> bool:
        """Whether all parts are stored with this fingerprint; parts found so are tallied as current."""
        for name, part, folders in self.slots:
            stored = self.lake.part(name, part, **folders)
            if stored is None or stored.fingerprint != self.fingerprint:
                return False
            self.lake.tally.current.add(stored.relative_path)
        return True

    def scan(self, table: str) -> pl.LazyFrame:
        """The stored rows of one of the target's tables."""
        (slot,) = (slot for slot in self.slots if slot.table == table)
        return self.lake.scan_part(slot.table, slot.part, **slot.folders)

    def write(self, *frames: pl.DataFrame) -> None:
        """Store the parts, one frame per slot."""
        for (name, part, folders), frame in zip(self.slots, frames, strict=True):
            self.lake.write(name, frame, part=part, fingerprint=self.fingerprint, **folders)

    def remove(self) -> None:
        """Remove the stored parts, the last slot first."""
        for name, part, folders in reversed(self.slots):
            if stored := self.lake.part(name, part, **folders):
                self.lake.remove(stored)

    def make(self, function: Callable[[], pl.DataFrame | Sequence[pl.DataFrame]]) -> bool:
        """Make and store the parts unless they are current; return whether they were made."""
        if self.is_current:
            return False
        frames = function()
        self.write(*([frames] if isinstance(frames, pl.DataFrame) else frames))
        return True


def made_from(
    inputs: Iterable[Input | None] = (), parameters: object = None, code: Sequence[Callable[..., object]] = ()
) -> str:
    """The fingerprint of something made from these; the arguments are those of :func:`target_of`."""
    read = [part.fingerprint if part else "" for part in inputs]
    return fingerprint(FORMAT_VERSION, read, parameters, code_digest(*code))


def target_of(
    lake: Lake,
    *tables: str,
    part: str,
    inputs: Iterable[Input | None] = (),
    parameters: object = None,
    code: Sequence[Callable[..., object]] = (),
    **folders: str,
) -> BuildTarget:
    """A target of one part in each of `tables`, made together under the same name; the last table is written last.

    An input that does not exist is None. `parameters` are all other values that determine the rows, `code` the
    functions that make them or are looked up by name.
    """
    return BuildTarget(lake, [Slot(name, part, folders) for name in tables], made_from(inputs, parameters, code))


def write_if_changed(lake: Lake, name: str, part: str, rows: pl.DataFrame, **folders: str) -> bool:
    """Store rows that are already computed unless the same rows are stored; return whether they were written."""
    return target_of(lake, name, part=part, inputs=(), parameters=rows.rows(), code=(), **folders).make(lambda: rows)
