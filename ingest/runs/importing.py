"""An import: a file of rankings, completions or trajectories becomes a run, all of it checked before the run counts."""

import polars as pl

from ingest.runs.find_trajectories import trajectory_files
from ingest.runs.imported_runs import UNANSWERED, Imported, ImportedRun, delete_imported_runs
from ingest.runs.rankings import DEFINITIONS, read_completions, read_rankings
from ingest.runs.request import ImportJob, ImportRequest, Say
from ingest.runs.trajectory_rows import read_trajectories
from ingest.sources.input_file import InputFile
from lake.errors import MAX_EXAMPLES, Exit, GoldspanError, did_you_mean
from lake.fingerprint import canonical_json, sha256_of_file
from lake.make import made_from
from lake.rejects import Rejects
from lake.store import Lake
from lake.tables import table
from lake.text import counted, listed


class NoItemKnownError(GoldspanError):
    """The lake has none of the items that a file names, or can score none of them."""


def import_run(lake: Lake, request: ImportRequest, *, write: bool, say: Say = lambda _: None) -> Imported:
    """Check a file and, if `write`, store it as a run; the caller holds the lake's lock."""
    rejects = Rejects()
    files = trajectory_files(InputFile.at(request.file), request.format, rejects)
    job = ImportJob.of(lake, request, files, rejects)
    if (current := up_to_date(job)) is not None:
        return current
    say(f"{files.input_file.name}: {files.importer.title} for {job.task.name}")
    return import_job(job, write=write)


def up_to_date(job: ImportJob) -> Imported | None:
    """The result of an earlier import that is still valid; None if the file must be imported (again)."""
    if (row := _stored(job).row(job.files.importer.kind)) is None:
        return None
    result = job.result.restored(row)
    return None if result.counts["n_unknown"] and not job.request.skip_unknown else result


def import_job(job: ImportJob, *, write: bool) -> Imported:
    """Check all rows and, if `write`, store the run (its row in `runs` last) in place of any of its system and task."""
    request, stored, result = job.request, _stored(job), job.result
    readers = {"ranking": read_rankings, "completion": read_completions, "trajectory": read_trajectories}
    rows, tables_of = readers[result.kind](job)
    known = job.items.select("part", pl.col("item_id").cast(rows.schema["item_id"])).partition_by("part", as_dict=True)
    unknown = rows.join(pl.concat(known.values()), on="item_id", how="anti", maintain_order="left")
    result.counts["n_unknown"] = unknown["item_id"].n_unique()
    if not unknown.is_empty():
        _refuse_unknown(job, unknown.select(pl.col("item_id").cast(pl.String), "position"), rows.height)
    written: list[str] = []
    try:
        for (part,), of_part in job.items.group_by("part", maintain_order=True):
            answers = rows.join(known[part,], on="item_id", how="semi", maintain_order="left")
            if answers.is_empty() and not request.is_selection:
                continue
            scorable = of_part.filter("scorable").sort("item_id").with_row_index("item").cast({"item": pl.Int64})
            tables = tables_of(job, scorable, answers)
            items = tables["run_items"]
            if not (request.asked_all or request.is_selection):
                # The file does not tell whether an item without an answer, not even an empty one, was asked.
                items = items.filter(pl.col("status") != UNANSWERED)
                result.counts["n_not_asked"] += tables["run_items"].height - items.height
                tables = {**tables, "run_items": items}
            for status, n in items["status"].value_counts().iter_rows():
                result.n_items += n
                result.counts[f"n_{status.replace('-', '_')}"] += n
            if write and items.height:
                written.append(str(part))
                stored.write(str(part), tables)
        if not result.n_items:
            what = "none of the items that it answers can be scored in this lake"
            raise NoItemKnownError(what, where=str(job.input_file.source), code=Exit.INVALID)
    except BaseException:
        if written:
            stored.remove()
        raise
    # Items skipped on request are in `rejects` too, but are not faults.
    result.counts["n_rejected"] = len(job.rejects) - result.counts["n_unknown"]
    if write:
        if job.program is not None:
            cost = {"run_id": job.run_id, "part": "all", **job.cost}
            stored.write("all", {"costs": pl.DataFrame([cost], schema=table("costs").columns)})
        stored.conclude(_row(job), written, job.rejects)
        same = (pl.col("system") == request.system, pl.col("task") == job.task.name, pl.col("run_id") != job.run_id)
        replaced = delete_imported_runs(job.lake, request.benchmark, *same)
        result.notes += [f"replaces {run_id}, imported earlier under the same name" for run_id in replaced]
    return result


