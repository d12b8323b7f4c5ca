"""An import: a file of rankings or completions made elsewhere becomes a run, checked whole before it counts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

import ingest.predictions
from ingest.predictions import Importer, _completions
from ingest.predictions._asked import Asked, Task, asked_of, cut_offs_of, most_like, task_named
from ingest.predictions._finding import AUTO, importer_for
from ingest.predictions._given import Given
from ingest.predictions._naming import check_benchmark, check_system, known_chunker, run_id_of
from ingest.predictions._rankings import Rankings, Tally
from ingest.predictions._rows import NAME, counted, gathered
from lake.code import folder_digest
from lake.console import Outcome
from lake.fingerprint import canonical_json, fingerprint
from lake.rejects import Rejects
from lake.store import FORMAT_VERSION, Lake, Part
from lake.tables import TABLES, table


@dataclass(frozen=True)
class Wanted:
    """What is to be imported, and as what.

    Attributes:
        file: The file.
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


@dataclass
class Imported:
    """What an import did.

    Attributes:
        run_id: The run's name.
        n_items: The scorable items of every part of the items that the file touches.
        tally: What reading came upon.
        n_rejected: Items named in the file that are not there.
        cached: Whether the run stood already.
        notes: Sentences for the last block.
        parts: The parts of the items that the file touches.
    """

    run_id: str
    n_items: int = 0
    tally: Tally = field(default_factory=Tally)
    n_rejected: int = 0
    cached: bool = False
    notes: list[str] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)

    def outcome(self, written: str, hint: str) -> Outcome:
        """The last block."""
        tally, notes = self.tally, [f"run {self.run_id}", *self.notes]
        if tally.n_unresolved:
            named = "".join(f", such as {text[:80]!a}" for text in tally.unresolved[:1])
            notes.append(
                f"unresolved: {tally.n_unresolved:,} of {tally.n_hits:,} paths mean no file of the pool{named}"
            )
        said = (
            (tally.n_clamped, "clamped", "ranges that ended one line past their file"),
            (tally.n_renumbered, "numbered anew in their order", "lists whose ranks were not 1, 2, 3, …"),
            (tally.n_unscorable, "left out", "answers to items that cannot be scored in this lake"),
            (tally.n_no_chunk, "no chunk of the chunker that was named", "documents"),
            (tally.n_other_prompt, "of a prompt that starts at another line than the item's", "completions"),
        )
        notes += [f"{done}: {n:,} {what}" for n, done, what in said if n]
        return Outcome(
            written=written,
            expected=self.n_items,
            scored=tally.n_done,
            missing=tally.n_missing,
            rejected=self.n_rejected,
            cached=self.n_items if self.cached else 0,
            tied=tally.n_tied,
            notes=notes,
            hint=hint,
        )


def import_run(lake: Lake, wanted: Wanted, *, write: bool, say: Callable[[str], None] = lambda _: None) -> Imported:
    """Check a file and, if that is wanted, store it as a run; the caller holds the lake's lock then.

    Raises:
        GoldspanError: The file, the names or the lake do not fit; nothing of the file is stored then.
    """
    given = Given.at(wanted.file)
    check_benchmark(lake, wanted.benchmark)
    check_system(lake, wanted.benchmark, wanted.system)
    chunker = known_chunker(lake, wanted.chunker)
    importer = importer_for(given, wanted.format)
    task = task_named(lake, wanted.benchmark, wanted.task, importer.kind)
    asked = asked_of(lake, wanted.benchmark, task)
    stamp = fingerprint(given.sha256, wanted.system, task.name, importer.name, chunker)
    job = _Import(lake, wanted, given, importer, task, asked, stamp, chunker)
    if (stood := job.stands()) is not None:
        return stood
    say(f"{given.name}: {importer.title} for {task.name}")
    return job.run(write=write)


