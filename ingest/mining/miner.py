"""The miner: a repository's files at a commit and a recipe → tasks as RepoEval and RepoBench-R have them.

Which ones: of each kind, and level of next lines, at most `limit` and no answer twice, those whose sha256 of (seed,
kind, repository, path, what is asked for) is smallest. So the choice is the same on every machine, and a commit that
changes one function changes one task.

ContextBench's instances want issues and their fixes, which files at one commit do not tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from ingest.mining.imports import java_usages, python_usages
from ingest.mining.syntax import Language, is_own_code, lines_of
from ingest.mining.targets import Target, function_targets, line_targets
from ingest.mining.usage import LEVELS, SETTINGS, Row, Setting, Task, Usage
from ingest.mining.usage import Level as Difficulty
from lake.text import regex_tokens

Level = Literal["function", "line"]
COMPLETIONS: tuple[Level, ...] = ("function", "line")

_TARGETS: Mapping[Level, Callable[[list[str]], list[Target]]] = {"function": function_targets, "line": line_targets}
_USAGES: Mapping[Language, Callable[[str, Mapping[str, bytes]], list[Usage]]] = {
    "java": java_usages,
    "python": python_usages,
}


@dataclass(frozen=True)
class Recipe:
    """What is mined from one repository, of each kind and level `limit` tasks at most."""

    repository: str
    language: Language = "python"
    completions: tuple[Level, ...] = COMPLETIONS
    next_lines: tuple[Setting, ...] = SETTINGS
    limit: int = 30
    seed: str = ""
    split: Literal["test", "train"] = "test"


@dataclass(frozen=True)
class Completion(Task):
    """A target where it stands, in a repository's file."""

    repo: str
    lines: list[str]
    target: Target

    def row(self, number: int, limit: int) -> dict[str, object]:
        """A row of RepoEval's task files, at most `limit` tokens in its prompt, id and answer as RepoCoder's."""
        prompt, start = prompt_before(self.lines, self.target.start, limit)
        folder, answer = folder_of(self.repo), self.answer.removesuffix("\n")
        last: dict[str, object]
        if self.target.name:
            task, answer = f"{self.repo.replace('/', '--')}/idx", f"{answer}\n"
            last = {"lineno": self.target.start, "function_name": self.target.name}
        else:
            task, last = f"{folder}/{number}", {"line_no": self.target.start}
        path = [folder, *self.place[0].split("/")]
        first = {"task_id": task, "ground_truth": answer, "fpath_tuple": path, "context_start_lineno": start}
        return {"prompt": prompt, "metadata": {**first, **last}}


T = TypeVar("T", bound=Task)


def choose(tasks: Iterable[T], recipe: Recipe) -> list[T]:
    """At most as many tasks as a recipe says, no answer twice, in the order of the files."""
    chosen: dict[str, T] = {}
    for task in sorted(tasks, key=lambda task: task.order(recipe.seed)):
        if len(chosen) < recipe.limit:
            chosen.setdefault(task.answer.strip(), task)
    return sorted(chosen.values(), key=lambda task: task.place)


def mine_completions(files: Mapping[str, bytes], recipe: Recipe) -> dict[Level, list[Completion]]:
    """The completions that a recipe asks of a repository's files, in the order of the files."""
    repo = recipe.repository
    sources = {path: lines_of(data) or [] for path, data in files.items() if path.endswith(".py") and is_own_code(path)}

    def completions(level: Level) -> Iterator[Completion]:
        for path, lines in sources.items():
            for target in _TARGETS[level](lines):
                answer, identity = "".join(lines[target.start : target.end]), (level, repo, path, target.identity)
                yield Completion(identity, (path, target.start), answer, repo, lines, target)

    return {level: choose(completions(level), recipe) for level in recipe.completions}


def mine_next_lines(files: Mapping[str, bytes], recipe: Recipe) -> dict[Setting, dict[Difficulty, list[Row]]]:
    """The rows of RepoBench-R that a recipe asks of a repository's files."""
    usages = _USAGES[recipe.language](recipe.repository, files)

    def rows(setting: Setting, difficulty: Difficulty) -> list[Row]:
        asked = [one for usage in usages if usage.level == difficulty for one in usage.questions(setting, recipe.seed)]
        return [one.as_row() for one in choose(asked, recipe)]

    return {setting: {level: rows(setting, level) for level in LEVELS} for setting in recipe.next_lines}


def folder_of(repo: str) -> str:
    """How RepoEval calls a repository's folder: `pallets/click` → `pallets_click`."""
    return repo.replace("/", "_")


def prompt_before(lines: Sequence[str], hole: int, limit: int) -> tuple[str, int]:
    """The text before a line, right-stripped: its last `limit` tokens, cut before one, and the line it starts in."""
    left = limit
    for at in range(hole - 1, -1, -1):
        tokens = regex_tokens(lines[at])
        if len(tokens) >= left:
            cut = len(lines[at])
            for token in tokens[len(tokens) - left :][::-1]:
                cut = lines[at].rindex(token, 0, cut)
            return (lines[at][cut:] + "".join(lines[at + 1 : hole])).rstrip(), at
        left -= len(tokens)
    return "".join(lines[:hole]).rstrip(), 0
