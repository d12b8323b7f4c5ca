"""The summary of an import, the rows that all kinds of imported runs have, and their deletion."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import dataframely as dy
import polars as pl

from ingest.runs.ranking_rows import DOCUMENTS_HELP
from ingest.runs.trajectory import Unread
from lake.catalog.protocol import AnswerKind
from lake.outcome import Outcome
from lake.parts import PartCounts
from lake.store import Lake
from lake.tables import IMPORT_REJECTS, TABLES
from lake.tables.of_runs import RunItems
from lake.text import counted

UNANSWERED = "missing"  # the status of an item that was asked but has no answer in the file
Tables = Mapping[str, pl.DataFrame]  # table → rows
_Rows = TypeVar("_Rows", bound=dy.Schema)
_SENTENCES = (
    ("n_failed", "item", "failed: {}; reasons: table run_items"),
    ("n_no_context", "", "no-context: {} without a final context"),
    ("n_no_patch", "", "without a patch: {}"),
    ("n_faulty_patches", "", "patches with faults: {}; reasons: table rejects"),
    ("n_skipped", "", "files skipped: {} that are not trajectories"),
    ("n_unresolved", "", "unresolved (no such file in the pool): {} of {all}"),
    ("n_clamped", "range", "clamped: {} that ended one line past the end of the file"),
    ("n_unscorable", "answer", "left out: {} to items that cannot be scored in this lake"),
    ("n_ambiguous", "name", "ambiguous: {} that its file defines several times; the first is used"),
    ("n_no_chunk", "document", "not a chunk of the named chunker: {}"),
    ("n_other_prompt", "completion", "prompt starts at another line than the item's: {}"),
    ("n_beyond", "range", "kept as given: {} past the end of the file"),
    ("n_reversed", "range", "kept as given: {} reversed or before line 1"),
)
"""Each count, its unit, and the sentence that the summary shows if it is not zero."""


@dataclass
class Imported:
    """The result of an import; `n_items` counts the items that were asked and can be scored in this lake.

    In `counts`, n_reading are the tool calls meant to show parts of files, and n_showing those that did; n_unknown are
    items not in the lake, skipped on request. `unresolved` is an example of a path that matches no file.
    """

    run_id: str
    kind: AnswerKind = "ranking"
    read_as: str = ""
    n_items: int = 0
    is_current: bool = False
    counts: Counter[str] = field(default_factory=Counter)
    unresolved: str = ""
    unread: Unread = field(default_factory=Unread)
    notes: list[str] = field(default_factory=list)

    def add_unresolved(self, paths: pl.Series) -> None:
        """Count paths that match no file, and keep the first one as an example."""
        self.counts["n_unresolved"] += len(paths)
        self.unresolved = self.unresolved or str(next(iter(paths), ""))

    def sentences(self) -> list[str]:
        """The counts as sentences: for trajectories, how much was read; then every count that is not zero."""
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
            hint = "`python -m ingest show FILE` lists them"
            sentences.append(f"warning: output understood of only {share} that read files; {hint}")
        if n["n_unresolved"] == n["n_hits"] > 0 and not n["n_calls"]:
            sentences.append(f"warning: no document in it is a file of its item's pool. {DOCUMENTS_HELP}")
        paths = counted(n["n_hits"], "path") + (f", such as {self.unresolved[:80]!a}" if self.unresolved else "")
        for name, unit, sentence in _SENTENCES:
            if n[name]:
                sentences.append(sentence.format(counted(n[name], unit) if unit else f"{n[name]:,}", all=paths))
        return sentences

    def summary(self) -> list[str]:
        """The `sentences`, with the items not asked, the tools and files not read, and the items skipped."""
        n_not_asked, n_unknown, sentences = self.counts["n_not_asked"], self.counts["n_unknown"], self.sentences()
        if n_not_asked:
            share = f"answers {self.n_items:,} of {counted(self.n_items + n_not_asked, 'item')}"
            sentences.insert(0, f"{share}: a partial run, scored on these and not ranked")
        if self.unread:
            sentences.append(f"not read: {self.unread.summary()}")
        if n_unknown:
            sentences.append(f"skipped: {counted(n_unknown, 'item')} not asked here, listed in the table rejects")
        return sentences

    def outcome(self, written: str, hint: str, parts: PartCounts | None = None) -> Outcome:
        """The result as the outcome that the command prints at its end."""
        n, warnings = self.counts, [f"run {self.run_id}, from {self.read_as}", *self.notes, *self.summary()]
        if n["n_not_asked"]:
            others = f"--asked-all (in a submission `asked: all`) scores 0 for the other {n['n_not_asked']:,}"
            warnings.append(f"if the system was asked all of them: {others}")
        return Outcome(
            written, self.n_items, n["n_done"], n["n_missing"], n["n_failed"] + n["n_no_context"], n["n_rejected"],
            n["n_tied"], warnings, hint=hint, tally=parts or PartCounts(),
        )  # fmt: skip


def imported_runs(lake: Lake, benchmark: str, *only: pl.Expr) -> list[str]:
    """The ids of a benchmark's imported runs, all or those that match `only`."""
    runs = lake.scan("runs", benchmark=benchmark).filter(pl.col("origin") == "imported", *only)
    return runs.select("run_id").collect()["run_id"].sort().to_list()


def delete_run(lake: Lake, benchmark: str, run_id: str) -> None:
    """Delete all that the lake has of a run, its row in `runs` first."""
    # The table `runs` is the first of these.
    tables = [declared.name for declared in TABLES.values() if "run_id" in declared.folders]
    parts = [part for name in tables for part in lake.parts(name, benchmark=benchmark, run_id=run_id)]
    for part in filter(None, [*parts, lake.part("rejects", f"{IMPORT_REJECTS}{run_id}")]):
        lake.remove(part)


def delete_imported_runs(lake: Lake, benchmark: str, *only: pl.Expr) -> list[str]:
    """Delete imported runs of a benchmark, all or those that match `only`; return their ids."""
    names = imported_runs(lake, benchmark, *only)
    for run_id in names:
        delete_run(lake, benchmark, run_id)
    return names


def run_items(run_id: str, rows: pl.DataFrame, why_missing: str) -> dy.DataFrame[RunItems]:
    """The outcomes of items, from item_id, status and other known columns; a null status means an unanswered item."""
    is_missing = pl.col("status").is_null()
    whole = run_rows(RunItems, run_id, rows).with_columns(
        pl.col("n_returned", "n_nws").fill_null(0), pl.col("ties").fill_null([]),
        pl.when(is_missing).then(pl.lit(why_missing)).otherwise("error").alias("error"),
    )  # fmt: skip
    return RunItems.cast(whole.with_columns(pl.col("status").fill_null(UNANSWERED)))


def run_rows(schema: type[_Rows], run_id: str, rows: pl.DataFrame) -> dy.DataFrame[_Rows]:
    """Rows of a run's table; columns that `rows` does not have are null."""
    given = rows.with_columns(run_id=pl.lit(run_id))
    missing = {name: pl.lit(None) for name in schema.column_names() if name not in given.columns}
    return schema.cast(given.with_columns(**missing))
