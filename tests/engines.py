"""Work that tests hand to an engine, and where it is done."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from threading import RLock
from typing import ParamSpec, TypeVar
from unittest.mock import patch

from lake.engine import Engine, InThisProcess

P = ParamSpec("P")
J = TypeVar("J")
R = TypeVar("R")

POOL = "lake.engine.ProcessPoolExecutor"


class NoProcesses(InThisProcess):
    """A pool of one process, in which the process that starts it does the work, one job at a time."""

    # Two threads that draw would wait for each other: Vega waits for its own lock while it holds the interpreter's.
    def __init__(self, *_: object, **__: object) -> None:
        self._working = RLock()

    def submit(self, fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        with self._working:
            return super().submit(fn, *args, **kwargs)


@contextmanager
def without_processes() -> Iterator[None]:
    """Do here what is handed to processes, whose start takes seconds."""
    with patch(POOL, NoProcesses):
        yield


def mapped(engine: Engine, work: Callable[[J], R], jobs: Sequence[J]) -> Iterator[R]:
    """What the work makes of each job, in their order."""
    with engine.executor(len(jobs)) as executor:
        yield from engine.results(executor, work, jobs)
