"""RepoEval's task files: completion tasks, one JSON object a line, each checked on its own."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ingest.benchmarks.fields import NOWHERE, Fields, Paths, found, is_encodable
from ingest.sources.dataset_rows import dataset_rows
from ingest.sources.jsonl import JsonObject
from ingest.sources.tree import Entry
from lake.fingerprint import canonical_json
from lake.rejects import Rejects

MAX_LINE = 2**31
"""More lines than any source file has; larger numbers would not fit the lake's integers."""

FIELDS: Fields = {
    "prompt": ("prompt",),
    "ground_truth": ("metadata.ground_truth",),
    # A repository and the parts of a path in it, as a list or its Python repr.
    "path": ("metadata.fpath_tuple",),
    # The completion's first line, from 0. Line and api files write `line_no` where function files write `lineno`.
    "line": ("metadata.lineno", "metadata.line_no"),
    # The prompt's first line, from 0.
    "context_start": ("metadata.context_start_lineno",),
    # The publisher's own name of the task, kept and never keyed on; to be there where it is declared elsewhere.
    "id": ("metadata.task_id",),
}
"""Where upstream's rows hold what."""


@dataclass(frozen=True)
class Task:
    """One row of a task file, checked."""

    where: str
    position: str
    n: int
    prompt: str
    ground_truth: str
    repo: str
    path: str
    context_start: int
    lineno: int
    upstream_id: str

    @property
    def hole(self) -> tuple[str, str, int]:
        """Where the completion belongs."""
        return self.repo, self.path, self.lineno

    @property
    def question(self) -> tuple[str, str, int, int, str, str]:
        """Everything that is asked: tasks alike in it are one."""
        return *self.hole, self.context_start, self.prompt, self.ground_truth

    @property
    def n_lines(self) -> int:
        """How many lines the completion has."""
        return len(self.ground_truth.removesuffix("\n").split("\n"))

    def gold(self) -> dict[str, tuple[int, int]]:
        """Gold rule → half-open line range, as the rule gives it."""
        return {
            "context-and-completion": (self.context_start, self.lineno + len(self.ground_truth.split("\n"))),
            "context-to-hole": (self.context_start, self.lineno + 1),
            "target": (self.lineno, self.lineno + self.n_lines),
        }


def read_tasks(entries: Sequence[Entry], fields: Fields, rejects: Rejects, notes: list[str]) -> list[Task]:
    """The tasks of all files, numbered per repository in file order; equal twins and duplicates once."""
    tasks: dict[tuple[object, ...], Task] = {}
    count: Counter[str] = Counter()
    for entry in entries:
        seen: dict[tuple[object, ...], str] = {}
        n_refused = len(rejects)
        for position, row in dataset_rows(entry, rejects):
            task = _task(entry.path, position, row, fields, rejects)
            if task is None:
                continue
            if task.question in seen:
                reason = f"the same task as {seen[task.question]}"
                rejects.add(entry.path, position, reason, _excerpt(row))
                count[task.repo] += 1
                continue
            seen[task.question] = position
            if task.question not in tasks:
                # A task that only a later file has is numbered after those of the first: no two have one name.
                tasks[task.question] = replace(task, n=count[task.repo])
                count[task.repo] += 1
        if not seen and len(rejects) == n_refused:
            rejects.add(entry.path, "file", "holds no task")
    if again := len(tasks) - len({task.hole for task in tasks.values()}):
        notes.append(
            f"{again:,} tasks have the hole of another, with another completion or context: items of their own"
        )
    return list(tasks.values())


def _task(where: str, position: str, row: JsonObject, fields: Fields, rejects: Rejects) -> Task | None:
    """A row as a task, or None and a reject that says what is wrong with it."""
    try:
        return _parsed(where, position, row, fields)
    except MalformedTaskError as error:
        rejects.add(where, position, str(error), _excerpt(row))
        return None


class MalformedTaskError(ValueError):
    """A row of a task file that is not as RepoEval's are; the message says what is wrong."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)


def _parsed(where: str, position: str, row: JsonObject, fields: Fields) -> Task:
    prompt, ground_truth = _text(row, fields["prompt"]), _text(row, fields["ground_truth"])
    if not ground_truth:
        reason = f"`{_said(found(row, fields['ground_truth'])[0])}` is empty"
        raise MalformedTaskError(reason)
    repo, *path = _fpath(row, fields["path"])
    lineno = _line_number(row, fields["line"])
    context_start = _line_number(row, fields["context_start"])
    if context_start > lineno:
        reason = f"the context starts at line {context_start}, after the completion at {lineno}"
        raise MalformedTaskError(reason)
    upstream_id = _id(row, fields)
    return Task(where, position, 0, prompt, ground_truth, repo, "/".join(path), context_start, lineno, upstream_id)


def _said(path: str) -> str:
    """What a reject calls a field: upstream's by its own key alone."""
    return path.removeprefix("metadata.")


def _wrong(row: JsonObject, paths: Paths, wanted: str) -> MalformedTaskError:
    """The fault of a field that is not there, or not what is wanted."""
    path, value = found(row, paths)
    if value is not NOWHERE:
        return MalformedTaskError(reason=f"`{_said(path)}` {wanted}")
    above = path.rpartition(".")[0]
    missed = " and ".join(f"`{one}`" for one in paths) + (" lead nowhere" if len(paths) > 1 else " leads nowhere")
    if above and not isinstance(found(row, (above,))[1], dict):
        return MalformedTaskError(reason=f"`{above}` is to be an object; {missed}")
    return MalformedTaskError(reason=f"`{_said(path)}` {wanted}; {missed}")


def _id(row: JsonObject, fields: Fields) -> str:
    _, value = found(row, fields["id"])
    if value is NOWHERE and fields["id"] != FIELDS["id"]:
        raise _wrong(row, fields["id"], "is to be there")
    return "" if value is NOWHERE else str(value).encode(errors="backslashreplace").decode()


def _text(row: JsonObject, paths: Paths) -> str:
    path, value = found(row, paths)
    if not isinstance(value, str):
        raise _wrong(row, paths, "is to be a text")
    if not is_encodable(value):
        reason = f"`{_said(path)}` holds half a surrogate pair, which is no character"
        raise MalformedTaskError(reason)
    return value


def _line_number(row: JsonObject, paths: Paths) -> int:
    path, value = found(row, paths)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise _wrong(row, paths, "is to be a whole number from 0")
    if value > MAX_LINE:
        reason = f"`{_said(path)}` is a line that no file has"
        raise MalformedTaskError(reason)
    return value


def _fpath(row: JsonObject, paths: Paths) -> list[str]:
    """A repository and the parts of a path in it, given as a list or as its Python repr."""
    _, value = found(row, paths)
    if isinstance(value, str):
        try:
            value = ast.literal_eval(value)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            value = None
    parts = [part for part in value if isinstance(part, str)] if isinstance(value, (list, tuple)) else []
    if not isinstance(value, (list, tuple)) or len(parts) < len(value) or len(parts) < 2:
        raise _wrong(row, paths, "is to be a repository and the parts of a path in it")
    if not all(is_encodable(part) and not _leaves(part) for part in parts):
        reason = f"the path {'/'.join(parts)!a} leaves its repository"
        raise MalformedTaskError(reason)
    return parts


def _leaves(part: str) -> bool:
    return part in {"", ".", ".."} or any(mark in part for mark in "/\\\0")


def _excerpt(row: JsonObject) -> str:
    metadata = row.get("metadata")
    return canonical_json(metadata if isinstance(metadata, dict) else row)
