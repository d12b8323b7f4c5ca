"""An import: a file of rankings, completions or trajectories becomes a run, all of it checked before the run counts."""

from collections import Counter
from collections.abc import Sequence

import polars as pl

from ingest.runs.rankings import DEFINITIONS, completion_tables, ranking_tables, read_completions, read_rankings
from ingest.runs.request import ImportJob, ImportRequest, NoItemKnownError, Say
from ingest.runs.trajectory_rows import read_trajectories, trajectory_tables
from lake.errors import MAX_EXAMPLES, Exit, did_you_mean
from lake.fingerprint import canonical_json, sha256_of_file
from lake.make import BuildTarget, Slot, made_from
from lake.store import Lake
from lake.tables import IMPORT_REJECTS, TABLES, table

_KINDS = {
    "ranking": (read_rankings, ranking_tables, ["hits"]),
    "completion": (read_completions, completion_tables, []),
    "trajectory": (read_trajectories, trajectory_tables, ["hits", "edits", "usage"]),
}
"""By kind, how answers are read (item_id, as in the file if unknown; position; …), and how tables are made of a part's.

The latter takes the part's scorable items, numbered as `item`, and their answers; it gives rows of `run_items` for
those answered, and of the tables named, without the columns that are null.
"""


def import_run(lake: Lake, request: ImportRequest, *, write: bool, say: Say = lambda _: None) -> ImportJob:
    """Check a file and, if `write`, store it as a run; the caller holds the lake's lock."""
    job = ImportJob.of(lake, request)
    if not up_to_date(job):
        say(f"{job.input_file.name}: {job.files.importer.title} for {job.task.name}")
        import_job(job, write=write)
    return job


def up_to_date(job: ImportJob) -> bool:
    """Whether an earlier import is still valid; if so, the job has its result."""
    folders = job.folders
    names = [part.name for part in job.lake.parts("run_items", **folders)]
    if not _target(job, names).is_current:
        return False
    row = job.lake.read("runs", **folders).row(0, named=True)
    counts = Counter({each["name"]: each["n"] for each in row["counts"]})
    if counts["n_unknown"] and not job.request.skip_unknown:
        return False
    job.n_items, job.is_current, job.counts = row["n_items"], True, counts
    job.unread = Counter({each["name"]: each["n"] for each in row["unread"]})
    return True


def import_job(job: ImportJob, *, write: bool) -> None:
    """Check all rows and, if `write`, store the run (its row in `runs` last) in place of any of its system and task."""
    lake, request, whole = job.lake, job.request, _target(job)
    read, tables_of, names = _KINDS[job.files.importer.kind]
    rows = read(job)
    known = job.items.select("part", pl.col("item_id").cast(rows.schema["item_id"])).partition_by("part", as_dict=True)
    unknown = rows.join(pl.concat(known.values()), on="item_id", how="anti", maintain_order="left")
    job.counts["n_unknown"] = unknown["item_id"].n_unique()
    if not unknown.is_empty():
        _refuse_unknown(job, unknown.select(pl.col("item_id").cast(pl.String), "position"), rows.height)
    if write:
        delete_run(lake, request.benchmark, job.run_id)
    try:
        for (part,), of_part in job.items.group_by("part", maintain_order=True):
            answers = rows.join(known[part,], on="item_id", how="semi", maintain_order="left")
            if answers.is_empty() and not request.is_selection:
                continue
            scorable = of_part.filter("scorable").sort("item_id").with_row_index("item").cast({"item": pl.Int64})
            items, *frames = tables_of(job, scorable, answers)
            job.counts["n_unscorable"] += answers["item_id"].n_unique() - items.height
            if request.asked_all or request.is_selection:
                why = f"no {job.files.importer.kind} in {job.input_file.name}"
                missing = scorable.select("item_id", status=pl.lit("missing"), error=pl.lit(why))
                items = pl.concat([items, missing.join(items, on="item_id", how="anti")], how="diagonal")
            else:
                # The file does not tell whether an item without an answer, not even an empty one, was asked.
                job.counts["n_not_asked"] += scorable.height - items.height
            for status, n in items["status"].value_counts().iter_rows():
                job.n_items += n
                job.counts[f"n_{status.replace('-', '_')}"] += n
            if write and items.height:
                for name, frame in zip(["run_items", *names], [items, *frames], strict=True):
                    whole_rows = _rows(name, job.run_id, frame)
                    lake.write(name, whole_rows, part=str(part), fingerprint=whole.fingerprint, **job.folders)
        if not job.n_items:
            what = "none of the items that it answers can be scored in this lake"
            raise NoItemKnownError(what, where=str(job.input_file.source), code=Exit.INVALID)
        # Items skipped on request are in `rejects` too, but are not faults.
        job.counts["n_rejected"] = len(job.rejects) - job.counts["n_unknown"]
        if write:
            if job.program is not None:
                cost = pl.DataFrame([{"run_id": job.run_id, "part": "all", **job.cost}], table("costs").columns)
                lake.write("costs", cost, part="all", fingerprint=whole.fingerprint, **job.folders)
            whole.write(job.rejects.frame("ingest"), _row(job))
    except BaseException:
        if write:
            delete_run(lake, request.benchmark, job.run_id)
        raise
    if write:
        same = (pl.col("system") == request.system, pl.col("task") == job.task.name, pl.col("run_id") != job.run_id)
        replaced = delete_imported_runs(lake, request.benchmark, *same)
        job.notes += [f"replaces {run_id}, imported earlier under the same name" for run_id in replaced]


