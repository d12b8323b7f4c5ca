"""Runs stored as files: those recorded next to a benchmark's data, and submissions in folders `<system>/<date>`."""

from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Annotated, ClassVar, Literal

import polars as pl
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, FiniteFloat, StringConstraints

from ingest.benchmarks import benchmarks
from ingest.rejects import Rejects
from ingest.runs.find_trajectories import AUTO
from ingest.runs.importing import delete_imported_runs, import_run
from ingest.runs.request import ImportRequest, NoItemKnownError, Say
from ingest.sources.strict_yaml import read_yaml, validated
from ingest.sources.tree import Source
from lake.benchmarks import TASKS
from lake.errors import MAX_EXAMPLES, Exit, GoldspanError, lookup
from lake.make import write_if_changed
from lake.outcome import Outcome
from lake.store import Lake
from lake.tables import table
from lake.text import counted, listed

SUBMISSIONS = Path("lake/submissions")
DECLARATION = "system.yaml"
_HINT = f"{SUBMISSIONS}/README.md explains its keys."
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class SubmittedSystem(BaseModel):
    """The content of `system.yaml`; `asked`: whether all items were asked, or only those that run files answer."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True, frozen=True)

    name: Text
    benchmark: str
    label: str = ""
    task: str = ""
    kind: Literal["retriever", "agent"]
    authors: Annotated[list[Text], Field(min_length=1), BeforeValidator(lambda x: x if isinstance(x, list) else [x])]
    contact: str = ""
    url: str = ""
    licence: Text
    description: Text
    revision: str = ""
    cost: str = ""
    chunker: str = ""
    asked: Literal["answered", "all"] = "answered"
    format: str = AUTO
    reported: Annotated[dict[str, FiniteFloat], Field(min_length=1)] = {}


def read_submission(folder: Path) -> tuple[SubmittedSystem, dict[str, Path | None]]:
    """The system in a folder `<system>/<date>`, and task → run file, None if it only reports numbers."""
    file, day = folder / DECLARATION, ""

    def wrong(what: str, where: Path, hint: str = _HINT) -> GoldspanError:
        return GoldspanError(what, where=str(where), hint=hint, code=Exit.INVALID)

    with suppress(ValueError):
        day = date.fromisoformat(folder.name).isoformat()
    if day != folder.name or not folder.is_dir():
        name = "/".join(folder.parts[-2:])
        raise wrong(f"{name!a} is not a submission: expected a folder <system>/<date> (2026-01-31)", folder)
    files = [file for file in sorted(folder.iterdir()) if not file.name.startswith(".")]
    run_files = [file for file in files if file.name.split(".")[0] == "run"]
    if foreign := [each.name for each in files if each.is_symlink() or each not in [file, *run_files]]:
        what = f"{foreign[0]!a} is not allowed: only {DECLARATION} and run files called run.<ending>, and no links"
        raise wrong(what, folder)
    system = validated(SubmittedSystem, read_yaml(file, _HINT), file, _HINT)
    lookup(system.benchmark, "benchmark", benchmarks())
    tasks = {task.name.partition("/")[2]: task.name for task in TASKS.values() if task.benchmark == system.benchmark}
    first = next(name for name in tasks.values() if "ranking" in TASKS[name].answered_by)
    first = lookup(system.task or first, "task", {name: name for name in tasks.values()})
    runs: dict[str, Path | None] = {tasks.get(f"{each.name}.".split(".")[1], first): each for each in run_files}
    if len(runs) < len(run_files):
        what = f"{listed([each.name for each in run_files])} answer the same task"
        raise wrong(what, folder, f"Name each run.<task>.<ending>, with a task of {listed(list(tasks))}.")
    if not runs and not system.reported:
        raise wrong("reported: expected a run file or at least one reported number", file)
    return system, runs or {first: None}


def import_recorded(lake: Lake, benchmark: str, source: Source, result: Outcome, say: Say = lambda _: None) -> None:
    """Import the runs that a source has recorded, under the caller's lock; those that fail become rows of `rejects`."""
    rejects = Rejects()
    for system, path in source.recorded:
        _import_file(lake, ImportRequest(path, benchmark, system, skip_unknown=True), system, rejects, result, say)
    _store(lake, "rejects", f"recorded-{benchmark}", rejects.frame("ingest"))
    result.rejected += len(rejects)


