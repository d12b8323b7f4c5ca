"""Work that may crash its process: it is run in other processes, and the job that crashed one is found."""

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor, Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, suppress
from typing import TypeVar

from lake.engine import Engine, WorkerDiedError

_J = TypeVar("_J")
_R = TypeVar("_R")


class Workers(ExitStack):
    """The processes of an engine, never this one; started when needed, restarted after a crash, and ended on exit."""

    def __init__(self, engine: Engine) -> None:
        super().__init__()
        self.engine = engine
        self._executor: Executor | None = None

    def map(
        self, work: Callable[[_J], _R], jobs: Sequence[_J], split: Callable[[_J], Iterable[_J]]
    ) -> list[tuple[_J, _R | None]]:
        """Each job with its result, in order; of one that crashes its process the parts, None for one that does too."""
        done = list[tuple[_J, _R | None]]()
        for job, first in zip(jobs, self._do(work, jobs), strict=True):
            answer = first or self._do(work, [job])[0]
            done += [(job, answer)] if answer else [(part, self._do(work, [part])[0]) for part in split(job)]
        return done

    def start(self, work: Callable[..., object]) -> Executor:
        """Start the processes; they load the modules that `work` needs while this process goes on."""
        if self._executor is None:
            self._executor = self.enter_context(self.engine.executor())
            for _ in range(self.engine.n_processes or os.cpu_count() or 1):
                self._executor.submit(getattr, work, "__doc__")
        return self._executor

    def _do(self, work: Callable[[_J], _R], jobs: Sequence[_J]) -> list[_R | None]:
        """The results of some jobs; None for jobs lost when a process crashed, whichever job caused it."""
        executor, futures = self.start(work), list[Future[_R]]()
        # If one process has crashed already, the remaining jobs cannot be submitted.
        with suppress(BrokenProcessPool):
            futures.extend(executor.submit(work, job) for job in jobs)
        answers: list[_R | None] = [None] * len(jobs)
        for number, future in enumerate(futures):
            with suppress(WorkerDiedError):
                answers[number] = self.engine.answer(future)
        if None in answers:
            self.stop()
        return answers

    def stop(self) -> None:
        """End the processes."""
        self._executor = None
        self.close()
