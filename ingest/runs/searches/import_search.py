"""A program of one's own becomes a run: it is asked every item, and its answers are imported as any ranking is."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import polars as pl

from ingest.json_command import JsonCommand
from ingest.runs.find_trajectories import Found, found_in
from ingest.runs.formats.answers import ANSWERS
from ingest.runs.import_outcome import Imported, Made, Wanted
from ingest.runs.importing import Import
from ingest.runs.input_file import InputFile
from ingest.runs.items import item_parts, task_named
from ingest.runs.naming import check_benchmark, check_system, known_chunker, run_id_of
from ingest.runs.searches import function_program, ripgrep_program
from ingest.runs.searches.asking import Asked, Track, ask, items_of
from lake.costs import hardware
from lake.errors import Exit, GoldspanError
from lake.fingerprint import fingerprint, sha256_of_file
from lake.located import located
from lake.make import made_from
from lake.rejects import Rejects
from lake.selection import Where, drawn_ids, of_where, with_items
from lake.store import Lake
from lake.text import counted

RIPGREP = "ripgrep"
_FUNCTION = re.compile(r"(?P<module>[^\W\d]\w*(?:\.[^\W\d]\w*)*):[^\W\d]\w*")


def is_ripgrep(what: str) -> bool:
    """Whether it is ripgrep that is meant, which is called rg where it is installed."""
    return what.strip() in {RIPGREP, "rg"}


@dataclass(frozen=True)
class Search:
    """A program that answers items.

    Attributes:
        what: As it was written.
        kind: The run's format.
        files: Path → sha256 of the files that it was made of, as far as the command names them.
        versions: Program → version, where it is known.
        where: Which items are asked.
        limit: At most so many of them.
        again: Whether it is asked again though its answers are there.
    """

    what: str
    kind: Literal["command", "function", "ripgrep"]
    command: JsonCommand
    files: Mapping[str, str]
    versions: Mapping[str, str]
    where: Where = ()
    limit: int | None = None
    again: bool = False

    @classmethod
    def of(cls, what: str, seconds: float, where: Where, limit: int | None, *, again: bool) -> Search:
        """The program that is meant, which is on this machine; nothing is started."""
        what = what.strip()
        if is_ripgrep(what):
            command = JsonCommand((sys.executable, ripgrep_program.__file__), seconds)
            return cls(RIPGREP, "ripgrep", command, {}, {RIPGREP: _ripgrep()}, where, limit, again)
        kind: Literal["command", "function"] = "command"
        if found := _FUNCTION.fullmatch(what):
            path, kind = Path(*found["module"].split(".")), "function"
            files = [one for one in (path.with_suffix(".py"), path / "__init__.py") if one.is_file()]
            command = JsonCommand((sys.executable, function_program.__file__, what), seconds)
        else:
            command = JsonCommand.of(what, seconds=seconds)
            files = command.files
        for file in files if kind == "function" else ():
            _check_syntax(file)
        digests = {file.as_posix(): sha256_of_file(file) for file in files}
        return cls(what, kind, command, digests, {}, where, limit, again)

    @property
    def fingerprint(self) -> str:
        """What its answers depend on, as far as it is known."""
        ours: Mapping[str, Callable[..., object]] = {"ripgrep": ripgrep_program.main, "function": function_program.main}
        told = [self.what, self.kind, dict(self.files), dict(self.versions)]
        return made_from(parameters=told, code=[ours[self.kind]] if self.kind in ours else [])


def _check_syntax(file: Path) -> None:
    """See that Python can read a file, before it is asked of every pool; what it imports, only running it tells."""
    try:
        compile(file.read_bytes(), str(file), "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        raise GoldspanError(f"--search: {located(error, file)}", code=Exit.USAGE) from error


def _ripgrep() -> str:
    """The version of ripgrep; a `GoldspanError` where it is not on this machine."""
    if shutil.which("rg") is None:
        message = "--search ripgrep runs the program rg, which is not on this machine"
        hint = "Install it: apt-get install ripgrep (Debian, Ubuntu), brew install ripgrep (macOS)."
        raise GoldspanError(message, hint=hint, code=Exit.MISSING)
    said = subprocess.run(["rg", "--version"], capture_output=True, text=True, check=False).stdout
    return said.split("\n", 1)[0].removeprefix("ripgrep ").split(" ")[0]


def import_search(
    lake: Lake, wanted: Wanted, search: Search, *, write: bool, track: Track, say: Callable[[str], None]
) -> Imported:
    """Ask a program every item and, if `write` says so, store what it answers as a run, under the caller's lock.

    `track` shows how many of the pools are done, and `say` is told of what goes wrong while it does.

    Raises:
        GoldspanError: The names do not fit, the program answered nothing, or an answer does not fit the lake's files.
    """
    check_benchmark(lake, wanted.benchmark)
    check_system(lake, wanted.benchmark, wanted.system)
    chunker = known_chunker(lake, wanted.chunker)
    task = task_named(lake, wanted.benchmark, wanted.task, "ranking")
    parts = item_parts(lake, wanted.benchmark, task)
    if search.where:
        with_items(lake, [wanted.benchmark], search.where)
    selected = of_where(lake.scan("items", benchmark=wanted.benchmark), search.where)
    if (drawn := drawn_ids(lake, task, search.where, search.limit)) is not None:
        # As `evaluate` draws them, so that both ask the same.
        selected = selected.filter(pl.col("item_id").is_in(drawn.implode()))
    item_ids = selected.select("item_id").collect()
    parts = [replace(one, items=one.items.join(item_ids, on="item_id", how="semi")) for one in parts]
    parts = [one for one in parts if one.items.height]
    stamp = fingerprint(search.fingerprint, wanted.system, task.name, chunker, search.where, search.limit)
    told = {"search": search.what, "files": dict(search.files)}
    made = Made(search.kind, search.what, told, search.versions, search.where, search.limit)
    # What was answered before is known by its digest alone: the same answers would make the same run.
    before = _answers_of(lake, wanted.benchmark, run_id_of(task.name, wanted.system, stamp))
    found = Found(ANSWERS, [], sha256=before)
    kept = Import(lake, wanted, InputFile(wanted.file), found, task, parts, stamp, chunker, made)
    if before and not search.again and (stood := kept.stands()) is not None:
        stood.notes.append(f"`{search.what}` and the files it names are what they were; --again asks it again")
        return stood
    items = items_of(lake, task, parts)
    say(f"{search.what}: {counted(items.height, 'item')} of {task.name}")
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="goldspan-"))
        stack.callback(shutil.rmtree, folder)
        answers = InputFile(folder / "answers.jsonl")
        asked = ask(lake, task, items, search.command, answers.path, what=search.what, track=track, say=say)
        rejects = Rejects()
        found = found_in(answers, ANSWERS.name, rejects)
        job = replace(kept, input_file=answers, found=found, made=replace(made, cost=_cost(asked)))
        try:
            done = job.run(rejects, write=write)
        except GoldspanError as error:
            if error.where != str(answers.path):
                raise
            stack.pop_all()
            hint = f"{error.hint} The answers are kept there; `python -m ingest run` imports them once mended."
            raise answers.wrong(error.what, examples=error.examples, hint=hint.strip()) from error
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
