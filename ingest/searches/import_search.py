"""A program of one's own becomes a run: it is asked every item, and its answers are imported as any ranking is."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ingest.runs.find_trajectories import Found, found_in
from ingest.runs.formats.answers import ANSWERS
from ingest.runs.import_outcome import Imported, Made, Wanted
from ingest.runs.importing import Import
from ingest.runs.input_file import InputFile
from ingest.runs.items import item_parts, task_named
from ingest.runs.naming import check_benchmark, check_system, known_chunker, run_id_of
from ingest.searches.asking import Asked, Track, ask, items_of
from ingest.searches.search import Search
from lake.costs import hardware
from lake.errors import GoldspanError
from lake.fingerprint import fingerprint
from lake.rejects import Rejects
from lake.sampling import stratified
from lake.store import Lake
from lake.text import counted


@dataclass(frozen=True)
class Asking:
    """A program, at most how many items of each part it is asked, and whether again though its answers are there."""

    search: Search
    limit: int | None = None
    again: bool = False


def import_search(
    lake: Lake, wanted: Wanted, asking: Asking, *, write: bool, track: Track, say: Callable[[str], None]
) -> Imported:
    """Ask a program every item and, if `write` says so, store what it answers as a run, under the caller's lock.

    `track` shows how many of the pools are done, and `say` is told of what goes wrong while it does.

    Raises:
        GoldspanError: The names do not fit, the program answered nothing, or an answer does not fit the lake's files.
    """
    check_benchmark(lake, wanted.benchmark)
    check_system(lake, wanted.benchmark, wanted.system)
    chunker = known_chunker(lake, wanted.chunker)
    task = task_named(wanted.benchmark, wanted.task, "ranking")
    parts = item_parts(lake, wanted.benchmark, task)
    if (limit := asking.limit) is not None:
        # As `evaluate --limit` draws them, so that both ask the same.
        parts = [replace(one, items=stratified(one.items, limit)) for one in parts]
    search = asking.search
    stamp = fingerprint(search.fingerprint, wanted.system, task.name, chunker, limit)
    told = {"search": search.what, "files": dict(search.files)}
    made = Made(search.kind, search.what, told, search.versions, limit)
    # What was answered before is known by its digest alone: the same answers would make the same run.
    before = _answers_of(lake, wanted.benchmark, run_id_of(task.name, wanted.system, stamp))
    found = Found(ANSWERS, [], sha256=before)
    kept = Import(lake, wanted, InputFile(wanted.file), found, task, parts, stamp, chunker, made)
    if before and not asking.again and (stood := kept.stands()) is not None:
        stood.notes.append(f"`{search.what}` and the files it names are what they were; --again asks it again")
        return stood
    items = items_of(lake, task, parts)
    say(f"{search.what}: {counted(items.height, 'item')} of {task.name}")
    folder = Path(tempfile.mkdtemp(prefix="goldspan-"))
    answers = InputFile(folder / "answers.jsonl")
    try:
        asked = ask(lake, task, items, search, answers.path, track=track, say=say)
    except BaseException:
        shutil.rmtree(folder)
        raise
    rejects = Rejects()
    found = found_in(answers, ANSWERS.name, rejects)
    job = replace(kept, input_file=answers, found=found, made=replace(made, cost=_cost(asked)))
    try:
        done = job.run(rejects, write=write)
    except GoldspanError as error:
        if error.where != str(answers.path):
            shutil.rmtree(folder)
            raise
        hint = f"{error.hint} The answers are kept there; `python -m ingest run` imports them once mended."
        raise answers.wrong(error.what, examples=error.examples, hint=hint.strip()) from error
    shutil.rmtree(folder)
    done.notes += _notes(asked)
    return done


def _answers_of(lake: Lake, benchmark: str, run_id: str) -> str:
    """The digest of the answers that a run was made of; empty where it is not there."""
    row = lake.scan("runs", benchmark=benchmark, run_id=run_id).select("parameters").collect()
    return str(json.loads(row["parameters"][0])["sha256"]) if row.height else ""


def _cost(asked: Asked) -> Mapping[str, object]:
    """What asking cost; where a pool has one item alone, nothing tells making an index from searching it."""
    first = sum(asked.first_seconds) if asked.first_seconds else None
    return {"index_seconds": first, "query_seconds": asked.query_seconds, "hardware": hardware()}


def _notes(asked: Asked) -> list[str]:
    shown = [f"failed in pool {sentence}" for sentence in asked.failures[:3]]
    more = [f"and in {counted(len(asked.failures) - 3, 'pool')} more"] * (len(asked.failures) > 3)
    n = counted(len(asked.unwritten), "file")
    unwritten = [f"not written out to be searched: {n}, such as {asked.unwritten[0]!a}"] if asked.unwritten else []
    silent = "it kept silent until it had read all of a pool's items, so they were sent together and not timed"
    return [*[silent] * asked.together, *shown, *more, *unwritten]
