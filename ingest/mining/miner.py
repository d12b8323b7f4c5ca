"""The miner: a repository's files at a commit and a recipe → tasks as RepoEval and RepoBench-R have them.

Which ones: of each kind, and level of next lines, at most `limit` and no answer twice, those whose sha256 of (seed,
kind, repository, path, what is asked for) is smallest. So the choice is the same on every machine, and a commit that
changes one function changes one task.

ContextBench's instances want issues and their fixes, which files at one commit do not tell.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from tree_sitter import Node

from ingest.mining.imports import java_usages, python_usages
from ingest.mining.syntax import Language, captured, is_alone, is_own_code, lines_of, parsed, string_rows, text_of
from ingest.mining.usage import LEVELS, SETTINGS, Row, Setting, Task, Usage
from ingest.mining.usage import Level as Difficulty
from lake.text import regex_tokens

Level = Literal["function", "line"]
COMPLETIONS: tuple[Level, ...] = ("function", "line")

BODY_LINES = range(3, 29)
"""How many lines a function's body has: what RepoEval's own 455 functions have, 3 to 28."""
LINE_TOKENS = 5
"""A line of fewer tokens is no target; RepoCoder's `line_min_tokens`."""

_DOCSTRING = re.compile(rb"[rRuU]?[\"']")  # neither formatted nor bytes
_SCOPES = ("function_definition", "class_definition")


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
class Target:
    """Lines `[start, end)` that are to be completed, from 0; the identity stays when code around them moves."""

    start: int
    end: int
    name: str
    identity: str


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
    mined: dict[Level, list[Completion]] = {level: [] for level in recipe.completions}
    for path, data in files.items():
        lines = lines_of(data) or [] if path.endswith(".py") and is_own_code(path) else []
        if not lines or (root := parsed(lines, "python")) is None:
            continue
        for level, completions in mined.items():
            for target in _TARGETS[level](lines, root):
                answer, identity = "".join(lines[target.start : target.end]), (level, repo, path, target.identity)
                completions.append(Completion(identity, (path, target.start), answer, repo, lines, target))
    return {level: choose(completions, recipe) for level, completions in mined.items()}


def mine_next_lines(files: Mapping[str, bytes], recipe: Recipe) -> dict[Setting, dict[Difficulty, list[Row]]]:
    """The rows of RepoBench-R that a recipe asks of a repository's files."""
    usages = _USAGES[recipe.language](recipe.repository, files)

    def rows(setting: Setting, difficulty: Difficulty) -> list[Row]:
        questions = [
            question
            for usage in usages
            if usage.level == difficulty
            for question in usage.questions(setting, recipe.seed)
        ]
        return [question.as_row() for question in choose(questions, recipe)]

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


def function_targets(lines: list[str], root: Node) -> list[Target]:
    """The bodies of a file's documented functions and methods, from the first statement after the docstring.

    Functions inside functions and overloads are left out.
    """
    targets: list[Target] = []
    times: dict[str, int] = {}
    for function in captured("python", "(function_definition) @it", root):
        name = _qualified_name(function)
        body = _documented_body(function) if name is not None else None
        if name is None or body is None:
            continue
        start, end = body[0].start_point.row, body[-1].end_point.row + 1
        if end - start not in BODY_LINES or not is_alone(lines, body[0], body[-1]):
            continue
        times[name] = times.get(name, 0) + 1
        targets.append(Target(start, end, name.rpartition(".")[2], f"{name}#{times[name]}"))
    return targets


def line_targets(lines: list[str], root: Node) -> list[Target]:
    """The lines of code inside functions that are worth asking for, as in RepoCoder's `random_benchmark.py`."""
    inside: set[int] = set()
    for body in captured("python", "(function_definition body: (block) @it)", root):
        inside.update(range(body.start_point.row, body.end_point.row + 1))
    inside.difference_update(string_rows(root))
    targets: list[Target] = []
    for row in sorted(inside - {0}):
        text = lines[row].strip()
        is_code = bool(text) and not text.startswith(("#", '"', "'")) and bool(lines[row - 1].strip())
        if is_code and len(regex_tokens(text)) >= LINE_TOKENS:
            targets.append(Target(row, row + 1, "", text))
    return targets


def _qualified_name(function: Node) -> str | None:
    """`Class.method`; None for a function inside a function and for an overload."""
    if function.parent is not None and function.parent.type == "decorated_definition":
        decorators = [child.text or b"" for child in function.parent.named_children if child.type == "decorator"]
        if any(text.rpartition(b".")[2].lstrip(b"@").startswith(b"overload") for text in decorators):
            return None
    names: list[str] = []
    node: Node | None = function
    while node is not None:
        if node.type in _SCOPES:
            if names and node.type == "function_definition":
                return None
            names.append(text_of(node.child_by_field_name("name")))
        node = node.parent
    return ".".join(reversed(names))


def _documented_body(function: Node) -> list[Node] | None:
    """The statements after the docstring; None where there is no docstring or nothing after it."""
    block = function.child_by_field_name("body")
    statements = [child for child in block.named_children if child.type != "comment"] if block is not None else []
    first = statements[0] if statements else None
    if first is not None and first.type == "expression_statement" and first.named_child_count == 1:
        first = first.named_children[0]
    if first is None or first.type != "string" or not _DOCSTRING.match(first.text or b""):
        return None
    return statements[1:] or None


_TARGETS: Mapping[Level, Callable[[list[str], Node], list[Target]]] = {
    "function": function_targets,
    "line": line_targets,
}
_USAGES: Mapping[Language, Callable[[str, Mapping[str, bytes]], list[Usage]]] = {
    "java": java_usages,
    "python": python_usages,
}
