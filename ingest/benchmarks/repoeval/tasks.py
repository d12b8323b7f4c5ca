"""RepoEval's task files: completion tasks, one JSON object per line, each checked on its own."""

import ast
from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from ingest.benchmarks.fields import MISSING, Fields, ForeignRow, check, get_path, parse_rows
from ingest.sources.tree import Entry
from lake.rejects import Rejects
from lake.text import is_encodable

NEEDS_RULE = "needs"
"""The name of the gold rule of :mod:`ingest.benchmarks.repoeval.needs`, and of the part with its pools."""

REPOEVAL_FIELDS: Fields = {
    "prompt": ("prompt",),
    "ground_truth": ("metadata.ground_truth",),
    # A repository and the parts of a path in it, as a list or as the Python repr of one.
    "path": ("metadata.fpath_tuple",),
    # The completion's first line, from 0: `lineno` in function files, `line_no` in line and api files.
    "line": ("metadata.lineno", "metadata.line_no"),
    # The prompt's first line, from 0.
    "context_start": ("metadata.context_start_lineno",),
    # The publisher's id of the task: stored, but never used as a key.
    "id": ("metadata.task_id",),
}


class CompletionTask(NamedTuple):
    """A checked row of a task file."""

    where: str
    position: str
    n: int
    upstream_id: str
    function_name: str | None
    repo: str
    target_path: str
    target_line: int
    query_line_start: int
    prompt: str
    target_text: str

    @property
    def question(self) -> tuple[object, ...]:
        """The repository, path, lines and texts of the task: tasks equal in these are one task."""
        return self[5:]


def read_tasks(entries: Sequence[Entry], fields: Fields, rejects: Rejects, notes: list[str]) -> list[CompletionTask]:
    """The tasks of all files, numbered per repository in file order; a task found again, in any file, is left out."""
    tasks: dict[tuple[object, ...], CompletionTask] = {}
    count: Counter[str] = Counter()
    for entry in entries:
        seen: dict[tuple[object, ...], str] = {}
        n_refused = len(rejects)
        for position, task in parse_rows(entry, rejects, partial(_task, entry.path), fields, usual=REPOEVAL_FIELDS):
            if task.question in seen:
                rejects.add(entry.path, position, f"the same task as {seen[task.question]}")
                count[task.repo] += 1
                continue
            seen[task.question] = position
            if task.question not in tasks:
                # Tasks of later files are numbered after those of earlier ones, so no number is used twice.
                tasks[task.question] = task._replace(n=count[task.repo])
                count[task.repo] += 1
        if not seen and len(rejects) == n_refused:
            rejects.add(entry.path, "file", "holds no task")
    if again := len(tasks) - len({question[:3] for question in tasks}):
        notes.append(
            f"tasks that complete the same place as another, but differ in text or context: {again:,}; each is an item"
        )
    return list(tasks.values())


def _task(where: str, position: str, row: ForeignRow) -> CompletionTask:
    prompt, ground_truth = row.text("prompt"), row.text("ground_truth")
    row.check("ground_truth", ground_truth != "", "is empty")
    repo, *path = _fpath(row)
    line, start = _line_number(row, "line"), _line_number(row, "context_start")
    check(start <= line, f"the context starts at line {start}, after the completion at {line}")
    # Only function files name the function whose body is the hole; nothing depends on it.
    name, upstream_id = get_path(row.content, "metadata.function_name"), row.get("id")
    function_name = name if isinstance(name, str) and is_encodable(name) else None
    upstream_id = "" if upstream_id is MISSING else str(upstream_id).encode(errors="backslashreplace").decode()
    known = (where, position, 0, upstream_id, function_name)
    return CompletionTask(*known, repo, "/".join(path), line, start, prompt, ground_truth)


def _line_number(row: ForeignRow, field: str) -> int:
    value = row.get(field)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise row.error(field, "must be a whole number from 0")
    row.check(field, value <= 2**31, "is too large for a line number")
    return value


def _fpath(row: ForeignRow) -> list[str]:
    value = row.get("path")
    if isinstance(value, str):
        try:
            value = ast.literal_eval(value)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            # A path as a text, of the repository that is named next to it, if any, as in CrossCodeEval's rows.
            beside = "".join(row.path("path").rpartition(".")[:2])
            repositories = (get_path(row.content, f"{beside}{key}") for key in ("repository", "repo"))
            folder = [name.replace("/", "_") for name in repositories if isinstance(name, str)][:1]
            value = [*folder, *value.removeprefix("./").split("/")]
    parts = [part for part in value if isinstance(part, str)] if isinstance(value, (list, tuple)) else []
    if not isinstance(value, (list, tuple)) or len(parts) < len(value) or len(parts) < 2:
        raise row.error("path", "must be a repository and the parts of a path in it")
    stays = all(part not in {"", ".", ".."} and not set("/\\\0").intersection(part) for part in parts)
    check(stays and all(map(is_encodable, parts)), f"the path {'/'.join(parts)!a} leaves its repository")
    return parts
