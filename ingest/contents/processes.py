"""Work that may crash its process: it is run in other processes, and the job that crashed one is found."""

import os
from collections.abc import Callable, Sequence
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

    def map(self, work: Callable[[Sequence[_J]], list[_R]], jobs: Sequence[_J], at_once: int) -> list[_R | None]:
        """The result for each job, in order, None if it crashed its process; `at_once` is the batch size."""
        answers = list[_R | None]()
        batches = [jobs[start : start + at_once] for start in range(0, len(jobs), at_once)]
        for batch, done in zip(batches, self._do(work, batches), strict=True):
            # Which job of a batch crashed the process is found by running each alone.
            some = done or self._do(work, [batch])[0]
            alone = (self._do(work, [[job]])[0] for job in batch)
            answers += some or (answer[0] if answer else None for answer in alone)
        return answers

    def start(self, work: Callable[[Sequence[_J]], list[_R]]) -> Executor:
        """Start the processes; they load the modules that `work` needs while this process goes on."""
        if self._executor is None:
            self._executor = self.enter_context(self.engine.executor())
            for _ in range(self.engine.n_processes or os.cpu_count() or 1):
                self._executor.submit(work, ())
        return self._executor

    def _do(self, work: Callable[[Sequence[_J]], list[_R]], batches: Sequence[Sequence[_J]]) -> list[list[_R] | None]:
        """The results of some batches; None for batches lost when a process crashed, whichever batch caused it."""
        executor, futures = self.start(work), list[Future[list[_R]]]()
        # If one process has crashed already, the remaining batches cannot be submitted.
        with suppress(BrokenProcessPool):
            futures.extend(executor.submit(work, batch) for batch in batches)
        answers: list[list[_R] | None] = [None] * len(batches)
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
