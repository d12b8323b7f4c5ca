"""The outcome of a stage or of one of its jobs, and the final summary printed for it."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from lake.errors import Exit, typed
from lake.parts import PartCounts
from lake.store import Lake

COUNTS = ("expected", "scored", "missing", "failed", "rejected")


@dataclass
class Outcome:
    """The outcome of a stage: `scored` of `expected` items (or items × runs) have a result, `missing` lack an input.

    `warnings` describe the resulting state, `changes` what this command changed. `unit` is a plural noun.
    """

    written: str = ""
    expected: int = 0
    scored: int = 0
    missing: int = 0
    failed: int = 0
    rejected: int = 0
    tied: int = 0
    warnings: list[str] = field(default_factory=list)
    changes: list[str] = field(default_factory=list)
    hint: str = ""
    unit: str = "items"
    tally: PartCounts = field(default_factory=PartCounts)
    parts: str = "parts"

    @classmethod
    def of_lake(cls, lake: Lake, done: "Iterable[Outcome]", unit: str, hint: str) -> "Outcome":
        """The outcome of a stage in a lake, summed over the outcomes of its jobs."""
        whole = cls(str(lake.root), unit=unit, hint=hint, tally=lake.tally, changes=[*lake.damage])
        for outcome in done:
            whole.add(outcome)
        return whole

    def add(self, other: "Outcome") -> None:
        """Add the counts, warnings, changes and parts of another outcome."""
        for name in (*COUNTS, "tied", "warnings", "changes"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.tally.add(other.tally)

    @property
    def code(self) -> Exit:
        """DONE, or INCOMPLETE if rows were rejected, failed or could not be scored."""
        return Exit.INCOMPLETE if self.missing or self.failed or self.rejected else Exit.DONE

    def lines(self, stage: str, seconds: str) -> list[str]:
        """The lines of the final summary."""
        unit = re.sub(r"s\b", "", self.unit, count=1) if self.expected == 1 else self.unit
        done = {name: getattr(self, name) for name in COUNTS[2:]} | {"tied at a cut-off": self.tied}
        parts = f"; {self.parts}: {counts}" if (counts := _counts(self.tally.counts())) else ""
        counts = ", ".join(filter(None, [f"{self.scored:,} of {self.expected:,} {unit}", _counts(done)]))
        first = f"{stage}: {counts}{parts} in {seconds} s → {self.written}"
        is_useful = self.scored or not (self.expected or self.rejected)
        hints = [f"  next: {typed(self.hint)}"] if self.hint and is_useful else []
        return [first, *(f"  {typed(note)}" for note in [*self.changes, *self.warnings]), *hints]


def _counts(numbers: Mapping[str, int]) -> str:
    return ", ".join(f"{n:,} {name}" for name, n in numbers.items() if n)
