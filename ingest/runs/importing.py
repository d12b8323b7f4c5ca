"""An import: rankings, completions or trajectories made elsewhere become a run, checked whole before it counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial

import polars as pl

from ingest.runs import completions
from ingest.runs.find_trajectories import Found, found_in
from ingest.runs.import_outcome import Imported, Made, Tally, Wanted
from ingest.runs.imported_runs import MISSING, ImportedRun, Tables, count_rows, counts_in
from ingest.runs.importer import Importer
from ingest.runs.input_file import InputFile
from ingest.runs.input_rows import NAME, gathered, ranked_as_trec_eval, ranks_say_nothing
from ingest.runs.items import ItemPart, item_parts, limit_of, most_like, questions_of, task_named
from ingest.runs.naming import check_benchmark, check_system, known_chunker, run_id_of
from ingest.runs.rankings import DEFINITIONS, Rankings
from ingest.runs.read_trajectories import Ids, Read, chosen
from ingest.runs.read_trajectories import read as trajectories_read
from ingest.runs.registry import AUTO
from ingest.runs.resolve_paths import named_whole
from ingest.runs.trajectories.trajectory import Unread
from ingest.runs.trajectory_rows import Trajectories
from ingest.runs.usage_rows import Given, UsageRows
from lake.catalog.task import Task
from lake.errors import Exit, GoldspanError
from lake.fingerprint import canonical_json, fingerprint
from lake.make import made_from
from lake.rejects import Rejects
from lake.store import Lake
from lake.tables import table
from lake.text import counted, listed

EXPERIMENTAL = "experimental: no real file of this format was seen when its reading was written"


class NoItemKnownError(GoldspanError):
    """The lake holds none of the items that a file names, or can score none of them."""


def import_run(lake: Lake, wanted: Wanted, *, write: bool, say: Callable[[str], None] = lambda _: None) -> Imported:
    """Check a file and, if that is wanted, store it as a run; the caller holds the lake's lock then.

    Raises:
        GoldspanError: The file, the names or the lake do not fit; nothing of the file is stored then.
    """
    input_file, rejects = InputFile.at(wanted.file), Rejects()
    check_benchmark(lake, wanted.benchmark)
    check_system(lake, wanted.benchmark, wanted.system)
    found = found_in(input_file, wanted.format, rejects)
    importer = found.importer
    input_file = replace(input_file, unit=importer.unit)
    if wanted.chunker and importer.kind == "trajectory":
        message = f"--chunker {wanted.chunker!r}: what an agent saw was cut by no chunker"
        raise GoldspanError(message, hint="Leave it out.", code=Exit.USAGE)
    if wanted.given != Given() and importer.kind != "trajectory":
        message = f"--prices and --resolved are of agents; the file holds a {importer.kind}"
        raise GoldspanError(message, hint="Leave them out.", code=Exit.USAGE)
    chunker = known_chunker(lake, wanted.chunker)
    task = task_named(lake, wanted.benchmark, wanted.task, importer.kind)
    asked = item_parts(lake, wanted.benchmark, task)
    stamp = fingerprint(found.sha256, wanted.system, task.name, importer.name, chunker)
    if wanted.asked_all:
        stamp = fingerprint(stamp, "asked all")
    job = Import(lake, wanted, input_file, found, task, asked, stamp, chunker)
    if (stood := job.stands()) is not None:
        return stood
    say(f"{input_file.name}: {importer.title} for {task.name}")
    return job.run(rejects, write=write)


@dataclass
class Import:
    """One file on its way to a run.

    Attributes:
        lake: Where from and where to.
        wanted: What is asked for.
        input_file: The file.
        found: What is in it.
        task: What it answers.
        asked: The items of that.
        stamp: What the run is called by.
        chunker: What cut the documents, where that is known.
        made: How the file was made, where it was made here.
    """

    lake: Lake
    wanted: Wanted
    input_file: InputFile
    found: Found
    task: Task
    asked: list[ItemPart]
    stamp: str
    chunker: str | None
    made: Made | None = None

    @property
    def importer(self) -> Importer:
        """What reads the file."""
        return self.found.importer

    @cached_property
    def run_id(self) -> str:
        """The run that it becomes."""
        return run_id_of(self.task.name, self.wanted.system, self.stamp)

    @cached_property
    def stored(self) -> ImportedRun:
        """The run's place in the lake."""
        chunks = self.lake.part("chunkers", self.chunker) if self.chunker else None
        # Items that came later may be answered too, and other rules may read the file or find its names otherwise.
        made = made_from(
            inputs=[*self.asked, chunks, self.lake.part("symbol_rules", DEFINITIONS)],
            parameters=[self.stamp, self.found.sha256, [one.part for one in self.asked], self.wanted.given.parameters],
            code=[Import, self.importer.read, self.importer.trajectories],
        )
        return ImportedRun(self.lake, self.wanted.benchmark, self.run_id, made)

    def stands(self) -> Imported | None:
        """What an earlier import of the same file gave, where that still holds."""
        row = self.stored.row(self.importer.kind)
        if row is None:
            return None
        counts = counts_in(row, "counts")
        n_rejected, n_unknown = counts.pop("n_rejected"), counts.pop("n_unknown")
        if n_unknown and not self.wanted.skip_unknown:
            return None
        tally = Tally(self.importer.kind)
        vars(tally).update(counts)
        tally.unread = Unread(counts_in(row, "unread"))
        return Imported(
            self.run_id, row["n_items"].item(), tally, n_rejected, n_unknown, is_current=True, read_as=self._read_as
        )

    def run(self, rejects: Rejects, *, write: bool) -> Imported:
        """Check every row and, if that is wanted, store what they say: the run's own row last."""
        result = Imported(self.run_id, tally=Tally(self.importer.kind), read_as=self._read_as)
        began = False
        try:
            for asked, tables in self._parts(rejects, result):
                if not self.wanted.asked_all:
                    tables = {**tables, "run_items": self._answered(tables["run_items"], result.tally)}
                if tables["run_items"].is_empty():
                    continue
                result.n_items += tables["run_items"].height
                result.parts.append(asked.part)
                if write:
                    began = True
                    self.stored.write(asked.part, tables)
            if not result.n_items:
                what = "none of the items that it answers can be scored in this lake"
                raise NoItemKnownError(what, where=str(self.input_file.path), code=Exit.INVALID)
        except BaseException:
            if began:
                self.stored.remove()
            raise
        # What was to be skipped is named there too, and counts as no fault.
        result.n_rejected = len(rejects) - result.n_unknown
        if write:
            if self.made is not None:
                self.stored.write_cost(self.made.cost)
            self.stored.conclude(self._row(result), result.parts, rejects)
            replaced = self.stored.replace(self.wanted.system, self.task.name)
            result.notes += [f"in place of {run_id}, imported earlier under the same name" for run_id in replaced]
        return result

    @staticmethod
    def _answered(run_items: pl.DataFrame, tally: Tally) -> pl.DataFrame:
        """The items that a file answers, be it by nothing: it does not say that its system was asked the others."""
        answered = run_items.filter(pl.col("status") != MISSING)
        tally.n_missing -= run_items.height - answered.height
        tally.n_not_asked += run_items.height - answered.height
        return answered

    @property
    def _read_as(self) -> str:
        if self.made is not None:
            return f"the answers of `{self.made.name}`"
        said = "as was asked" if self.wanted.format != AUTO else "by its content"
        return f"{self.input_file.name}, {self.importer.title} ({said}: --format {self.importer.name})"

    def _parts(self, rejects: Rejects, result: Imported) -> Iterator[tuple[ItemPart, Tables]]:
        """Every part of the items that the file touches, with its rows table by table."""
        kinds = {"ranking": self._rankings, "completion": self._completions, "trajectory": self._trajectories}
        return kinds[self.importer.kind](rejects, result)

    def _rankings(self, rejects: Rejects, result: Imported) -> Iterator[tuple[ItemPart, Tables]]:
        rows = gathered(self.input_file, self.importer)
        if self.importer.as_trec_eval and ranks_say_nothing(rows):
            result.notes.append("the rank column says nothing: lists are ordered by score, as trec_eval does")
            rows = ranked_as_trec_eval(rows)
        rows = named_whole(self.lake, self.wanted.benchmark, rows).drop("document")
        of_part = pl.concat(
            one.items.select(pl.col("item_id").cast(NAME), part=pl.lit(n, pl.Int64)) for n, one in enumerate(self.asked)
        )
        unknown = rows.join(of_part, on="item_id", how="anti")
        positions = pl.format(f"{self.input_file.unit} {{}}", "position")
        unknown = unknown.select(pl.col("item_id").cast(pl.String), positions.alias("position"))
        self._refuse_unknown(unknown, rows.height, rejects, result)
        rows = rows.join(of_part, on="item_id", maintain_order="left")
        rankings = Rankings(self.lake, self.task, self.input_file, self.run_id, self.chunker)
        for n in rows["part"].unique().sort():
            asked = self.asked[n]
            hits, run_items = rankings.part(asked, rows.filter(pl.col("part") == n).drop("part"), result.tally)
            yield asked, {"hits": hits, "run_items": run_items}

    def _completions(self, rejects: Rejects, result: Imported) -> Iterator[tuple[ItemPart, Tables]]:
        rows = completions.gathered(self.input_file, self.importer)
        found = dict(completions.matched(self.input_file, rows, self.asked))
        if (unknown := found.pop("", None)) is not None:
            holes = unknown.select(
                pl.format("{}/{}#L{}", "repo", "path", pl.col("line") + 1).alias("item_id"),
                pl.format(f"{self.input_file.unit} {{}}", "position").alias("position"),
            )
            self._refuse_unknown(holes, rows.height, rejects, result)
        for asked in self.asked:
            if asked.part in found:
                filled = completions.part(self.run_id, self.input_file, asked, found[asked.part], result.tally)
                yield asked, {"run_items": filled}

    def _trajectories(self, rejects: Rejects, result: Imported) -> Iterator[tuple[ItemPart, Tables]]:
        tally = result.tally
        ids = Ids.of(self.asked, partial(questions_of, self.lake, self.task))
        read = trajectories_read(self.found, ids, rejects, tally)
        if read.answers.is_empty():
            raise self.input_file.wrong(
                what="it holds no trajectory of an item", examples=[one.reason for one in rejects]
            )
        unknown = read.answers.filter(pl.col("item_id").is_null()).select(item_id="named", position="position")
        self._refuse_unknown(unknown, read.answers.height, rejects, result)
        read = chosen(self.input_file, read, rejects)
        usage = UsageRows(self.run_id, self.wanted.given)
        placed = Trajectories(self.lake, self.wanted.benchmark, self.input_file.name, self.run_id, usage)
        for asked in self.asked:
            answers = read.answers.join(asked.items, on="item_id", how="semi", maintain_order="left")
            if answers.height:
                yield asked, placed.part(asked, Read(read.views, answers), tally, rejects)
        result.notes += usage.said()

    def _refuse_unknown(self, unknown: pl.DataFrame, n_rows: int, rejects: Rejects, result: Imported) -> None:
        """Answers to items that are not there (item_id, position, in order): an error, or rows of `rejects`."""
        if unknown.is_empty():
            return
        ids = unknown.group_by("item_id", maintain_order=True).agg(pl.len(), pl.col("position").first())
        result.n_unknown = ids.height
        if self.wanted.skip_unknown and unknown.height < n_rows:
            for item_id, n, position in ids.iter_rows():
                answers = counted(n, "trajectory" if self.importer.kind == "trajectory" else "row")
                reason = f"{self.task.name} asks no item of that name here: {answers} left out"
                rejects.add(self.input_file.name, f"item {item_id[:200]}, {position}", reason, item_id)
            return
        first = ids.head(3).iter_rows()
        known = pl.concat(one.items["item_id"] for one in self.asked)
        held = listed(sorted({subset for one in self.asked for subset in one.items["subset"].unique()}))
        hint = most_like(str(ids["item_id"][0]), known)
        hint = f"{hint} {self.task.name} asks {counted(len(known), 'item')} here, of {held}.".strip()
        verb = "is" if ids.height == 1 else "are"
        none = "" if unknown.height < n_rows else ", none of the file's is known"
        raise (NoItemKnownError if none else GoldspanError)(
            f"{counted(ids.height, 'item')} of the file {verb} not asked by {self.task.name}{none}",
            where=str(self.input_file.path),
            examples=[
                f"{position}: {ascii(item_id[:120]) if item_id else 'it names no item'}"
                for item_id, _, position in first
            ],
            hint=hint if none else f"{hint} --skip-unknown leaves them out.",
            code=Exit.INVALID,
        )

    def _row(self, result: Imported) -> pl.DataFrame:
        tally, made = result.tally, self.made
        limit = made.limit if made and made.limit else limit_of(self.lake, self.wanted.benchmark)
        where = made.where if made else ()
        counts = {**tally.counts(), "n_rejected": result.n_rejected, "n_unknown": result.n_unknown}
        row = {
            "run_id": self.run_id,
            "system": self.wanted.system,
            "benchmark": self.wanted.benchmark,
            "task": self.task.name,
            "chunker": self.chunker,
            "retriever": None,
            "origin": "imported",
            "parameters": canonical_json({"sha256": self.found.sha256, **(made.parameters if made else {})}),
            "versions": canonical_json(dict(made.versions) if made else {}),
            "status": "partial" if tally.n_not_asked or limit is not None or where else "complete",
            "n_items": result.n_items,
            "limit": limit,
            "selection": [{"column": column, "value": value} for column, value in where],
            "format": made.format if made else self.importer.name,
            "file": made.name if made else self.input_file.name,
            "counts": count_rows(counts),
            "unread": count_rows(tally.unread),
            "notes": [*([EXPERIMENTAL] * self.importer.is_experimental), *tally.said()],
            "fingerprint": self.stamp,
        }
        return pl.DataFrame([row], schema=table("runs").columns)
