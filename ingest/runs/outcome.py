"""What an import did: what its reading came upon, as counts and as the sentences of its last block."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import polars as pl

from ingest.runs.trajectories.trajectory import Unread
from lake.catalog.protocol import AnswerKind
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
class Imported:
    """What an import did.

    Attributes:
        read_as: What was read: the format by its title, or the program that answered.
        n_items: The items that were asked: of every part of the items that the file touches the scorable ones, or those
            that it answers.
        n_rejected: What was refused, a row of `rejects` each.
        n_unknown: Items named in the file that are not there, and were skipped as asked; `rejects` names each.
        is_current: Whether the run was there already.
        counts: What reading came upon, over the items that can be scored here. Beside those of which `_SENTENCES` says
            what they are, there are: n_done, items with an answer; n_missing, items without one that were asked, which
            fail; n_not_asked, scorable items without one that are not counted as asked; n_hits, documents returned;
            n_tied, lists with a tie at a cut-off; n_steps; n_spans, ranges of lines, with n_beyond and n_reversed among
            them; n_calls of tools, with n_not_understood, that showed something and were not understood, n_reading,
            that were meant to show something of files, and n_showing, that did.
        unresolved: Some paths that mean no file.
        unread: What was met and not read, by kind and name.
        notes: Sentences for the last block.
    """

    run_id: str
    kind: AnswerKind = "ranking"
    read_as: str = ""
    n_items: int = 0
    n_rejected: int = 0
    n_unknown: int = 0
    is_current: bool = False
    counts: Counter[str] = field(default_factory=Counter)
    unresolved: list[str] = field(default_factory=list)
    unread: Unread = field(default_factory=Unread)
    notes: list[str] = field(default_factory=list)

    def add_unresolved(self, paths: pl.Series) -> None:
        """Count paths that mean no file, and keep the first three of them."""
        self.counts["n_unresolved"] += len(paths)
        room = max(0, 3 - len(self.unresolved))
        self.unresolved += paths.cast(pl.String).unique(maintain_order=True).head(room).to_list()

    def sentences(self) -> list[str]:
        """The counts as sentences: of trajectories how much was read, the rest where not zero."""
        n, sentences = self.counts, list[str]()
        if self.kind == "trajectory":
            n_all = n["n_done"] + n["n_failed"] + n["n_no_context"]
            steps, spans = counted(n["n_steps"], "step"), counted(n["n_spans"], "span")
            sentences.append(f"trajectories: {n_all:,}, with {steps} and {spans}")
        if n["n_not_understood"]:
            share = f"{n['n_not_understood']:,} of {counted(n['n_calls'], 'tool call')}"
            percent = f"{n['n_not_understood'] / n['n_calls']:.1%}".replace("%", " %")
            most = self.unread.of_calls().summary(3)
            sentences.append(f"not understood: {share} ({percent}), most often {most}")
        if 2 * n["n_showing"] < n["n_reading"]:
            share = f"{n['n_showing']:,} of {counted(n['n_reading'], 'call')}"
            hint = "`python -m ingest show FILE` says which"
            sentences.append(f"warning: only {share} that read files showed something that is understood; {hint}")
        odd = (("n_beyond", "run past the end of their file"), ("n_reversed", "are reversed or start before line 1"))
        if ranges := ", ".join(f"{n[name]:,} {what}" for name, what in odd if n[name]):
            sentences.append(f"ranges kept as they were given: {ranges}")
        paths = counted(n["n_hits"], "path") + "".join(f", such as {path[:80]!a}" for path in self.unresolved[:1])
        for name, unit, sentence in _SENTENCES:
            if n[name]:
                sentences.append(sentence.format(counted(n[name], unit) if unit else f"{n[name]:,}", all=paths))
        return sentences

    def summary(self) -> list[str]:
        """What reading came upon, as sentences."""
        n_not_asked, sentences = self.counts["n_not_asked"], self.sentences()
        if n_not_asked:
            share = f"asked {self.n_items:,} of {counted(self.n_items + n_not_asked, 'item')}, those it answers"
            sentences.insert(0, f"{share}: a partial run, scored over these and not ranked")
        if self.unread:
            sentences.append(f"not read: {self.unread.summary()}")
        if self.n_unknown:
            n_unknown = counted(self.n_unknown, "item")
            sentences.append(f"skipped: {n_unknown} not asked here; the table rejects names what was skipped")
        return sentences

    def outcome(self, written: str, hint: str, parts: PartCounts | None = None) -> Outcome:
        """The last block."""
        counts, warnings = self.counts, [f"run {self.run_id}, of {self.read_as}", *self.notes, *self.summary()]
        if n_not_asked := counts["n_not_asked"]:
            others = f"--asked-all (in a submission `asked: all`) scores 0 for the other {n_not_asked:,}"
            warnings.append(f"if the system was asked all of them: {others}")
        return Outcome(
            written=written,
            expected=self.n_items,
            scored=counts["n_done"],
            missing=counts["n_missing"],
            failed=counts["n_unanswered"] + counts["n_failed"] + counts["n_no_context"],
            rejected=self.n_rejected,
            tally=parts or PartCounts(),
            tied=counts["n_tied"],
            warnings=warnings,
            hint=hint,
        )
