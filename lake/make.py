"""The one way to be current: what parts would be made from, whether they were, and what was done about it.

A part is current while the fingerprints of its inputs, its parameters, and the code in the import closure of the
functions that make it are what they were when it was written. Nothing else decides it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import polars as pl

from lake.code import code_digest
from lake.fingerprint import fingerprint
from lake.parts import FORMAT_VERSION
from lake.store import Lake, ordered
from lake.tables import table


class Input(Protocol):
    """An input of a part: a stored part, a target, or anything else that has a fingerprint."""

    @property
    def fingerprint(self) -> str: ...  # noqa: D102


class Slot(NamedTuple):
    """The place of one part: its table, its name and the values of the table's folders."""

    table: str
    part: str
    folders: Mapping[str, str]


@dataclass(frozen=True)
class BuildTarget:
    """Parts that are made together, as they would be today; the last is written last and says that all are there."""

    lake: Lake
    slots: Sequence[Slot]
    fingerprint: str

    @property
    def is_current(self) -> bool:
        """Whether all are stored and were made from just this."""
        for name, part, folders in self.slots:
            stored = self.lake.part(name, part, **folders)
            if stored is None or stored.fingerprint != self.fingerprint:
                return False
            self.lake.tally.current.add(stored.relative_path)
        return True

    def scan(self, table: str) -> pl.LazyFrame:
        """The rows of one of the tables, as they are stored."""
        (slot,) = (slot for slot in self.slots if slot.table == table)
        return self.lake.scan_part(slot.table, slot.part, **slot.folders)

    def write(self, *frames: pl.DataFrame) -> None:
        """Store the parts."""
        for (name, part, folders), frame in zip(self.slots, frames, strict=True):
            self.lake.write(name, frame, part=part, fingerprint=self.fingerprint, **folders)

    def remove(self) -> None:
        """Take away those of the parts that are stored, the last first."""
        for name, part, folders in reversed(self.slots):
            if stored := self.lake.part(name, part, **folders):
                self.lake.remove(stored)

    def with_suffix(self, suffix: str) -> "BuildTarget":
        """The same parts with more to their names: one of several targets that are made alike."""
        return replace(self, slots=[slot._replace(part=slot.part + suffix) for slot in self.slots])

    def current(self) -> "list[BuildTarget]":
        """Of those that are made alike, whatever more there is to their names, the current ones; others are removed."""
        parts = [(slot.part, part.name) for slot in self.slots for part in self.lake.parts(slot.table, **slot.folders)]
        stored = {name.removeprefix(start) for start, name in parts if name.startswith(start)}
        current = []
        for target in map(self.with_suffix, sorted(stored)):
            if target.is_current:
                current.append(target)
            else:
                target.remove()
        return current

    def make(self, function: Callable[[], pl.DataFrame | Sequence[pl.DataFrame]]) -> bool:
        """Make and store the parts, unless they are current; whether that was to be done."""
        if self.is_current:
            return False
        frames = function()
        self.write(*([frames] if isinstance(frames, pl.DataFrame) else frames))
        return True


def made_from(
    inputs: Iterable[Input | None] = (), parameters: object = None, code: Sequence[Callable[..., object]] = ()
) -> str:
    """The fingerprint of what is made from these; the arguments are as for :func:`target_of`."""
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
    """Parts of some tables that are made together, as they would be made now; that of the last is written last.

    `inputs` are None for what is not there; `parameters` is what else decides what the rows are; `code` are the
    functions that make them and those that these look up by name, in the closure of whose imports the code counts.
    """
    return BuildTarget(lake, [Slot(name, part, folders) for name in tables], made_from(inputs, parameters, code))


def write_by_run(targets: Mapping[str, BuildTarget], *frames: pl.DataFrame) -> None:
    """Store the parts of several runs, which differ in the folder `run_id` alone; of each table there are all rows."""
    first, split = next(iter(targets.values())), []
    for slot, frame in zip(first.slots, frames, strict=True):
        # Checked and sorted once, for most of what a small frame costs is being looked at.
        declared, others = table(slot.table), {name: of for name, of in slot.folders.items() if name != "run_id"}
        rows = ordered(declared, frame, others)
        by_run = {some["run_id"][0]: some for some in rows.partition_by("run_id", maintain_order=True)}
        split.append((declared, by_run, rows.clear()))
    for run_id, target in targets.items():
        # All of a run before the next: who is stopped in between has done what is there.
        for slot, (declared, by_run, nothing) in zip(target.slots, split, strict=True):
            first.lake.put(declared, by_run.get(run_id, nothing), slot.part, target.fingerprint, slot.folders)


def write_if_changed(lake: Lake, name: str, part: str, rows: pl.DataFrame, **folders: str) -> bool:
    """Store rows that are at hand already, unless just these are stored; whether that was to be done."""
    return target_of(lake, name, part=part, inputs=(), parameters=rows.rows(), code=(), **folders).make(lambda: rows)
