"""What reading trajectories came upon, and how the last block says it."""

from __future__ import annotations

from dataclasses import dataclass

from ingest.runs.rankings import Tally
from lake.text import counted


@dataclass
class TrajectoryTally(Tally):
    """Counts of an import of trajectories, over the items that can be scored here.

    Attributes:
        n_failed: Trajectories that cannot be scored: cut off, damaged.
        n_no_context: Trajectories that give no final context.
        n_no_patch: Trajectories without a patch.
        n_steps: Steps of all trajectories.
        n_spans: Ranges of lines, of steps and final contexts.
        n_beyond: Ranges that end past their file.
        n_reversed: Ranges that end before they start, or start or end before line 1.
        n_skipped: Files that hold no trajectory.
        n_faulty_patches: Patches that cannot be read to their end as patches.
        n_reading: Calls that were meant to show something of files.
        n_showing: Those of them that did.
    """

    n_failed: int = 0
    n_no_context: int = 0
    n_no_patch: int = 0
    n_steps: int = 0
    n_spans: int = 0
    n_beyond: int = 0
    n_reversed: int = 0
    n_skipped: int = 0
    n_faulty_patches: int = 0
    n_reading: int = 0
    n_showing: int = 0

    @property
    def n_not_done(self) -> int:  # noqa: D102
        return self.n_failed + self.n_no_context

    def said(self) -> list[str]:
        """The counts as sentences: the sizes always, the rest where it is not zero."""
        n = self.n_done + self.n_failed + self.n_no_context
        sizes = f"trajectories: {n:,}, with {counted(self.n_steps, 'step')} and {counted(self.n_spans, 'span')}"
        faults = (
            (self.n_beyond, "run past the end of their file"),
            (self.n_reversed, "are reversed or start before line 1"),
        )
        items = (
            (self.n_failed, "failed: {:,} of them cannot be read to their end"),
            (self.n_no_context, "no-context: {:,} of them give no final context"),
            (self.n_no_patch, "without a patch: {:,}"),
            (self.n_faulty_patches, "patches with faults: {:,}, each in the table rejects"),
            (self.n_skipped, "passed over, as no trajectories: {:,} of the files"),
        )
        ranges = [f"{count:,} {what}" for count, what in faults if count]
        return [
            sizes,
            *self.warnings(),
            *([f"ranges kept as they were given: {', '.join(ranges)}"] * bool(ranges)),
            *(text.format(count) for count, text in items if count),
            *super().said(),
        ]

    def warnings(self) -> list[str]:
        """What is to be known before the numbers are believed."""
        if 2 * self.n_showing >= self.n_reading:
            return []
        share = f"{self.n_showing:,} of {counted(self.n_reading, 'call')}"
        hint = "`python -m ingest show FILE` says which"
        return [f"warning: only {share} that read files showed something that is understood; {hint}"]
