"""Which tasks are mined of a repository: what its recipe says, and of many those whose hash is smallest."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeVar

Language = Literal["java", "python"]
Level = Literal["function", "line"]
Setting = Literal["cff", "cfr"]
"""Cross-file-first: the gold's first use in its file; cross-file-random: a later one."""

COMPLETIONS: tuple[Level, ...] = ("function", "line")
SETTINGS: tuple[Setting, ...] = ("cff", "cfr")


@dataclass(frozen=True)
class Recipe:
    """What is mined from one repository.

    Attributes:
        repository: What the tasks call it: `pallets/click`.
        completions: What is to be completed: bodies of documented functions, lines; of Python alone.
        next_lines: Which use of an imported definition is asked for.
        limit: Tasks of each kind, and of next lines of each level, so that no repository dominates.
        seed: Another seed, another choice.
        split: Where the next lines stand.
    """

    repository: str
    language: Language = "python"
    completions: tuple[Level, ...] = COMPLETIONS
    next_lines: tuple[Setting, ...] = SETTINGS
    limit: int = 30
    seed: str = ""
    split: Literal["test", "train"] = "test"


@dataclass(frozen=True)
class Task:
    """A task that may be taken.

    Attributes:
        identity: What tells it from others and stays when code around it moves.
        place: Where it is asked: path and line.
        answer: What is asked for; of one repository no answer is taken twice.
    """

    identity: tuple[str, ...]
    place: tuple[str, int]
    answer: str

    def order(self, seed: str) -> tuple[str, str, int]:
        """What tasks are ordered by before the first are taken: a hash, then the place."""
        identity = "\0".join((*([seed] if seed else []), *self.identity))
        return hashlib.sha256(identity.encode()).hexdigest(), *self.place


T = TypeVar("T", bound=Task)


def choose(tasks: Iterable[T], recipe: Recipe) -> list[T]:
    """At most as many tasks as a recipe says, no answer twice, in the order of the files."""
    chosen: dict[str, T] = {}
    for task in sorted(tasks, key=lambda task: task.order(recipe.seed)):
        if len(chosen) < recipe.limit:
            chosen.setdefault(task.answer.strip(), task)
    return sorted(chosen.values(), key=lambda task: task.place)
