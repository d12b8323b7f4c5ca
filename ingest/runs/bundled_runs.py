"""Runs that lie as files, and go with them: recorded ones beside a benchmark's data, submissions beside the lake."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl

from ingest.runs.imported_runs import Imported, delete_imported_runs
from ingest.runs.importing import NoItemKnownError, import_run
from ingest.runs.request import ImportRequest
from ingest.runs.submission import DECLARATION, SubmissionFolder, folders_in, name_of, read_submission
from ingest.sources.tree import Source
from lake.errors import MAX_EXAMPLES, Exit, GoldspanError
from lake.make import write_if_changed
from lake.outcome import Outcome
from lake.rejects import Rejects
from lake.store import Lake
from lake.tables import table
from lake.text import counted

Say = Callable[[str], None]


def import_recorded(lake: Lake, benchmark: str, source: Source, result: Outcome, say: Say = lambda _: None) -> None:
    """Import what a source has recorded, under the caller's lock; what cannot be imported is a row of `rejects`."""
    rejects = Rejects()
    for run in source.recorded():
        request = ImportRequest(run.path, benchmark, run.system, skip_unknown=True)
        try:
            _import_file(lake, request, run.system, result, say)
        except NoItemKnownError:
            # As other answers to items that were not ingested: nothing is wrong with them.
            result.warnings.append(f"left out: {run.system}: the lake holds none of its items")
        except GoldspanError as error:
            rejects.add(run.path.name, f"system {run.system}", error.what)
            result.warnings.append(f"left out: {run.system}: {error.what}")
    _store(lake, "rejects", f"recorded-{benchmark}", rejects.frame("ingest"))
    result.rejected += len(rejects)


def _import_file(lake: Lake, request: ImportRequest, name: str, result: Outcome, say: Say) -> Imported:
    imported = import_run(lake, request, write=True, say=say)
    result.rejected += imported.n_rejected
    result.changes += imported.notes
    n_items = counted(imported.n_items, "item")
    result.warnings.append("; ".join([f"{name}: {imported.counts['n_done']:,} of {n_items}", *imported.summary()]))
    return imported


def _store(lake: Lake, name: str, part: str, rows: pl.DataFrame) -> None:
    """Store a part in place of what it was before, or take it away where it has no rows."""
    if rows.height:
        write_if_changed(lake, name, part, rows)
    elif (stale := lake.part(name, part)) is not None:
        lake.remove(stale)


def check_submission(lake: Lake, path: Path, *, skip_unknown: bool, say: Say) -> Outcome:
    """Check a submission as it would be imported; nothing is written."""
    submission = read_submission(path)
    if submission.runs and (why := _absence(lake, submission)):
        hint = f"First bring in what it answers: make ingest BENCHMARKS={submission.system.benchmark} SOURCE=…"
        raise GoldspanError(why, where=str(submission.folder / DECLARATION), hint=hint, code=Exit.MISSING)
    whole = Outcome("nothing was written", hint=f"git add {path}, and a pull request")
    for task in submission.runs:
        request = _request(submission, task, skip_unknown=skip_unknown)
        whole.add(import_run(lake, request, write=False, say=say).outcome("", ""))
    if numbers := submission.system.reported:
        whole.warnings.append(f"{counted(len(numbers), 'reported number')}, shown as such and never ranked")
    return whole


def import_submissions(lake: Lake, root: Path, result: Outcome, say: Say) -> list[str]:
    """Bring the lake's submissions to what a folder holds, under the caller's lock; what became of each.

    What cannot be imported is a row of `rejects`; what the lake lacks the items for waits, and is told of.
    """
    rejects = Rejects()
    read: list[SubmissionFolder] = []
    for folder in folders_in(root):
        try:
            read.append(read_submission(folder))
        except GoldspanError as error:
            _reject(name_of(folder), error, rejects, result)
    before = lake.read("submissions")
    rows: list[dict[str, object]] = []
    newest: dict[tuple[str, ...], str] = {}
    for submission in sorted(read, key=lambda submission: (submission.folder.name, submission.name), reverse=True):
        system = submission.system
        for task in submission.runs or [submission.first]:
            newer = newest.setdefault((system.benchmark, system.label, system.name, task), submission.name)
            status, why, run_id = "reported", "", None
            if newer != submission.name:
                status, why = "older", f"{newer} counts in its place"
            elif task in submission.runs:
                status, why, run_id = _imported(lake, submission, task, rejects, result, say)
            rows.append(_row(submission, task, status, why, run_id))
    gone = set(before["run_id"].drop_nulls()) - {row["run_id"] for row in rows}
    for run_id, benchmark in before.filter(pl.col("run_id").is_in(sorted(gone))).select("run_id", "benchmark").rows():
        names = delete_imported_runs(lake, benchmark, pl.col("run_id") == run_id)
        result.changes += [f"{name} went with its submission" for name in names]
    _store(lake, "submissions", "all", pl.DataFrame(rows, schema=table("submissions").columns))
    _store(lake, "rejects", "submissions", rejects.frame("ingest"))
    result.rejected += len(rejects)
    return [str(row["status"]) for row in rows]


def _imported(
    lake: Lake, submission: SubmissionFolder, task: str, rejects: Rejects, result: Outcome, say: Say
) -> tuple[str, str, str | None]:
    why = _absence(lake, submission)
    try:
        if not why:
            request = _request(submission, task, skip_unknown=True)
            return "scored", "", _import_file(lake, request, submission.name, result, say).run_id
    except NoItemKnownError:
        why = "the lake holds none of its items"
    except GoldspanError as error:
        _reject(submission.name, error, rejects, result)
        return "refused", error.what, None
    result.warnings.append(f"{submission.name} waits: {why}")
    return "waiting", why, None


def _absence(lake: Lake, submission: SubmissionFolder) -> str:
    """Why the lake cannot have what a submission answers; empty where it can."""
    system = submission.system
    wanted = f"{system.benchmark} labelled {system.label!r}" if system.label else system.benchmark
    part = lake.part("benchmarks", system.benchmark)
    if part is None:
        return f"the lake does not hold {wanted}"
    label = lake.scan_parts([part], "benchmarks").select("label").collect()["label"].item()
    held = f"that labelled {label!r}" if label else "the published one"
    return "" if label == system.label else f"it answers {wanted}; the lake holds {held}"


def _request(submission: SubmissionFolder, task: str, *, skip_unknown: bool) -> ImportRequest:
    system, file = submission.system, submission.runs[task]
    names = (system.benchmark, system.name, task, system.format)
    return ImportRequest(file, *names, skip_unknown, system.chunker, system.asked == "all")


def _reject(name: str, error: GoldspanError, rejects: Rejects, result: Outcome) -> None:
    file = error.where.rpartition("/")[2] or DECLARATION
    why = "; ".join([error.what, *error.examples[:MAX_EXAMPLES]])
    rejects.add(f"submission {name}", file, why)
    result.warnings.append(f"left out: {name}, {file}: {why}")


def _row(submission: SubmissionFolder, task: str, status: str, why: str, run_id: str | None) -> dict[str, object]:
    row = submission.system.model_dump(exclude={"name", "format", "chunker", "task", "asked"})
    reported = [{"metric": metric, "value": value} for metric, value in sorted(submission.system.reported.items())]
    row |= {"authors": list(submission.system.authors), "reported": reported}
    own = {
        "submission": submission.name,
        "system": submission.system.name,
        "task": task,
        "date": submission.folder.name,
    }
    file = submission.runs[task].name if task in submission.runs else None
    return {**row, **own, "task": task, "file": file, "status": status, "why": why, "run_id": run_id}
