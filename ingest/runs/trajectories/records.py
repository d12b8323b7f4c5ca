"""What a record or its file says of an item, its patch and its context; what a trial's result beside it says."""

from __future__ import annotations

import re
from collections.abc import Iterable
from posixpath import dirname, join, normpath

from ingest.runs.trajectories.trajectory import FileSpan, view_of_lines
from ingest.runs.trajectories.trajectory_file import DamagedFileError, TrajectoryFile
from ingest.runs.values import JsonRecord, first_text, object_at, str_at

IDS = ("instance_id", "original_inst_id", "item_id")
_PATCHES = ("model_patch", "git_patch", "patch")
_TRIAL = re.compile(r"(?P<item>.{1,32})__(?=[a-z]*[A-Z0-9])[A-Za-z0-9]{7}")
"""A folder of Harbor's: the first 32 characters of a task's name, and seven more."""
_RANGE = re.compile(r"Lines:\s*([0-9]+)\s*-\s*([0-9]+)")
_ANSWER = re.compile(r"<PATCH_CONTEXT>(.*?)</PATCH_CONTEXT>", re.DOTALL)


def item_of(row: JsonRecord) -> str:
    """The item that an object says it is of, empty where it does not."""
    return first_text(row, IDS)


def recorded_patch(row: JsonRecord) -> str | None:
    """The patch that an object holds, under any name it goes by."""
    return next((patch for key in _PATCHES if isinstance(patch := row.get(key), str)), None)


def patch_path(path: str) -> str:
    """Where the patch of a session lies that has none in its record: `<name>.patch` beside `<name>.jsonl`."""
    folder, slash, name = path.rpartition("/")
    return f"{folder}{slash}{name.removesuffix('.gz').removesuffix('.zst').rpartition('.')[0] or name}.patch"


def patch_beside(file: TrajectoryFile) -> tuple[str | None, list[str]]:
    """The patch that lies beside a session's record, None where there is none, and a note when it cannot be read."""
    other = file.all.get(patch_path(file.path))
    try:
        return other.text() if other is not None else None, []
    except DamagedFileError as error:
        return None, [f"the patch is lost: {patch_path(file.path).rpartition('/')[2]}: {error.reason}"]


def trial_results(path: str) -> list[str]:
    """Where the result of a trajectory's trial of Harbor's may lie: beside it, or beside the folder it lies in."""
    return [normpath(join(dirname(path), name)) for name in ("../result.json", "result.json")]


def result_of_trial(file: TrajectoryFile) -> JsonRecord:
    """The result of a trajectory's trial of Harbor's; an empty object where there is none that names a task."""
    for path in trial_results(file.path):
        try:
            result = object_at(file.all[path].json()) if path in file.all else {}
        except DamagedFileError:
            continue
        if str_at(result, "task_name"):
            return result
    return {}


def item_of_trial(file: TrajectoryFile) -> str:
    """The item of a trial: as its result names the task, else what its folder is called after, which may be cut off."""
    trials = (_TRIAL.fullmatch(part) for part in reversed(file.path.split("/")[:-1]))
    task_name = str_at(result_of_trial(file), "task_name")
    return task_name or next((trial["item"] for trial in trials if trial), "")


def answer_in(texts: Iterable[str]) -> str | None:
    """The last block of `<PATCH_CONTEXT>` in some texts; None where there is none."""
    return next((match[-1] for text in reversed([*texts]) if (match := _ANSWER.findall(text))), None)


def spans_named(text: str) -> list[FileSpan]:
    """The views that a text names by `File:` and, below it, `Lines: a-b`, their paths as they are written there."""
    views: list[FileSpan] = []
    path = ""
    for line in map(str.strip, text.split("\n")):
        if line.startswith("File:"):
            path = line.removeprefix("File:").strip()
        elif path and (match := _RANGE.match(line)):
            views += view_of_lines(path, match[1], match[2])
    return views


def in_repository(path: str, folder: str = "") -> str:
    """A path below the repository: without quotes, `./`, `/`, `/testbed/`, and `/home/<folder>/` where that is its own.

    Empty for the repository itself and for what lies in `/home` beside it.
    """
    path = path.strip().strip("'\"").removeprefix("/testbed/")
    if path.startswith("/home/"):
        first, below, rest = path.removeprefix("/home/").partition("/")
        if not below:
            return ""
        path = rest if first == folder else f"{first}/{rest}"
    return path.lstrip("/").removeprefix("./")
