"""Work that tests hand to an engine, and where it is done."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar
from unittest.mock import patch

from lake.engine import Engine, InThisProcess

J = TypeVar("J")
R = TypeVar("R")

POOL = "lake.engine.ProcessPoolExecutor"


class NoProcesses(InThisProcess):
    """A pool of processes in which the process that starts it does the work."""

    def __init__(self, *_: object, **__: object) -> None:
        super().__init__()


@contextmanager
def without_processes() -> Iterator[None]:
    """Do here what is handed to processes, whose start takes seconds."""
    with patch(POOL, NoProcesses):
        yield


def mapped(engine: Engine, work: Callable[[J], R], jobs: Sequence[J]) -> Iterator[R]:
    """What the work makes of each job, in their order."""
    with engine.executor(len(jobs)) as executor:
        yield from engine.results(executor, work, jobs)