def _stored(job: ImportJob) -> ImportedRun:
    chunks, importer = job.lake.part("chunkers", job.chunker) if job.chunker else None, job.files.importer
    # Items ingested later may be answered too, and changed rules may read the file or resolve its names differently.
    names, folders = job.items["part"].unique().sort().to_list(), {"benchmark": job.task.benchmark}
    parts = [part for part in job.lake.parts("items", **folders) if part.name in names]
    inputs = [*parts, *job.lake.parts("files", **folders), chunks, job.lake.part("symbol_rules", DEFINITIONS)]
    given = [sha256_of_file(file) for file in (job.request.prices, job.request.resolved) if file and file.is_file()]
    parameters = [job.stamp, job.files.sha256, names, given, job.task.pool_prefix, job.task.subsets]
    made = made_from(inputs, parameters, [import_job, importer.read, importer.trajectories])
    return ImportedRun(job.lake, job.task.benchmark, job.run_id, made)


def _refuse_unknown(job: ImportJob, unknown: pl.DataFrame, n_rows: int) -> None:
    """Raise for answers to unknown items (item_id, position), or add them to `rejects` if they may be skipped."""
    task = job.task.name
    if unknown.schema["position"] != pl.String:
        unknown = unknown.with_columns(position=pl.format(f"{job.input_file.unit} {{}}", "position"))
    ids = unknown.group_by("item_id", maintain_order=True).agg(pl.len(), pl.col("position").first())
    if job.request.skip_unknown and unknown.height < n_rows:
        for item_id, n, position in ids.iter_rows():
            answers = counted(n, "trajectory" if job.result.kind == "trajectory" else "row")
            reason = f"not an item of {task} here: {answers} skipped"
            job.rejects.add(job.input_file.name, f"item {item_id[:200]}, {position}", reason, item_id)
        return
    subsets = listed(job.items["subset"].unique().sort().to_list())
    near = did_you_mean(str(ids["item_id"][0]), job.items["item_id"])
    hint = f"{near} " if near.startswith("Did") else ""
    hint += f"{task} has {counted(job.items.height, 'item')} here, of {subsets}."
    hint += " Name a session's file or folder after its item." if job.result.kind == "trajectory" else ""
    first = ids.head(MAX_EXAMPLES).select("position", "item_id").iter_rows()
    examples = [f"{where}: {name[:120]!a}" for where, name in first]
    if unknown.height == n_rows:
        what, where = f"no item of the file is in {task} ({counted(ids.height, 'item')})", str(job.input_file.source)
        raise NoItemKnownError(what, where=where, examples=examples, hint=hint, code=Exit.INVALID)
    what = f"the file names {counted(ids.height, 'item')} not asked by {task}"
    raise job.input_file.wrong(what, examples=examples, hint=f"{hint} --skip-unknown skips them.")


def _row(job: ImportJob) -> pl.DataFrame:
    program, request, result = job.program, job.request, job.result
    of_benchmark = job.lake.scan_part("benchmarks", request.benchmark).select("limit").collect()["limit"]
    limit = request.limit or next(iter(of_benchmark), None)
    of_program = {"search": program.name, "files": dict(program.files)} if program else {}
    row = {
        "run_id": job.run_id, "system": request.system, "benchmark": request.benchmark, "task": job.task.name,
        "chunker": job.chunker, "origin": "imported", "limit": limit, "fingerprint": job.stamp, **result.columns(),
        "parameters": canonical_json({"sha256": job.files.sha256, **of_program}),
        "versions": canonical_json(dict(program.versions) if program else {}),
        "status": "partial" if result.counts["n_not_asked"] or limit is not None or request.where else "complete",
        "selection": [{"column": column, "value": value} for column, value in request.where],
        "format": program.format if program else job.files.importer.name,
        "file": program.name if program else job.input_file.name,
    }  # fmt: skip
    return pl.DataFrame([row], schema=table("runs").columns)
