"""Every item of a task put to a program, pool by pool; what it answers is a file that can be imported."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

import polars as pl

from ingest.json_command import CrashError, JsonCommand, NoAnswerError, NonsenseError, Request, Started
from ingest.runs.formats.answers import parsed
from ingest.runs.items import ItemPart
from lake.catalog.task import Task
from lake.errors import Exit, GoldspanError
from lake.store import Lake
from lake.text import counted

RESULTS = 100
"""So many results are asked for where a task keeps all."""
_TIME_OUTS = 2
"""After so many time-outs the rest of a pool is not asked; of a program that never answered, all items together."""
_IN_VAIN = 10
"""After so many pools without any answer at all there will be none."""
_AT_ONCE_BYTES = 64_000_000
"""So much text of pools is held at a time; a larger pool is held by itself."""
_WAIT_AT_THE_END = 2
"""Seconds that a program has for what it writes when it knows that it is asked no more."""

Track = Callable[[Iterable[tuple[str, Path]], int], Iterable[tuple[str, Path]]]
"""Shows how many of the pools are done."""


@dataclass
class Asked:
    """A program that is asked one thing after the other, and what came of it.

    Attributes:
        what: The program as it was written.
        n_answered: Items that were answered.
        failures: Pools with items that were not, a sentence each.
        first_seconds: What the first answer in each pool took, where the pool had others.
        query_seconds: What the others took.
        together: Whether a pool's items are sent together, to a program that keeps silent until there are no more.
        unwritten: Files that could not be written out to be searched.
    """

    what: str
    command: JsonCommand
    n_answered: int = 0
    failures: list[str] = field(default_factory=list)
    first_seconds: list[float] = field(default_factory=list)
    query_seconds: list[float] = field(default_factory=list)
    together: bool = False
    unwritten: list[str] = field(default_factory=list)
    _has_answered: bool = False
    _n_silences: int = 0
    _program: Started | None = None

    def answers(self, requests: Sequence[Request]) -> list[Request]:
        """An answer, or why there is none, for every item of a pool."""
        if self.together:
            return self._all_at_once(requests)
        found: list[Request] = []
        given_up, time_outs = "", 0
        for request in requests:
            if given_up:
                found.append({"id": request["id"], "error": given_up})
                continue
            try:
                answer, seconds = self._ask(request)
            except NonsenseError as error:
                raise self._no_answer(request, str(error)) from error
            except CrashError as error:
                given_up = f"not asked, after a crash in its pool: {error}"
                found.append({"id": request["id"], "error": str(error)})
            except NoAnswerError as error:
                time_outs += 1
                self._n_silences += not self._has_answered
                if self._n_silences == _TIME_OUTS and not self._has_answered:
                    # It may be one that answers when it has read everything.
                    self.together = True
                    return self._all_at_once(requests)
                given_up = f"not asked, after {time_outs} time-outs in its pool" if time_outs == _TIME_OUTS else ""
                found.append({"id": request["id"], "error": str(error)})
            else:
                is_first = not found and len(requests) > 1
                (self.first_seconds if is_first else self.query_seconds).append(seconds)
                found.append(self._checked(request, answer))
        return found

    def close(self) -> None:
        """End the program."""
        if self._program is not None:
            self._program.close(_WAIT_AT_THE_END)

    def _ask(self, request: Request) -> tuple[Request, float]:
        """The answer of the program, started where it does not run, and how many seconds it took from the sending."""
        program = self._program = self._program or Started(self.command)
        asked = time.perf_counter()
        program.send([request])
        try:
            answer = program.answer({str(request["id"])})
        except NoAnswerError:
            self._program = None
            raise
        self._has_answered = True
        return answer, time.perf_counter() - asked

    def _all_at_once(self, requests: Sequence[Request]) -> list[Request]:
        """The answers of a program that is sent all items and told that there are no more; nothing is timed."""
        said, error = self.command.run(requests)
        given = [(request, said.get(str(request["id"]))) for request in requests]
        return [
            {"id": request["id"], "error": error} if answer is None else self._checked(request, answer)
            for request, answer in given
        ]

    def _checked(self, request: Request, answer: Request) -> Request:
        """An answer whose paths do not say where the pool's files lay; an error where it is none."""
        if problem := parsed(answer).problem:
            raise self._no_answer(request, problem)
        if isinstance(results := answer.get("results"), list):
            for result in results:
                result["path"] = result["path"].removeprefix(f"{request['files']}/")
        return answer

    def _no_answer(self, request: Request, why: str) -> GoldspanError:
        message = f"the answer to item {request['id']}: {why}"
        hint = 'An answer is {"id": …, "results": [{"path": …, "start": 1, "end": 9, "score": 0.5}]}, on one line.'
        return GoldspanError(message, where=self.what, hint=hint, code=Exit.INVALID)


