"""The miner: a repository's files and a recipe → tasks as RepoEval and RepoBench-R have them.

Which ones: of each kind, and level of next lines, at most `limit` and no answer twice, those whose sha256 of (seed,
kind, repository, path, what is asked for) is smallest. So the choice is the same on every machine, and a commit that
changes one function changes one task.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from typing import Literal, TypeVar

from tree_sitter import Node

from ingest.contents.definitions import ending_of
from ingest.mining.imports import java_usages, python_usages
from ingest.mining.names import SourceFiles
from ingest.mining.syntax import is_own_code, lines_of, parsed
from ingest.mining.targets import Target, function_targets, line_targets
from ingest.mining.usage import LEVELS, SETTINGS, Question, Setting, Task, Usage
from ingest.mining.usage import Level as Difficulty
from lake.text import regex_tokens

Level = Literal["function", "line"]
COMPLETIONS: tuple[Level, ...] = ("function", "line")
Language = Literal["java", "python"]


@dataclass(frozen=True)
class Recipe:
    """What is mined from one repository, of each kind and level `limit` tasks at most."""

    repository: str
    language: Language = "python"
    limit: int = 30
    split: Literal["test", "train"] = "test"


@dataclass(frozen=True)
class Completion(Task):
    """A target where it stands, in a repository's file."""

    repo: str
    lines: list[str]
    target: Target

    @classmethod
    def of(cls, level: Level, repo: str, path: str, lines: list[str], target: Target) -> Completion:
        """A target of a file."""
        answer = "".join(lines[target.start : target.end])
        return cls((level, repo, path, target.identity), (path, target.start), answer, repo, lines, target)

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


def choose(tasks: Iterable[T], limit: int, seed: str = "", *, evenly: bool = False) -> list[T]:
    """At most so many tasks, no answer twice, in the order of the files; `evenly` takes one of each file in turn."""
    ordered = sorted(tasks, key=lambda task: task.order(seed))
    if evenly:
        turns: Counter[str] = Counter()
        numbered = []
        for task in ordered:
            turns[task.place[0]] += 1
            numbered.append((turns[task.place[0]], task))
        ordered = [task for _, task in sorted(numbered, key=itemgetter(0))]
    chosen: dict[str, T] = {}
    for task in ordered:
        if len(chosen) < limit:
            chosen.setdefault(task.answer.strip(), task)
    return sorted(chosen.values(), key=lambda task: task.place)


def mine_completions(files: Mapping[str, bytes], recipe: Recipe) -> dict[Level, list[Completion]]:
    """The completions that a recipe asks of a repository's Python files, in the order of the files."""
    repo = recipe.repository
    mined: dict[Level, list[Completion]] = {level: [] for level in COMPLETIONS}
    for path, data in files.items():
        lines = lines_of(data) or [] if path.endswith(".py") and is_own_code(path) else []
        if not lines or (root := parsed(lines, "python")) is None:
            continue
        for level, completions in mined.items():
            completions += [Completion.of(level, repo, path, lines, target) for target in _TARGETS[level](lines, root)]
    return {level: choose(completions, recipe.limit) for level, completions in mined.items()}


def mine_functions(repository: str, files: SourceFiles) -> Iterator[Completion]:
    """The functions of a repository's own source, in every language that definitions are found in."""
    for path, lines, root in files.parsed():
        targets = function_targets(lines, root, ending_of(path), documented=False, left_out=files.left_out)
        yield from (Completion.of("function", repository, path, lines, target) for target in targets)


def mine_next_lines(files: Mapping[str, bytes], recipe: Recipe) -> dict[tuple[Setting, Difficulty], list[Question]]:
    """The next lines that a recipe asks of a repository's files, by setting and level."""
    usages = _USAGES[recipe.language](recipe.repository, files)
    asked = {
        (setting, level): [it for usage in usages if usage.level == level for it in usage.questions(setting)]
        for setting in SETTINGS
        for level in LEVELS
    }
    return {kind: choose(questions, recipe.limit) for kind, questions in asked.items()}


def folder_of(repo: str) -> str:
    """How RepoEval calls a repository's folder: `pallets/click` → `pallets_click`."""
    return repo.replace("/", "_")


_tokens = lru_cache(maxsize=1 << 14)(regex_tokens)
"""The tokens of a line, which is before the holes of many tasks."""


def prompt_before(lines: Sequence[str], hole: int, limit: int) -> tuple[str, int]:
    """The text before a line, right-stripped: its last `limit` tokens, cut before one, and the line it starts in."""
    left = limit
    for at in range(hole - 1, -1, -1):
        tokens = _tokens(lines[at])
        if len(tokens) >= left:
            cut = len(lines[at])
            for token in tokens[len(tokens) - left :][::-1]:
                cut = lines[at].rindex(token, 0, cut)
            return (lines[at][cut:] + "".join(lines[at + 1 : hole])).rstrip(), at
        left -= len(tokens)
    return "".join(lines[:hole]).rstrip(), 0


_TARGETS: Mapping[Level, Callable[[list[str], Node], Iterable[Target]]] = {
    "function": function_targets,
    "line": line_targets,
}
_USAGES: Mapping[Language, Callable[[str, Mapping[str, bytes]], list[Usage]]] = {
    "java": java_usages,
    "python": python_usages,
}
