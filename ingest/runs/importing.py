"""An import: rankings, completions or trajectories made elsewhere become a run, checked whole before it counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import polars as pl

from ingest.runs import completions
from ingest.runs.find_trajectories import TrajectoryFiles, discover
from ingest.runs.imported_runs import MISSING, ImportedRun, Tables, count_rows, counts_in
from ingest.runs.importer import Importer
from ingest.runs.outcome import ImportCounts, Imported
from ingest.runs.ranking_rows import NAME, load_ranking, ranked_as_trec_eval, ranks_say_nothing
from ingest.runs.rankings import DEFINITIONS, Rankings
from ingest.runs.read_trajectories import Ids, ParsedRuns, deduplicate, parse_runs
from ingest.runs.registry import AUTO
from ingest.runs.request import (
    ImportRequest,
    ItemPart,
    ProgramInfo,
    check_request,
    item_parts,
    questions_of,
    run_id_of,
    task_named,
)
from ingest.runs.resolve_paths import named_whole
from ingest.runs.trajectories.trajectory import Unread
from ingest.runs.trajectory_rows import Trajectories
from ingest.runs.usage_rows import Given, UsageRows
from ingest.sources.input_file import InputFile
from lake.catalog.task import Task
from lake.errors import Exit, GoldspanError
from lake.fingerprint import canonical_json, fingerprint
from lake.make import made_from
from lake.rejects import Rejects
from lake.store import Lake
from lake.tables import table
from lake.text import counted, listed


class NoItemKnownError(GoldspanError):
    """The lake holds none of the items that a file names, or can score none of them."""


def import_run(
    lake: Lake, request: ImportRequest, *, write: bool, say: Callable[[str], None] = lambda _: None
) -> Imported:
    """Check a file and, if that is wanted, store it as a run; the caller holds the lake's lock then.

    Raises:
        GoldspanError: The file, the names or the lake do not fit; nothing of the file is stored then.
    """
    input_file, rejects = InputFile.at(request.file), Rejects()
    chunker = check_request(lake, request)
    files = discover(input_file, request.format, rejects)
    importer = files.importer
    if chunker and importer.kind == "trajectory":
        message = f"--chunker {request.chunker!r}: what an agent saw was cut by no chunker"
        raise GoldspanError(message, hint="Leave it out.", code=Exit.USAGE)
    if request.given != Given() and importer.kind != "trajectory":
        message = f"--prices and --resolved are of agents; the file holds a {importer.kind}"
        raise GoldspanError(message, hint="Leave them out.", code=Exit.USAGE)
    task = task_named(lake, request.benchmark, request.task, importer.kind)
    parts = item_parts(lake, task, request.where, request.limit)
    stamp = fingerprint(files.sha256, request.system, task.name, importer.name, chunker)
    stamp = fingerprint(stamp, "asked all") if request.asked_all else stamp
    stamp = fingerprint(stamp, request.where, request.limit) if request.is_selection else stamp
    job = Import(lake, request, replace(input_file, unit=importer.unit), files, task, parts, stamp, chunker)
    if (current := job.up_to_date()) is not None:
        return current
    say(f"{input_file.name}: {importer.title} for {task.name}")
    return job.run(rejects, write=write)


@dataclass
class Import:
    """One file on its way to a run.

    `stamp` is what the run is called by, `program` what made the file, where it was run here, and `cost` what running
    it cost, as columns of `costs`.
    """

    lake: Lake
    request: ImportRequest
    input_file: InputFile
    files: TrajectoryFiles
    task: Task
    parts: list[ItemPart]
    stamp: str
    chunker: str | None
    program: ProgramInfo | None = None
    cost: Mapping[str, object] = field(default_factory=dict)

    @property
    def importer(self) -> Importer:
        """The format of the file."""
        return self.files.importer

    @cached_property
    def run_id(self) -> str:
        """The run that it becomes."""
        return run_id_of(self.task.name, self.request.system, self.stamp)

    @cached_property
    def stored(self) -> ImportedRun:
        """The run's place in the lake."""
        chunks = self.lake.part("chunkers", self.chunker) if self.chunker else None
        # Items that came later may be answered too, and other rules may read the file or find its names otherwise.
        inputs = [*self.parts, chunks, self.lake.part("symbol_rules", DEFINITIONS)]
        names = [part.name for part in self.parts]
        parameters = [self.stamp, self.files.sha256, names, self.request.given.parameters]
        made = made_from(inputs, parameters, [Import, self.importer.read, self.importer.trajectories])
        return ImportedRun(self.lake, self.request.benchmark, self.run_id, made)

    def up_to_date(self) -> Imported | None:
        """What an earlier import of the same file gave, where that still holds."""
        row = self.stored.row(self.importer.kind)
        if row is None:
            return None
        numbers = counts_in(row, "counts")
        n_rejected, n_unknown = numbers.pop("n_rejected"), numbers.pop("n_unknown")
        if n_unknown and not self.request.skip_unknown:
            return None
        counts = ImportCounts(self.importer.kind, unread=Unread(counts_in(row, "unread")))
        vars(counts).update(numbers)
        n_items = row["n_items"].item()
        return Imported(self.run_id, n_items, counts, n_rejected, n_unknown, is_current=True, read_as=self._read_as)

    def run(self, rejects: Rejects, *, write: bool) -> Imported:
        """Check every row and, if that is wanted, store what they say: the run's own row last."""
        result = Imported(self.run_id, counts=ImportCounts(self.importer.kind), read_as=self._read_as)
        read = {"ranking": self._rankings, "completion": self._completions, "trajectory": self._trajectories}
        written: list[str] = []
        try:
            for part, tables in read[self.importer.kind](rejects, result):
                if not (self.request.asked_all or self.request.is_selection):
                    # A file does not say that its system was asked the items that it does not answer, be it by nothing.
                    answered = tables["run_items"].filter(pl.col("status") != MISSING)
                    n_not_asked = tables["run_items"].height - answered.height
                    result.counts.n_missing -= n_not_asked
                    result.counts.n_not_asked += n_not_asked
                    tables = {**tables, "run_items": answered}
                if tables["run_items"].is_empty():
                    continue
                result.n_items += tables["run_items"].height
                if write:
                    written.append(part.name)
                    self.stored.write(part.name, tables)
            if not result.n_items:
                what = "none of the items that it answers can be scored in this lake"
                raise NoItemKnownError(what, where=str(self.input_file.path), code=Exit.INVALID)
        except BaseException:
            if written:
                self.stored.remove()
            raise
        # What was to be skipped is named there too, and counts as no fault.
        result.n_rejected = len(rejects) - result.n_unknown
        if write:
            if self.program is not None:
                self.stored.write_cost(self.cost)
            self.stored.conclude(self._row(result), written, rejects)
            replaced = self.stored.replace(self.request.system, self.task.name)
            result.notes += [f"in place of {run_id}, imported earlier under the same name" for run_id in replaced]
        return result

    @property
    def _read_as(self) -> str:
        if self.program is not None:
            return f"the answers of `{self.program.name}`"
        why = "as was asked" if self.request.format != AUTO else "by its content"
        return f"{self.input_file.name}, {self.importer.title} ({why}: --format {self.importer.name})"

    def _rankings(self, rejects: Rejects, result: Imported) -> Iterator[tuple[ItemPart, Tables]]:
        """Every part of the items that the file touches, with its rows table by table; so do the two below."""
        rows = load_ranking(self.input_file, self.importer)
        if self.importer.as_trec_eval and ranks_say_nothing(rows):
            result.notes.append("the rank column says nothing: lists are ordered by score, as trec_eval does")
            rows = ranked_as_trec_eval(rows)
        rows = named_whole(self.lake, self.request.benchmark, rows).drop("document")
        part_numbers = pl.concat(
            part.items.select(pl.col("item_id").cast(NAME), part=pl.lit(number, pl.Int64))
            for number, part in enumerate(self.parts)
        )
        unknown = rows.join(part_numbers, on="item_id", how="anti").select(
            pl.col("item_id").cast(pl.String), "position"
        )
        self._refuse_unknown(unknown, rows.height, rejects, result)
        rows = rows.join(part_numbers, on="item_id", maintain_order="left")
        rankings = Rankings(self.lake, self.task, self.input_file, self.run_id, self.chunker)
        for number, part in enumerate(self.parts):
            of_part = rows.filter(pl.col("part") == number).drop("part")
            if of_part.height or self.request.is_selection:
                yield part, rankings.part(part, of_part, result.counts)

    def _completions(self, rejects: Rejects, result: Imported) -> Iterator[tuple[ItemPart, Tables]]:
        rows = completions.load(self.input_file, self.importer)
        by_part, unknown = completions.matched(self.input_file, rows, self.parts)
        item_id = pl.format("{}/{}#L{}", "repo", "path", pl.col("line") + 1).alias("item_id")
        self._refuse_unknown(unknown.select(item_id, "position"), rows.height, rejects, result)
        for part in self.parts:
            of_part = by_part.get(part.name)
            if of_part is not None:
                outcomes = completions.run_items_of(self.run_id, self.input_file, part, of_part, result.counts)
                yield part, {"run_items": outcomes}

    def _trajectories(self, rejects: Rejects, result: Imported) -> Iterator[tuple[ItemPart, Tables]]:
        ids = Ids.of(self.parts, partial(questions_of, self.lake, self.task))
        read = parse_runs(self.files, ids, rejects, result.counts)
        if read.answers.is_empty():
            reasons = [reject.reason for reject in rejects]
            raise self.input_file.wrong(what="it holds no trajectory of an item", examples=reasons)
        unknown = read.answers.filter(pl.col("item_id").is_null()).select(item_id="named", position="position")
        self._refuse_unknown(unknown, read.answers.height, rejects, result)
        read = deduplicate(self.input_file, read, rejects)
        usage = UsageRows(self.run_id, self.request.given)
        rows = Trajectories(self.lake, self.request.benchmark, self.input_file.name, self.run_id, usage)
        for part in self.parts:
            answers = read.answers.join(part.items, on="item_id", how="semi", maintain_order="left")
            if answers.height or self.request.is_selection:
                yield part, rows.part(part, ParsedRuns(read.views, answers), result.counts, rejects)
        result.notes += usage.said()

    def _refuse_unknown(self, unknown: pl.DataFrame, n_rows: int, rejects: Rejects, result: Imported) -> None:
        """Answers to items that are not there (item_id, position, in order): an error, or rows of `rejects`."""
        if unknown.is_empty():
            return
        if unknown.schema["position"] != pl.String:
            unknown = unknown.with_columns(position=pl.format(f"{self.input_file.unit} {{}}", "position"))
        ids = unknown.group_by("item_id", maintain_order=True).agg(pl.len(), pl.col("position").first())
        result.n_unknown = ids.height
        if self.request.skip_unknown and unknown.height < n_rows:
            for item_id, n, position in ids.iter_rows():
                answers = counted(n, "trajectory" if self.importer.kind == "trajectory" else "row")
                reason = f"{self.task.name} asks no item of that name here: {answers} left out"
                rejects.add(self.input_file.name, f"item {item_id[:200]}, {position}", reason, item_id)
            return
        # Imported when needed: it takes a while, and few files name what is not there.
        from rapidfuzz import fuzz, process

        items = pl.concat(part.items.select("item_id", "subset") for part in self.parts)
        near = process.extractOne(str(ids["item_id"][0]), items["item_id"], scorer=fuzz.ratio, score_cutoff=60)
        subsets = listed(items["subset"].unique().sort().to_list())
        hint = f"Did you mean {near[0]!r}? " if near else ""
        hint += f"{self.task.name} asks {counted(items.height, 'item')} here, of {subsets}."
        verb, none = "is" if ids.height == 1 else "are", unknown.height == n_rows
        raise (NoItemKnownError if none else GoldspanError)(
            f"{counted(ids.height, 'item')} of the file {verb} not asked by {self.task.name}"
            + (", none of the file's is known" if none else ""),
            where=str(self.input_file.path),
            examples=[
                f"{position}: {ascii(item_id[:120]) if item_id else 'it names no item'}"
                for item_id, _, position in ids.head(3).iter_rows()
            ],
            hint=hint if none else f"{hint} --skip-unknown leaves them out.",
            code=Exit.INVALID,
        )

    def _row(self, result: Imported) -> pl.DataFrame:
        counts, program, request = result.counts, self.program, self.request
        of_benchmark = self.lake.scan_part("benchmarks", request.benchmark).select("limit").collect()["limit"]
        limit = request.limit or next(iter(of_benchmark), None)
        numbers = {**counts.numbers(), "n_rejected": result.n_rejected, "n_unknown": result.n_unknown}
        of_program = {"search": program.name, "files": dict(program.files)} if program else {}
        row = {
            "run_id": self.run_id,
            "system": request.system,
            "benchmark": request.benchmark,
            "task": self.task.name,
            "chunker": self.chunker,
            "retriever": None,
            "origin": "imported",
            "parameters": canonical_json({"sha256": self.files.sha256, **of_program}),
            "versions": canonical_json(dict(program.versions) if program else {}),
            "status": "partial" if counts.n_not_asked or limit is not None or request.where else "complete",
            "n_items": result.n_items,
            "limit": limit,
            "selection": [{"column": column, "value": value} for column, value in request.where],
            "format": program.format if program else self.importer.name,
            "file": program.name if program else self.input_file.name,
            "counts": count_rows(numbers),
            "unread": count_rows(counts.unread),
            "notes": counts.sentences(),
            "fingerprint": self.stamp,
        }
        return pl.DataFrame([row], schema=table("runs").columns)
