"""The submissions of a folder as runs of the lake: the newest of each system and task; what left the folder leaves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl

from ingest.runs.bundled_runs import note_rejects
from ingest.runs.import_outcome import ImportRequest
from ingest.runs.imported_runs import ImportedRun
from ingest.runs.importing import NoItemKnownError, import_run
from ingest.runs.submissions.declaration import FILE, Submission, folders_in, name_of, read_submission
from lake.errors import MAX_EXAMPLES, Exit, GoldspanError
from lake.make import write_if_changed
from lake.outcome import Outcome
from lake.rejects import Rejects
from lake.store import Lake
from lake.tables import table
from lake.text import counted

Say = Callable[[str], None]
PART = "all"


def check_submission(lake: Lake, path: Path, *, skip_unknown: bool, say: Say) -> Outcome:
    """Check a submission as it would be imported; nothing is written.

    Raises:
        GoldspanError: It is none, the lake does not hold what it answers, or a run file does not fit.
    """
    one = read_submission(path)
    if one.runs and (why := _absence(lake, one)):
        hint = f"First bring in what it answers: make ingest BENCHMARKS={one.system.benchmark} SOURCE=…"
        raise GoldspanError(why, where=str(one.folder / FILE), hint=hint, code=Exit.MISSING)
    whole = Outcome("nothing was written", hint=f"git add {path}, and a pull request")
    for task in one.runs:
        done = import_run(lake, _request(one, task, skip_unknown=skip_unknown), write=False, say=say).outcome("", "")
        whole.add(done)
    if numbers := one.system.reported:
        whole.warnings.append(f"{counted(len(numbers), 'reported number')}, shown as such and never ranked")
    return whole


def import_submissions(lake: Lake, root: Path, result: Outcome, say: Say) -> list[str]:
    """Bring the lake's submissions to what a folder holds; what became of each. The caller holds the lake's lock.

    What cannot be imported is a row of `rejects`; what the lake lacks the items for waits, and is told of.
    """
    rejects = Rejects()
    read: list[Submission] = []
    for folder in folders_in(root):
        try:
            read.append(read_submission(folder))
        except GoldspanError as error:
            _reject(name_of(folder), error, rejects, result)
    before = lake.read("submissions")
    rows: list[dict[str, object]] = []
    newest: dict[tuple[str, ...], str] = {}
    for one in sorted(read, key=lambda one: (one.date, one.name), reverse=True):
        for task in one.runs or [one.first]:
            newer = newest.setdefault((one.system.benchmark, one.system.label, one.system.name, task), one.name)
            status, why, run_id = "reported", "", None
            if newer != one.name:
                status, why = "older", f"{newer} counts in its place"
            elif task in one.runs:
                status, why, run_id = _imported(lake, one, task, rejects, result, say)
            rows.append(_row(one, task, status, why, run_id))
    gone = set(before["run_id"].drop_nulls()) - {row["run_id"] for row in rows}
    for run_id, benchmark in before.filter(pl.col("run_id").is_in(sorted(gone))).select("run_id", "benchmark").rows():
        if lake.parts("runs", benchmark=benchmark, run_id=run_id):
            ImportedRun(lake, benchmark, run_id, "").remove()
            result.changes.append(f"{run_id} went with its submission")
    if rows:
        frame = pl.DataFrame(rows, schema=table("submissions").columns)
        write_if_changed(lake, "submissions", PART, frame)
    elif (stale := lake.part("submissions", PART)) is not None:
        lake.remove(stale)
    note_rejects(lake, "submissions", rejects)
    result.rejected += len(rejects)
    return [str(row["status"]) for row in rows]


def _imported(
    lake: Lake, one: Submission, task: str, rejects: Rejects, result: Outcome, say: Say
) -> tuple[str, str, str | None]:
    """What came of a run file: its status, why, and its run."""
    if why := _absence(lake, one):
        result.warnings.append(f"{one.name} waits: {why}")
        return "waiting", why, None
    try:
        done = import_run(lake, _request(one, task, skip_unknown=True), write=True, say=say)
    except NoItemKnownError:
        why = "the lake holds none of its items"
        result.warnings.append(f"{one.name} waits: {why}")
        return "waiting", why, None
    except GoldspanError as error:
        _reject(one.name, error, rejects, result)
        return "refused", error.what, None
    result.rejected += done.n_rejected
    result.changes += done.notes
    said = "; ".join(done.summary())
    result.warnings.append(
        f"{one.name}: {done.counts.n_done:,} of {counted(done.n_items, 'item')}{said and f'; {said}'}"
    )
    return "scored", "", done.run_id


def _absence(lake: Lake, one: Submission) -> str:
    """Why the lake cannot have what a submission answers; empty where it can."""
    wanted = f"{one.system.benchmark} labelled {one.system.label!r}" if one.system.label else one.system.benchmark
    part = lake.part("benchmarks", one.system.benchmark)
    if part is None:
        return f"the lake does not hold {wanted}"
    label = lake.scan_parts([part], "benchmarks").select("label").collect()["label"].item()
    held = f"that labelled {label!r}" if label else "the published one"
    return "" if label == one.system.label else f"it answers {wanted}; the lake holds {held}"


def _request(one: Submission, task: str, *, skip_unknown: bool) -> ImportRequest:
    system, file = one.system, one.runs[task]
    asked_all = system.asked == "all"
    return ImportRequest(
        file, system.benchmark, system.name, task, system.format, skip_unknown, system.chunker, asked_all=asked_all
    )


def _reject(name: str, error: GoldspanError, rejects: Rejects, result: Outcome) -> None:
    """Note a refusal, where it stands as far as that is below the submission's own folder."""
    place = error.where.rpartition("/")[2] or FILE
    why = "; ".join([error.what, *error.examples[:MAX_EXAMPLES]])
    rejects.add(f"submission {name}", place, why)
    result.warnings.append(f"left out: {name}, {place}: {why}")


def _row(one: Submission, task: str, status: str, why: str, run_id: str | None) -> dict[str, object]:
    said = one.system.model_dump(exclude={"name", "format", "chunker", "task", "asked"})
    reported = [{"metric": metric, "value": value} for metric, value in sorted(one.system.reported.items())]
    said |= {"authors": list(one.system.authors), "reported": reported}
    own = {"submission": one.name, "system": one.system.name, "task": task, "date": one.date}
    file = one.runs[task].name if task in one.runs else None
    return {**said, **own, "file": file, "status": status, "why": why, "run_id": run_id}
