"""What an import is asked for, and what it did, as its last block says it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ingest.runs.rankings import Tally
from ingest.runs.registry import AUTO
from lake.outcome import Outcome
from lake.parts import PartCounts
from lake.text import counted


@dataclass(frozen=True)
class Wanted:
    """What is to be imported, and as what.

    Attributes:
        file: The file; for trajectories also a ZIP or a folder.
        benchmark: The benchmark whose items it answers.
        system: What made it.
        task: The task it answers; the benchmark's first without one.
        format: An importer's name, or `auto`.
        skip_unknown: Whether answers to items that are not there are counted and left out, in place of an error.
        chunker: What cut the documents, where that is known.
    """

    file: Path
    benchmark: str
    system: str
    task: str = ""
    format: str = AUTO
    skip_unknown: bool = False
    chunker: str = ""


@dataclass(frozen=True)
class Made:
    """How answers were made that were made here, by a program.

    Attributes:
        format: What kind of program it is.
        name: What it is called.
        parameters: What it was told, and what it was made of.
        versions: Program → version.
        limit: How many items of each part it was asked, where that is not all.
        cost: What it cost, as columns of `costs`.
    """

    format: str
    name: str
    parameters: Mapping[str, object]
    versions: Mapping[str, str]
    limit: int | None = None
    cost: Mapping[str, object] = field(default_factory=dict)


@dataclass
class Imported:
    """What an import did.

    Attributes:
        run_id: The run's name.
        n_items: The scorable items of every part of the items that the file touches.
        tally: What reading came upon.
        n_rejected: What was refused, a row of `rejects` each.
        n_unknown: Items named in the file that are not there, and were skipped as asked; `rejects` names each.
        is_current: Whether the run was there already.
        read_as: What was read: the format by its title, and of a search the program.
        notes: Sentences for the last block.
        parts: The parts of the items that the file touches.
    """

    run_id: str
    n_items: int = 0
    tally: Tally = field(default_factory=Tally)
    n_rejected: int = 0
    n_unknown: int = 0
    is_current: bool = False
    read_as: str = ""
    notes: list[str] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)

    def outcome(self, written: str, hint: str, parts: PartCounts | None = None) -> Outcome:
        """The last block."""
        tally = self.tally
        return Outcome(
            written=written,
            expected=self.n_items,
            scored=tally.n_done,
            missing=tally.n_missing,
            failed=tally.n_not_done,
            rejected=self.n_rejected,
            tally=parts or PartCounts(),
            tied=tally.n_tied,
            notes=[f"run {self.run_id}, of {self.read_as}", *self.notes, *self.summary()],
            hint=hint,
        )

    def summary(self) -> list[str]:
        """What reading came upon, as sentences."""
        skipped = f"skipped: {counted(self.n_unknown, 'item')} not asked here; the table rejects names what was skipped"
        not_read = [f"not read: {self.tally.unread.summary()}"] * bool(self.tally.unread)
        return [*self.tally.said(), *not_read, *([skipped] if self.n_unknown else [])]