def items_of(lake: Lake, task: Task, parts: Sequence[ItemPart]) -> pl.DataFrame:
    """The items that are put to a program: item_id, pool_id, text; sorted by pool, each once.

    Raises:
        GoldspanError: The lake has no query of one.
    """
    items = pl.concat([one.scorable.select("item_id", "pool_id") for one in parts])
    items = items.unique("item_id", keep="first")
    texts = lake.scan("queries", benchmark=task.benchmark, query=task.query).select("item_id", "text")
    found = items.lazy().join(texts.unique("item_id", keep="first"), on="item_id", how="left").collect()
    if n_without := found["text"].null_count():
        message = f"the lake holds no query of {counted(n_without, 'item')} of {task.name}"
        raise GoldspanError(message, where=str(lake.root), hint="First: make ingest", code=Exit.MISSING)
    return found.sort("pool_id", "item_id")


def ask(
    lake: Lake, task: Task, items: pl.DataFrame, command: JsonCommand, answers: Path, *,
    what: str, track: Track, say: Callable[[str], None],
) -> Asked:  # fmt: skip
    """Put every item of a task, as :func:`items_of` gives them, to a program, and write a line for each, in order.

    `track` shows how many of the pools are done, and `say` is told of every pool with items that were not answered.

    Raises:
        GoldspanError: The program wrote what is no answer, or answered nothing at all.
    """
    asked = Asked(what, command)
    folders = pool_folders(lake, task.benchmark, answers.parent, items["pool_id"], asked.unwritten)
    by_pool = items.partition_by("pool_id", as_dict=True)
    with closing(asked), answers.open("w", encoding="utf-8") as out:
        for pool_id, folder in track(folders, len(by_pool)):
            rows = by_pool[pool_id,]
            failed: list[str] = []
            for answer in asked.answers(_requests(task, folder, rows)):
                if (error := parsed(answer).error) is not None:
                    failed.append(error)
                print(json.dumps(answer), file=out)
            asked.n_answered += rows.height - len(failed)
            if failed:
                asked.failures.append(f"{pool_id}: {len(failed):,} of {counted(rows.height, 'item')}: {failed[0]}")
                say(f"failed in pool {asked.failures[-1]}")
            if not asked.n_answered and (asked.together or len(asked.failures) == _IN_VAIN):
                break
    if not asked.n_answered:
        hint = "A line in, a line out; what is for people goes to standard error. See docs/runs.md."
        message = f"the program answered none of {counted(items.height, 'item')}"
        raise GoldspanError(message, where=what, examples=asked.failures, hint=hint)
    return asked


def _requests(task: Task, folder: Path, rows: pl.DataFrame) -> list[Request]:
    asked = rows.select(id="item_id", query="text", pool="pool_id")
    return [{**row, "files": str(folder), "k": task.depth or RESULTS} for row in asked.iter_rows(named=True)]


def pool_folders(
    lake: Lake, benchmark: str, root: Path, pool_ids: pl.Series, unwritten: list[str]
) -> Iterator[tuple[str, Path]]:
    """Every pool with a folder of its files below some root, deleted when the next one is taken; the pools sorted.

    Files whose path is none that can be written here go into `unwritten`, such as `pool: ../a.py`.
    """
    for number, (pool_id, files) in enumerate(_pools(lake, benchmark, pool_ids)):
        folder = root / f"pool-{number}"
        folder.mkdir()
        unwritten += [f"{pool_id}: {path}" for path, text in files.iter_rows() if not written(folder, path, text)]
        try:
            yield pool_id, folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _pools(lake: Lake, benchmark: str, pool_ids: pl.Series) -> Iterator[tuple[str, pl.DataFrame]]:
    """Every pool with path and text of its files, read several pools at a time."""
    wanted = pool_ids.unique().to_frame("pool_id").lazy()
    files = lake.scan("files", benchmark=benchmark).select("pool_id", "path", "sha256")
    blobs = lake.scan("blobs")
    sized = files.join(wanted, on="pool_id", how="semi").join(blobs.select("sha256", "n_bytes"), on="sha256")
    of_pool = sized.group_by("pool_id").agg(n_bytes=pl.col("n_bytes").sum()).sort("pool_id")
    batch = pl.col("n_bytes").cum_sum() // _AT_ONCE_BYTES
    for (_,), pools in of_pool.with_columns(batch=batch).collect().group_by("batch", maintain_order=True):
        some = files.join(pools.lazy(), on="pool_id", how="semi")
        texts = blobs.select("sha256", "text").join(some, on="sha256", how="semi")
        found = some.join(texts, on="sha256").select("pool_id", "path", "text").sort("pool_id", "path").collect()
        for (pool_id,), rows in found.group_by("pool_id", maintain_order=True):
            yield str(pool_id), rows.select("path", "text")


def written(folder: Path, path: str, text: str) -> bool:
    """Write a file below a folder, unless its path leads out of it or is none."""
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