def _rows(name: str, run_id: str, given: pl.DataFrame) -> pl.DataFrame:
    schema = table(name).schema
    absent = {column: pl.lit(None) for column in schema.column_names() if column not in given.columns}
    rows = schema.cast(given.with_columns(**absent).with_columns(run_id=pl.lit(run_id)))
    # Columns of `run_items` that may not be null.
    return rows.with_columns(pl.col("^(?:n_returned|n_nws)$").fill_null(0), pl.col("^ties$").fill_null([]))


def delete_run(lake: Lake, benchmark: str, run_id: str) -> None:
    """Delete all that the lake has of a run, its row in `runs` first."""
    # The table `runs` is the first of these.
    tables = [declared.name for declared in TABLES.values() if "run_id" in declared.folders]
    parts = [part for name in tables for part in lake.parts(name, benchmark=benchmark, run_id=run_id)]
    for part in filter(None, [*parts, lake.part("rejects", f"{IMPORT_REJECTS}{run_id}")]):
        lake.remove(part)


def delete_imported_runs(lake: Lake, benchmark: str, *only: pl.Expr) -> list[str]:
    """Delete imported runs of a benchmark, all or those that match `only`; return their ids."""
    runs = lake.scan("runs", benchmark=benchmark).filter(pl.col("origin") == "imported", *only).select("run_id")
    run_ids = runs.collect()["run_id"].sort().to_list()
    for run_id in run_ids:
        delete_run(lake, benchmark, run_id)
    return run_ids


def _target(job: ImportJob, parts: Sequence[str] = ()) -> BuildTarget:
    """Some parts of the run, its rejects and, last, its row in `runs`, which marks the run as complete."""
    chunks, importer = job.lake.part("chunkers", job.chunker) if job.chunker else None, job.files.importer
    # Items ingested later may be answered too, and changed rules may read the file or resolve its names differently.
    names, of_benchmark = job.items["part"].unique().sort().to_list(), {"benchmark": job.task.benchmark}
    items = [part for part in job.lake.parts("items", **of_benchmark) if part.name in names]
    inputs = [*items, *job.lake.parts("files", **of_benchmark), chunks, job.lake.part("symbol_rules", DEFINITIONS)]
    given = [sha256_of_file(file) for file in (job.request.prices, job.request.resolved) if file and file.is_file()]
    parameters = [job.stamp, job.files.sha256, names, given, job.task.pool_prefix, job.task.subsets]
    made = made_from(inputs, parameters, [import_job, importer.read, importer.trajectories])
    slots = [Slot(name, part, job.folders) for name in ["run_items", *_KINDS[importer.kind][2]] for part in parts]
    slots += [Slot("rejects", f"{IMPORT_REJECTS}{job.run_id}", {}), Slot("runs", "all", job.folders)]
    return BuildTarget(job.lake, slots, made)


def _refuse_unknown(job: ImportJob, unknown: pl.DataFrame, n_rows: int) -> None:
    """Raise for answers to unknown items (item_id, position), or add them to `rejects` if they may be skipped."""
    task, is_trajectory = job.task.name, job.files.importer.kind == "trajectory"
    position = pl.col("position") if is_trajectory else pl.format(f"{job.input_file.unit} {{}}", "position")
    ids = unknown.unique("item_id", keep="first", maintain_order=True).select("item_id", position)
    are_all = unknown.height == n_rows
    if job.request.skip_unknown and not are_all:
        for item_id, where in ids.iter_rows():
            job.rejects.add(job.input_file.name, f"item {item_id[:200]}, {where}", f"not an item of {task}", item_id)
        return
    what = f"{'no' if are_all else 'not every'} item of the file is in {task} ({ids.height:,} unknown)"
    examples = [f"{where}: {item_id[:120]!a}" for item_id, where in ids.head(MAX_EXAMPLES).iter_rows()]
    hint = did_you_mean(str(ids["item_id"][0]), job.items["item_id"])
    hint += " Name a session's file or folder after its item." if is_trajectory else ""
    hint += "" if are_all else " --skip-unknown skips them."
    where = str(job.input_file.source)
    raise NoItemKnownError(what, where=where, examples=examples, hint=hint, code=Exit.INVALID)


def _row(job: ImportJob) -> pl.DataFrame:
    program, request = job.program, job.request
    of_benchmark = job.lake.scan_part("benchmarks", request.benchmark).select("limit").collect()["limit"]
    limit = request.limit or next(iter(of_benchmark), None)
    of_program = {"search": program.name, "files": program.files} if program else {}
    row = {
        "run_id": job.run_id, "system": request.system, "benchmark": request.benchmark, "task": job.task.name,
        "chunker": job.chunker, "origin": "imported", "limit": limit, "fingerprint": job.stamp,
        "n_items": job.n_items, "notes": job.sentences(),
        "counts": [{"name": name, "n": n} for name, n in sorted(job.counts.items())],
        "unread": [{"name": name, "n": n} for name, n in sorted(job.unread.items())],
        "parameters": canonical_json({"sha256": job.files.sha256, **of_program}),
        "versions": canonical_json(program.versions if program else {}),
        "status": "partial" if job.counts["n_not_asked"] or limit is not None or request.where else "complete",
        "selection": [{"column": column, "value": value} for column, value in request.where],
        "format": program.format if program else job.files.importer.name,
        "file": program.name if program else job.input_file.name,
    }  # fmt: skip
    return pl.DataFrame([row], schema=table("runs").columns)