def _import_file(
    lake: Lake, request: ImportRequest, name: str, rejects: Rejects, result: Outcome, say: Say
) -> tuple[str | None, str, str]:
    """Import a run; return its id (None if it is not imported), its status and, if there is one, a reason for it."""
    try:
        imported = import_run(lake, request, write=True, say=say)
    except NoItemKnownError as error:
        # Like other answers to items that were not ingested, this is not a fault.
        result.warnings.append(f"{name} is not scored: {error.what}")
        return None, "waiting", error.what
    except GoldspanError as error:
        _reject(name, error, rejects, result)
        return None, "refused", error.what
    result.rejected += imported.counts["n_rejected"]
    result.changes += imported.notes
    n_done = f"{imported.counts['n_done']:,} of {counted(imported.n_items, 'item')}"
    result.warnings.append("; ".join([f"{name}: {n_done}", *imported.sentences()]))
    return imported.run_id, "scored", ""


def _reject(name: str, error: GoldspanError, rejects: Rejects, result: Outcome) -> None:
    file = error.where.rpartition("/")[2] or DECLARATION
    why = "; ".join([error.what, *error.examples[:MAX_EXAMPLES]])
    rejects.add(name, file, why)
    result.warnings.append(f"left out: {name}, {file}: {why}")


def _store(lake: Lake, name: str, part: str, rows: pl.DataFrame) -> None:
    """Store a part in place of its earlier version, or delete it if there are no rows."""
    if rows.height:
        write_if_changed(lake, name, part, rows)
    elif (stale := lake.part(name, part)) is not None:
        lake.remove(stale)


def check_submission(lake: Lake, path: Path, *, skip_unknown: bool, say: Say) -> Outcome:
    """Check a submission as an import would; nothing is written."""
    folder = (path.parent if path.name == DECLARATION else path).absolute()
    system, runs = read_submission(folder)
    whole = Outcome("nothing was written", hint=f"git add {path}, and a pull request")
    for task, file in runs.items():
        if file:
            request = _request(system, task, file, skip_unknown=skip_unknown)
            whole.add(import_run(lake, request, write=False, say=say).outcome("", ""))
    if system.reported:
        whole.warnings.append(f"{counted(len(system.reported), 'reported number')}, shown as reported, never ranked")
    return whole


def import_submissions(lake: Lake, root: Path, result: Outcome, say: Say) -> list[str]:
    """Make the lake's submissions match a folder (under the caller's lock); return a status per submission and task."""
    rejects, rows, before = Rejects(), list[dict[str, object]](), lake.read("submissions")
    folders = (folder for folder in root.absolute().glob("*/*") if not folder.name.startswith("."))
    newest: dict[tuple[str, ...], str] = {}
    for folder in sorted(folders, key=lambda folder: (folder.name, folder.parent.name), reverse=True):
        name, runs = "/".join(folder.parts[-2:]), dict[str, Path | None]()
        try:
            system, runs = read_submission(folder)
        except GoldspanError as error:
            _reject(name, error, rejects, result)
        for task, file in runs.items():
            newer = newest.setdefault((system.benchmark, system.label, system.name, task), name)
            run_id, status, why = None, "reported", ""
            if newer != name:
                status, why = "older", f"{newer} replaces it"
            elif file:
                request = _request(system, task, file)
                run_id, status, why = _import_file(lake, request, name, rejects, result, say)
            rows.append({
                **system.model_dump(exclude={"name", "format", "chunker", "asked"}),
                "reported": [{"metric": name, "value": value} for name, value in sorted(system.reported.items())],
                "submission": name, "system": system.name, "date": folder.name, "task": task,
                "file": file and file.name, "status": status, "why": why, "run_id": run_id,
            })  # fmt: skip
    gone = before.filter(~pl.col("run_id").is_in([row["run_id"] for row in rows])).select("run_id", "benchmark")
    for run_id, benchmark in gone.sort("run_id").iter_rows():
        names = delete_imported_runs(lake, benchmark, pl.col("run_id") == run_id)
        result.changes += [f"{name} was deleted with its submission" for name in names]
    _store(lake, "submissions", "all", pl.DataFrame(rows, schema=table("submissions").columns))
    _store(lake, "rejects", "submissions", rejects.frame("ingest"))
    result.rejected += len(rejects)
    return [str(row["status"]) for row in rows]


def _request(system: SubmittedSystem, task: str, file: Path, *, skip_unknown: bool = True) -> ImportRequest:
    given, is_asked_all = (system.benchmark, system.name, task, system.format), system.asked == "all"
    return ImportRequest(file, *given, skip_unknown, system.chunker, is_asked_all, label=system.label)
