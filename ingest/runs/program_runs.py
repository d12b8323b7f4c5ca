"""Runs of a user's own program: it gets every query, and its answers are imported like any ranking."""

import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

import polars as pl

from ingest.programs import function_program, ripgrep_program
from ingest.programs.command import FUNCTION, JsonCommand, NoAnswerError, Request, RunningProgram
from ingest.runs.find_trajectories import trajectory_files
from ingest.runs.formats.rankings import ANSWERS, parse_answer
from ingest.runs.importing import import_job, up_to_date
from ingest.runs.request import ImportJob, ImportRequest, Search
from ingest.sources.input_file import InputFile
from lake.console import Console
from lake.errors import Exit, GoldspanError
from lake.fingerprint import sha256_of_file
from lake.make import made_from
from lake.store import Lake
from lake.text import counted
from lake.usage import hardware

RIPGREP = "ripgrep"
_MAX_VAIN = 10  # after this many pools without any answer, the program is given up
_MAX_FAILURES = 2  # after this many items without an answer, the rest of a pool is not asked
_AT_ONCE_BYTES = 64_000_000  # the text of pools held in memory at a time; a larger pool is held alone


@dataclass
class ProgramSession:
    """A program that is asked one item after the other."""

    search: Search
    first_seconds: list[float] = field(default_factory=list)  # for the first answer in each pool of several items
    query_seconds: list[float] = field(default_factory=list)  # for all other answers
    together: bool = False  # whether a pool's items are sent at once, to a program that answers when its input ends
    _n_silences: int = 0
    _program: RunningProgram | None = None

    def answers(self, requests: Sequence[Request]) -> list[Request]:
        """One answer for each item of a pool; an item without one has the reason in `error`."""
        answers, why, n_failures, command = list[Request](), "", 0, self.search.command
        for request in requests:
            if self.together or n_failures == _MAX_FAILURES:
                break
            try:
                program = self._program = self._program or RunningProgram(command.words, command.seconds)
                started = time.perf_counter()
                program.send([request])
                answer = program.answer({str(request["id"])})
            except NoAnswerError as error:
                self._program, n_failures, why = None, n_failures + 1, str(error)
                self._n_silences += error.is_silent
                # A program that has never answered may answer only when it has read all of its input.
                self.together = self._n_silences == _MAX_FAILURES and not (self.first_seconds or self.query_seconds)
                answers.append({"id": request["id"], "error": why})
                continue
            timed = self.first_seconds if not answers and len(requests) > 1 else self.query_seconds
            timed.append(time.perf_counter() - started)
            answers.append(self._checked(request, answer))
        if self.together:
            # A program that gets all items at once is not timed.
            pairs = zip(requests, command.answers(requests), strict=True)
            return [self._checked(each, {**answer, "id": each["id"]}) for each, answer in pairs]
        why = f"not asked: {_MAX_FAILURES} items of its pool had no answer: {why}"
        return answers + [{"id": each["id"], "error": why} for each in requests[len(answers) :]]

    def close(self) -> None:
        """End the program, with time to write its last data once its input has ended."""
        if self._program is not None:
            self._program.close(seconds=2)

    def _checked(self, request: Request, answer: Request) -> Request:
        """The answer, its paths in the pool's folder; if it is none, its `error` says why."""
        try:
            error = parse_answer(answer)[1]
        except ValueError as fault:
            error = str(fault)
        if error is not None:
            return {"id": request["id"], "error": error}
        if isinstance(results := answer["results"], list):
            for result in results:
                result["path"] = result["path"].removeprefix(f"{request['files']}/")
        return answer


def search_by(program: str, seconds: float) -> Search:
    """The program that `--search` names; an error if it is not on this machine. It is not asked anything yet."""
    program, ours, versions = program.strip(), list[Callable[..., object]](), dict[str, str]()
    if program in (RIPGREP, "rg"):
        if shutil.which("rg") is None:
            message = "--search ripgrep needs the program rg, which is not installed"
            hint = "Install it: apt-get install ripgrep (Debian, Ubuntu), brew install ripgrep (macOS)."
            raise GoldspanError(message, hint=hint, code=Exit.MISSING)
        printed = subprocess.run(["rg", "--version"], capture_output=True, text=True, check=False).stdout
        versions = {RIPGREP: printed.split("\n", 1)[0].removeprefix("ripgrep ").split(" ")[0]}
        program, format_name, ours = RIPGREP, RIPGREP, [ripgrep_program._main]
        command, files = JsonCommand((sys.executable, ripgrep_program.__file__), seconds), list[Path]()
    elif function := FUNCTION.fullmatch(program):
        path, format_name, ours = Path(*function["module"].split(".")), "function", [function_program._main]
        files = [file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()]
        command = JsonCommand((sys.executable, function_program.__file__, program), seconds)
    else:
        command, format_name = JsonCommand.of(program, seconds=seconds), "command"
        files = command.files
    digests = {file.as_posix(): sha256_of_file(file) for file in files}
    made = made_from(parameters=[program, format_name, digests, versions], code=ours)
    return Search(command, format_name, program, digests, versions, made)


