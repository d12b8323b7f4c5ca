"""Work that may kill the process it is done in: handed to others, and what killed them is found out."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Executor, Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, ExitStack, suppress
from typing import Any, TypeVar

from lake.engine import Engine, WorkerDiedError

_J = TypeVar("_J", bound=Hashable)
_R = TypeVar("_R")


class Workers(AbstractContextManager["Workers"]):
    """An engine's processes, never this one, started when there is work and again where one died; they end with it."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._stack = ExitStack()
        self._executor: Executor | None = None
        self._begun: dict[Hashable, tuple[Future[list[Any]], int]] = {}

    def map(self, work: Callable[[Sequence[_J]], list[_R]], jobs: Sequence[_J], at_once: int) -> list[_R | None]:
        """The work's answer to each job, in their order; None for a job that killed its process."""
        ready = {number: begun[0] for number, job in enumerate(jobs) if (begun := self._begun_answer(job))}
        left = [job for number, job in enumerate(jobs) if number not in ready]
        batches = [left[start : start + at_once] for start in range(0, len(left), at_once)]
        answers: list[_R | None] = []
        for batch, done in zip(batches, self._do(work, batches), strict=True):
            # Which of several killed their process is not known; of one alone it is.
            some = done or self._do(work, [batch])[0]
            answers += some or [answer[0] if (answer := self._do(work, [[job]])[0]) else None for job in batch]
        others = iter(answers)
        return [ready[number] if number in ready else next(others) for number in range(len(jobs))]

    def begin(self, work: Callable[[Sequence[_J]], list[_R]], jobs: Sequence[_J], at_once: int) -> None:
        """Hand in jobs whose answers are asked for later, by :meth:`map`."""
        executor = self.start(work)
        for start in range(0, len(jobs), at_once):
            batch = jobs[start : start + at_once]
            with suppress(BrokenProcessPool):
                future = executor.submit(work, batch)
                self._begun.update((job, (future, number)) for number, job in enumerate(batch))

    def _begun_answer(self, job: Hashable) -> list[Any]:
        if job not in self._begun:
            return []
        future, number = self._begun.pop(job)
        try:
            return [self.engine.answer(future)[number]]
        except WorkerDiedError:
            self.stop()
            return []

    def start(self, work: Callable[[Sequence[_J]], list[_R]]) -> Executor:
        """Start the processes, which load what the work needs while this one does something else."""
        if self._executor is None:
            self._executor = self._stack.enter_context(self.engine.executor())
            for _ in range(self.engine.n_processes or os.cpu_count() or 1):
                self._executor.submit(work, ())
        return self._executor

    def _do(self, work: Callable[[Sequence[_J]], list[_R]], batches: Sequence[Sequence[_J]]) -> list[list[_R] | None]:
        """The work's answers to some batches; None for those that a process died with, which may be any of them."""
        executor, futures = self.start(work), list[Future[list[_R]]]()
        # Where one has died already, the others are in nobody's hands.
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
        self.__exit__(None, None, None)

    def __exit__(self, *raised: object) -> None:
        self._executor = None
        self._stack.__exit__(*raised)  # type: ignore[arg-type]  # as it was handed in
