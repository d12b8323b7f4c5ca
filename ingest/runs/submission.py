"""What a submission is: a folder `<system>/<date>` with `system.yaml` and a run file for each task that it answers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, FiniteFloat

from ingest.benchmarks import benchmarks
from ingest.runs.find_trajectories import AUTO, importer_named
from ingest.sources.strict_yaml import read_yaml, shown, validated
from lake.catalog.protocols import TASKS
from lake.errors import Exit, GoldspanError, did_you_mean
from lake.text import listed

SUBMISSIONS = Path("lake/submissions")
DECLARATION = "system.yaml"
_HINT = f"{SUBMISSIONS}/README.md says what stands in it."
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def _benchmark(value: object) -> object:
    if isinstance(value, str) and value not in benchmarks():
        raise ValueError(f"{shown(value)} is no benchmark. {did_you_mean(value, benchmarks())}")
    return value


def _text(value: object) -> object:
    if isinstance(value, str) and not value.strip():
        raise ValueError("is empty")
    return value


def _format(value: object) -> object:
    if isinstance(value, str) and value != AUTO:
        try:
            importer_named(value)
        except GoldspanError as error:
            raise ValueError(f"{error.what}. {error.hint}") from error
    return value


def _authors(value: object) -> object:
    names = value if isinstance(value, list) else [value]
    if not names or not all(isinstance(name, str) and name.strip() for name in names):
        raise ValueError(f"{shown(value)} is neither a name nor a list of names")
    return tuple(names)


Text = Annotated[str, BeforeValidator(_text)]


class SubmittedSystem(BaseModel):
    """What `system.yaml` says; `asked` is which items the system was asked: those that its run files answer, or all."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True, frozen=True)

    name: Text
    benchmark: Annotated[str, BeforeValidator(_benchmark)]
    label: str = ""
    task: str = ""
    kind: Literal["retriever", "agent"]
    authors: Annotated[tuple[str, ...], BeforeValidator(_authors)]
    contact: str = ""
    url: str = ""
    licence: Text
    description: Text
    revision: str = ""
    cost: str = ""
    chunker: str = ""
    asked: Literal["answered", "all"] = "answered"
    format: Annotated[str, BeforeValidator(_format)] = AUTO
    reported: Annotated[dict[str, FiniteFloat], Field(min_length=1)] = {}


@dataclass(frozen=True)
class SubmissionFolder:
    """A submission in a folder `<system>/<date>`: its run files by task, and the task of one that names none."""

    folder: Path
    system: SubmittedSystem
    runs: Mapping[str, Path]
    first: str

    @property
    def name(self) -> str:
        """`<system>/<date>`."""
        return name_of(self.folder)


def name_of(folder: Path) -> str:
    """What a submission is called: its folder and that above it."""
    return f"{folder.parent.name}/{folder.name}"


def folders_in(root: Path) -> Iterator[Path]:
    """Every folder of a submission, or what lies in its place, below the folder of submissions."""
    yield from sorted(folder for folder in root.glob("*/*") if not folder.name.startswith("."))


def is_submission(path: Path) -> bool:
    """Whether a path that somebody named is a submission: its folder, or its `system.yaml`."""
    return path.name == DECLARATION or (path / DECLARATION).is_file()


def read_submission(path: Path) -> SubmissionFolder:
    """The submission in a folder; a `GoldspanError` where that, a file or a key is not as it is to be."""
    folder = (path.parent if path.name == DECLARATION else path).absolute()
    is_day = False
    with suppress(ValueError):
        is_day = bool(_DAY.fullmatch(folder.name) and date.fromisoformat(folder.name))
    if not is_day or not folder.is_dir():
        what = f"{name_of(folder)!a} is no submission: it is to be a folder <system>/<date>, the date as 2026-01-31"
        raise GoldspanError(what, where=str(path), hint=_HINT, code=Exit.INVALID)
    files = [file for file in sorted(folder.iterdir()) if not file.name.startswith(".")]
    run_files = [file for file in files if file.name != DECLARATION]
    odd = (file.name for file in files if file.is_symlink() or (file in run_files and file.name.split(".")[0] != "run"))
    if foreign := next(odd, ""):
        what = f"{foreign!a} is a link, or neither {DECLARATION} nor a run file, which is called run.<ending>"
        raise GoldspanError(what, where=str(folder), hint=_HINT, code=Exit.INVALID)
    file = folder / DECLARATION
    system = validated(SubmittedSystem, read_yaml(file, _HINT), file, _HINT)
    tasks = {task.name.partition("/")[2]: task for task in TASKS.values() if task.benchmark == system.benchmark}
    names = [task.name for task in tasks.values()]
    if system.task and system.task not in names:
        what = f"task: {shown(system.task)} is no task"
        raise GoldspanError(what, where=str(file), hint=did_you_mean(system.task, names), code=Exit.INVALID)
    first = system.task or next(task.name for task in tasks.values() if "ranking" in task.answered_by)
    runs = {
        tasks[end].name if (end := file.name.partition(".")[2].partition(".")[0]) in tasks else first: file
        for file in run_files
    }
    if len(runs) < len(run_files):
        what = f"{listed([file.name for file in run_files])} do not answer a task each"
        hint = f"Each says which it answers, run.<task>.<ending>; a task is one of {listed(list(tasks))}."
        raise GoldspanError(what, where=str(folder), hint=hint, code=Exit.INVALID)
    if not runs and not system.reported:
        what = "reported: there is neither a run file to be scored nor a number that is reported"
        raise GoldspanError(what, where=str(file), hint=_HINT, code=Exit.INVALID)
    return SubmissionFolder(folder, system, runs, first)