class _Import:
    """One file on its way to a run."""

    def __init__(
        self, lake: Lake, wanted: Wanted, given: Given, importer: Importer, task: Task, asked: list[Asked],
        stamp: str, chunker: str | None,
    ) -> None:  # fmt: skip
        self.lake, self.wanted, self.given, self.importer = lake, wanted, given, importer
        self.task, self.asked, self.stamp, self.chunker = task, asked, stamp, chunker
        self.run_id = run_id_of(task.name, wanted.system, stamp)
        self.folders = {"benchmark": wanted.benchmark, "run_id": self.run_id}
        self.rejects_part = f"import-{self.run_id}"
        chunks = lake.part("chunkers", chunker) if chunker else None
        # Items that came later may be answered too, and other rules may read the file otherwise.
        self.made_of = fingerprint(
            FORMAT_VERSION, stamp, [(one.part, one.stamp) for one in asked], chunks.fingerprint if chunks else "",
            folder_digest(Path(ingest.predictions.__file__).parent),
        )  # fmt: skip

    def stands(self) -> Imported | None:
        """What an earlier import of the same file gave, where that still holds."""
        if not self.lake.stands("runs", "all", self.made_of, **self.folders):
            return None
        row = self.lake.read("runs", **self.folders).row(0, named=True)
        counts = json.loads(row["parameters"])["counts"]
        n_rejected = counts.pop("n_rejected")
        if n_rejected and not self.wanted.skip_unknown:
            return None
        return Imported(self.run_id, row["n_items"], Tally(**counts), n_rejected, cached=True)

    def run(self, *, write: bool) -> Imported:
        """Check every row and, if that is wanted, store what they say: the run's own row last."""
        result, rejects = Imported(self.run_id), Rejects()
        began = False
        try:
            for asked, hits, run_items in self._parts(rejects, result):
                result.n_items += asked.scorable.height
                result.parts.append(asked.part)
                if write:
                    began = True
                    self._write(asked, hits, run_items)
        except BaseException:
            if began:
                self._remove(self.run_id)
            raise
        result.n_rejected = len(rejects)
        if write:
            self._conclude(result, rejects)
        return result

    def _parts(self, rejects: Rejects, result: Imported) -> Iterator[tuple[Asked, pl.DataFrame | None, pl.DataFrame]]:
        """Every part of the items that the file touches, with its rows of `hits` and `run_items`."""
        if self.task.kind == "completion":
            yield from self._completions(rejects, result)
            return
        rows = gathered(self.given, self.importer)
        of_part = pl.concat(
            one.items.select(pl.col("item_id").cast(NAME), part=pl.lit(n, pl.Int64)) for n, one in enumerate(self.asked)
        )
        unknown = rows.join(of_part, on="item_id", how="anti")
        self._refuse_unknown(unknown.select(pl.col("item_id").cast(pl.String), "position"), rows.height, rejects)
        rows = rows.join(of_part, on="item_id", maintain_order="left")
        rankings = Rankings(
            self.lake, self.wanted.benchmark, self.given, self.importer.unit, self.run_id, self.chunker,
            cut_offs_of(self.lake, self.task),
        )  # fmt: skip
        for n in rows["part"].unique().sort():
            asked = self.asked[n]
            hits, run_items = rankings.part(asked, rows.filter(pl.col("part") == n).drop("part"), result.tally)
            yield asked, hits, run_items

    def _completions(self, rejects: Rejects, result: Imported) -> Iterator[tuple[Asked, None, pl.DataFrame]]:
        rows = _completions.gathered(self.given, self.importer)
        found = dict(_completions.matched(self.given, rows, self.asked))
        if (unknown := found.pop("", None)) is not None:
            holes = unknown.select(
                pl.format("{}/{}#L{}", "repo", "path", pl.col("line") + 1).alias("item_id"), "position"
            )
            self._refuse_unknown(holes, rows.height, rejects)
        for asked in self.asked:
            if asked.part in found:
                yield asked, None, _completions.part(self.run_id, self.given, asked, found[asked.part], result.tally)

    def _refuse_unknown(self, unknown: pl.DataFrame, n_rows: int, rejects: Rejects) -> None:
        """Answers to items that are not there: an error, or rows of `rejects`."""
        if unknown.is_empty():
            return
        ids = unknown.group_by("item_id").agg(pl.len(), pl.col("position").min()).sort("position")
        if self.wanted.skip_unknown and unknown.height < n_rows:
            for item_id, n, position in ids.iter_rows():
                reason = f"{self.task.name} asks no item of that name here: {counted(n, 'row')} left out"
                where = f"item {item_id[:200]}, {self.importer.unit} {position}"
                rejects.add(self.given.name, where, reason, item_id)
            return
        unit, first = self.importer.unit, ids.head(3).iter_rows()
        known = pl.concat(one.items["item_id"] for one in self.asked)
        held = ", ".join(sorted({subset for one in self.asked for subset in one.items["subset"].unique()}))
        hint = most_like(str(ids["item_id"][0]), known)
        hint = f"{hint} {self.task.name} asks {len(known):,} items here, of {held}."
        none = "" if unknown.height < n_rows else ", none of the file's is known"
        raise self.given.wrong(
            what=f"{counted(ids.height, 'item')} named in the file are not among those asked{none}",
            examples=[f"{unit} {position}: {item_id[:120]!a}" for item_id, _, position in first],
            hint=hint if none else f"{hint} --skip-unknown leaves them out.",
        )

    def _write(self, asked: Asked, hits: pl.DataFrame | None, run_items: pl.DataFrame) -> None:
        made_of = fingerprint(self.made_of, asked.part)
        if hits is not None:
            self.lake.write("hits", hits, part=asked.part, fingerprint=made_of, **self.folders)
        self.lake.write("run_items", run_items, part=asked.part, fingerprint=made_of, **self.folders)

    def _conclude(self, result: Imported, rejects: Rejects) -> None:
        """Store what was refused and the run's own row, and take away what it replaces."""
        if len(rejects):
            self.lake.write("rejects", rejects.frame("ingest"), part=self.rejects_part, fingerprint=self.made_of)
        elif (stale := self.lake.part("rejects", self.rejects_part)) is not None:
            self.lake.remove(stale)
        for name in ("hits", "run_items"):
            for part in self.lake.parts(name, **self.folders):
                if part.name not in result.parts:
                    self.lake.remove(part)
        self.lake.write("runs", self._row(result), part="all", fingerprint=self.made_of, **self.folders)
        same = (pl.col("system") == self.wanted.system) & (pl.col("task") == self.task.name)
        runs = self.lake.scan("runs", benchmark=self.wanted.benchmark).filter(same, pl.col("origin") == "imported")
        for run_id in runs.select("run_id").collect()["run_id"].sort():
            if run_id != self.run_id:
                self._remove(run_id)
                result.notes.append(f"in place of {run_id}, imported earlier under the same name")

    def _row(self, result: Imported) -> pl.DataFrame:
        limit = self._limit()
        parameters = {
            "format": self.importer.name,
            "file": self.given.name,
            "sha256": self.given.sha256,
            "counts": {**result.tally.counts(), "n_rejected": result.n_rejected},
        }
        row = {
            "run_id": self.run_id,
            "system": self.wanted.system,
            "benchmark": self.wanted.benchmark,
            "task": self.task.name,
            "chunker": self.chunker,
            "retriever": None,
            "origin": "imported",
            "parameters": canonical_json(parameters),
            "versions": "{}",
            "status": "partial" if result.tally.n_missing or limit is not None else "complete",
            "n_items": result.n_items,
            "limit": limit,
            "fingerprint": self.stamp,
        }
        return pl.DataFrame([row], schema=table("runs").columns)

    def _limit(self) -> int | None:
        """Where the lake holds a sample of the items only: of how many."""
        part = self.lake.part("benchmarks", self.wanted.benchmark)
        if part is None:
            return None
        said = json.loads(self.lake.scan_parts([part], "benchmarks").select("parameters").collect().item())
        return said.get("limit") if isinstance(said, Mapping) else None

    def _remove(self, run_id: str) -> None:
        """Take away all there is of a run, its own row first."""
        folders = {"benchmark": self.wanted.benchmark, "run_id": run_id}
        tables = sorted((one for one in TABLES.values() if "run_id" in one.folders), key=lambda one: one.name != "runs")
        parts: list[Part | None] = [part for one in tables for part in self.lake.parts(one.name, **folders)]
        for part in [*parts, self.lake.part("rejects", f"import-{run_id}")]:
            if part is not None:
                self.lake.remove(part)
