"""Which tasks of many are taken: by a hash of what they ask, so that the choice is the same on every machine."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Protocol, TypeVar


class Task(Protocol):
    """A task that may be taken.

    Attributes:
        identity: What tells it from others and stays when code around it moves.
        place: Where it is asked: path and line.
        answer: What is asked for; of one repository no answer is taken twice.
    """

    @property
    def identity(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def place(self) -> tuple[str, int]: ...  # noqa: D102
    @property
    def answer(self) -> str: ...  # noqa: D102


T = TypeVar("T", bound=Task)


def order(task: Task, seed: str) -> tuple[str, str, int]:
    """What tasks are ordered by before the first are taken: a hash, then the place."""
    identity = "\0".join((*([seed] if seed else []), *task.identity))
    return hashlib.sha256(identity.encode()).hexdigest(), *task.place


def choose(tasks: Iterable[T], limit: int, seed: str) -> list[T]:
    """At most `limit` tasks, no answer twice, in the order of the files."""
    chosen: dict[str, T] = {}
    for task in sorted(tasks, key=lambda task: order(task, seed)):
        if len(chosen) < limit:
            chosen.setdefault(task.answer.strip(), task)
    return sorted(chosen.values(), key=lambda task: task.place)
