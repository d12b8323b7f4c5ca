"""What an import did: what its reading came upon, as counts and as the sentences of its last block."""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl

from ingest.runs.trajectories.trajectory import Unread
from lake.catalog.task import AnswerKind
from lake.outcome import Outcome
from lake.parts import PartCounts
from lake.text import counted

_SENTENCES = (
    ("n_failed", "", "failed: {} of them cannot be read to their end"),
    ("n_no_context", "", "no-context: {} of them give no final context"),
    ("n_no_patch", "", "without a patch: {}"),
    ("n_faulty_patches", "", "patches with faults: {}, each in the table rejects"),
    ("n_skipped", "", "passed over, as no trajectories: {} of the files"),
    ("n_unresolved", "", "unresolved, meaning no file of the pool: {} of {all}"),
    ("n_clamped", "range", "clamped: {} that ended one line past their file"),
    ("n_renumbered", "list", "numbered anew in their order: {} whose ranks were not 1, 2, 3, …"),
    ("n_unscorable", "answer", "left out: {} to items that cannot be scored in this lake"),
    ("n_ambiguous", "name", "the first taken: {} that its file defines several times"),
    ("n_no_chunk", "document", "no chunk of the chunker that was named: {}"),
    ("n_unanswered", "item", "failed: {}, each with the reason in the table run_items"),
    ("n_other_prompt", "completion", "of a prompt that starts at another line than the item's: {}"),
)
"""Count, unit, and the sentence of the last block where it is not zero."""


@dataclass
class ImportCounts:
    """What reading came upon, over the items that can be scored here. What is not said here, `_SENTENCES` says.

    Attributes:
        n_done: Items with an answer.
        n_missing: Items without one that were asked: they fail.
        n_not_asked: Scorable items without one that are not counted as asked.
        n_hits: Documents returned.
        n_spans: Ranges of lines, of steps and final contexts.
        n_not_understood: Tool calls that showed something and were not understood.
        n_reading: Calls that were meant to show something of files.
        n_showing: Those of them that did.
        unresolved: Some paths that mean no file.
        unread: What was met and not read, by kind and name.
    """

    kind: AnswerKind = "ranking"
    n_done: int = 0
    n_missing: int = 0
    n_not_asked: int = 0
    n_unscorable: int = 0
    n_hits: int = 0
    n_unresolved: int = 0
    n_clamped: int = 0
    n_renumbered: int = 0
    n_no_chunk: int = 0
    n_ambiguous: int = 0
    n_tied: int = 0
    n_other_prompt: int = 0
    n_unanswered: int = 0
    n_failed: int = 0
    n_no_context: int = 0
    n_no_patch: int = 0
    n_steps: int = 0
    n_spans: int = 0
    n_beyond: int = 0
    n_reversed: int = 0
    n_skipped: int = 0
    n_faulty_patches: int = 0
    n_calls: int = 0
    n_not_understood: int = 0
    n_reading: int = 0
    n_showing: int = 0
    unresolved: list[str] = field(default_factory=list)
    unread: Unread = field(default_factory=Unread)

    def name_unresolved(self, paths: pl.Series) -> None:
        """Count paths that mean no file, and keep the first three of them."""
        self.n_unresolved += len(paths)
        room = max(0, 3 - len(self.unresolved))
        self.unresolved += paths.cast(pl.String).unique(maintain_order=True).head(room).to_list()

    def numbers(self) -> dict[str, int]:
        """The numbers by name."""
        return {name: value for name, value in vars(self).items() if isinstance(value, int)}

    def sentences(self) -> list[str]:
        """The counts as sentences for the last block: of trajectories how much was read, the rest where not zero."""
        sentences = list[str]()
        if self.kind == "trajectory":
            n, steps = self.n_done + self.n_failed + self.n_no_context, counted(self.n_steps, "step")
            sentences += [f"trajectories: {n:,}, with {steps} and {counted(self.n_spans, 'span')}"]
        if self.n_not_understood:
            share = f"{self.n_not_understood:,} of {counted(self.n_calls, 'tool call')}"
            percent = f"{self.n_not_understood / self.n_calls:.1%}".replace("%", " %")
            sentences += [f"not understood: {share} ({percent}), most often {self.unread.of_calls().summary(3)}"]
        if 2 * self.n_showing < self.n_reading:
            share = f"{self.n_showing:,} of {counted(self.n_reading, 'call')}"
            hint = "`python -m ingest show FILE` says which"
            sentences += [f"warning: only {share} that read files showed something that is understood; {hint}"]
        odd = {"run past the end of their file": self.n_beyond, "are reversed or start before line 1": self.n_reversed}
        if ranges := ", ".join(f"{n:,} {what}" for what, n in odd.items() if n):
            sentences += [f"ranges kept as they were given: {ranges}"]
        every = counted(self.n_hits, "path") + "".join(f", such as {path[:80]!a}" for path in self.unresolved[:1])
        for name, unit, sentence in _SENTENCES:
            if n := self.numbers()[name]:
                sentences.append(sentence.format(counted(n, unit) if unit else f"{n:,}", all=every))
        return sentences


@dataclass
class Imported:
    """What an import did.

    Attributes:
        n_items: The items that were asked: of every part of the items that the file touches the scorable ones, or those
            that it answers.
        n_rejected: What was refused, a row of `rejects` each.
        n_unknown: Items named in the file that are not there, and were skipped as asked; `rejects` names each.
        is_current: Whether the run was there already.
        read_as: What was read: the format by its title, or the program that answered.
        notes: Sentences for the last block.
    """

    run_id: str
    n_items: int = 0
    counts: ImportCounts = field(default_factory=ImportCounts)
    n_rejected: int = 0
    n_unknown: int = 0
    is_current: bool = False
    read_as: str = ""
    notes: list[str] = field(default_factory=list)

    def outcome(self, written: str, hint: str, parts: PartCounts | None = None) -> Outcome:
        """The last block."""
        counts = self.counts
        others = f"--asked-all (in a submission `asked: all`) scores 0 for the other {counts.n_not_asked:,}"
        not_asked = [f"if the system was asked all of them: {others}"] * bool(counts.n_not_asked)
        return Outcome(
            written=written,
            expected=self.n_items,
            scored=counts.n_done,
            missing=counts.n_missing,
            failed=counts.n_unanswered + counts.n_failed + counts.n_no_context,
            rejected=self.n_rejected,
            tally=parts or PartCounts(),
            tied=counts.n_tied,
            warnings=[f"run {self.run_id}, of {self.read_as}", *self.notes, *self.summary(), *not_asked],
            hint=hint,
        )

    def summary(self) -> list[str]:
        """What reading came upon, as sentences."""
        counts = self.counts
        whole = counted(self.n_items + counts.n_not_asked, "item")
        part = f"asked {self.n_items:,} of {whole}, those it answers: a partial run, scored over these and not ranked"
        not_read = f"not read: {counts.unread.summary()}"
        skipped = f"skipped: {counted(self.n_unknown, 'item')} not asked here; the table rejects names what was skipped"
        return [
            *[part] * bool(counts.n_not_asked),
            *counts.sentences(),
            *[not_read] * bool(counts.unread),
            *[skipped] * bool(self.n_unknown),
        ]
