"""Work that tests hand to an engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from lake.engine import Engine

J = TypeVar("J")
R = TypeVar("R")


def mapped(engine: Engine, work: Callable[[J], R], jobs: Sequence[J]) -> Iterator[R]:
    """What the work makes of each job, in their order."""
    with engine.executor(len(jobs)) as executor:
        yield from engine.results(executor, work, jobs)