def import_search(
    lake: Lake, request: ImportRequest, search: Search, console: Console, *, again: bool, write: bool
) -> ImportJob:
    """Import a program's answers to all items as a run, under the caller's lock; `again` ignores stored answers."""
    job = ImportJob.of(lake, request, search)
    # Earlier answers are known by their digest alone: the same answers would make the same run.
    stored = lake.scan("runs", **job.folders).select("parameters").collect()
    if stored.height and not again:
        current = replace(job, files=replace(job.files, sha256=json.loads(stored["parameters"][0])["sha256"]))
        if up_to_date(current):
            current.notes.append(f"`{search.name}` and its files have not changed; --again runs it again")
            return current
    session = ProgramSession(search)
    folder, is_kept = Path(tempfile.mkdtemp(prefix="goldspan-")), False
    try:
        answers = InputFile.at(folder / "answers.jsonl")
        notes = _ask(job, session, answers.source, console)
        # In a pool of one item, the time for indexing cannot be separated from that for searching.
        first = sum(session.first_seconds) if session.first_seconds else None
        job.cost = {"index_seconds": first, "query_seconds": session.query_seconds, "hardware": hardware()}
        job.files = trajectory_files(answers, ANSWERS.name, job.rejects)
        import_job(job, write=write)
    except GoldspanError as error:
        if is_kept := error.where == str(folder / "answers.jsonl"):
            error.hint += " The answers are kept there; fix them and import the file with `python -m ingest run`."
        raise
    finally:
        if not is_kept:
            shutil.rmtree(folder)
    job.notes += notes
    return job


def _ask(job: ImportJob, session: ProgramSession, file: Path, console: Console) -> list[str]:
    lake, task = job.lake, job.task
    items = job.items.filter("scorable").select("item_id", "pool_id").unique("item_id", keep="first")
    texts = lake.scan("queries", benchmark=task.benchmark, query=task.query).select("item_id", "text")
    questions = items.lazy().join(texts.unique("item_id", keep="first"), on="item_id").collect()
    console.say(f"{session.search.name}: {counted(questions.height, 'item')} of {task.name}")
    unwritten, failures, n_answered = list[str](), list[str](), 0
    folders = _pool_folders(job, file.parent, questions["pool_id"], unwritten)
    by_pool = questions.sort("pool_id", "item_id").partition_by("pool_id", as_dict=True)
    with closing(session), file.open("w", encoding="utf-8") as out:
        for pool_id, folder in console.track(folders, "pools searched", total=len(by_pool)):
            rows = by_pool[pool_id,].select(id="item_id", query="text", pool="pool_id").rows(named=True)
            answers = session.answers([{**row, "files": str(folder), "k": task.depth or 100} for row in rows])
            out.writelines(f"{json.dumps(answer)}\n" for answer in answers)
            errors = [answer["error"] for answer in answers if answer.get("error")]
            n_answered += len(rows) - len(errors)
            if errors:
                failures.append(f"{pool_id}: {len(errors):,} of {counted(len(rows), 'item')}: {errors[0]}")
                console.say(f"failed in pool {failures[-1]}")
            if not n_answered and (session.together or len(failures) == _MAX_VAIN):
                break
    if not n_answered:
        hint = 'Answer each line with one, {"id": …, "results": [{"path": …, "start": 1, "end": 9, "score": 0.5}]}; '
        hint += "write messages to standard error. See docs/runs.md."
        message = f"the program answered none of {counted(questions.height, 'item')}"
        raise GoldspanError(message, where=session.search.name, examples=failures, hint=hint)
    silent = "it answered only after reading all of a pool's items, so they were sent together and not timed"
    notes = [silent] * session.together + [f"failed in pool {failure}" for failure in failures[:3]]
    n = counted(len(unwritten), "file")
    return notes + [f"could not be written for the search: {n}, such as {path!a}" for path in unwritten[:1]]


def _pool_folders(job: ImportJob, root: Path, pool_ids: pl.Series, unwritten: list[str]) -> Iterator[tuple[str, Path]]:
    """Each pool with a folder of its files, deleted when the next is taken; files not written go to `unwritten`."""
    wanted, blobs = pool_ids.unique().to_frame("pool_id").lazy(), job.lake.scan("blobs")
    files = job.lake.scan("files", benchmark=job.task.benchmark).select("pool_id", "path", "sha256")
    sized = files.join(wanted, on="pool_id", how="semi").join(blobs.select("sha256", "n_bytes"), on="sha256")
    of_pool = sized.group_by("pool_id").agg(n_bytes=pl.col("n_bytes").sum()).sort("pool_id")
    batch = pl.col("n_bytes").cum_sum() // _AT_ONCE_BYTES
    for (_,), pools in of_pool.with_columns(batch=batch).collect().group_by("batch", maintain_order=True):
        of_batch = files.join(pools.lazy(), on="pool_id", how="semi")
        texts = blobs.select("sha256", "text").join(of_batch, on="sha256", how="semi")
        rows = of_batch.join(texts, on="sha256").select("pool_id", "path", "text").sort("pool_id", "path").collect()
        for (pool_id,), of_one in rows.group_by("pool_id", maintain_order=True):
            with tempfile.TemporaryDirectory(prefix="pool-", dir=root, ignore_cleanup_errors=True) as name:
                folder, files_of = Path(name), of_one.select("path", "text").iter_rows()
                unwritten += [f"{pool_id}: {path}" for path, text in files_of if not write_below(folder, path, text)]
                yield str(pool_id), folder


def write_below(folder: Path, path: str, text: str) -> bool:
    """Write a file below a folder; return False if its path is empty, leads out of the folder or cannot be written."""
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or ".." in parts:
        return False
    try:
        file = folder.joinpath(*parts)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
    except (OSError, ValueError):
        return False
    return True
