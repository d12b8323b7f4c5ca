"""Work that may kill the process it is done in: handed to others, and what killed them is found out."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager
from typing import TypeVar

from lake.engine import end_with_parent

J = TypeVar("J")
R = TypeVar("R")


class Workers(AbstractContextManager["Workers"]):
    """A number of processes on this machine, started when there is work and again where one died; they end with it.

    Args:
        n_processes: How many; the machine's cores where it is None.
    """

    def __init__(self, n_processes: int | None = None) -> None:
        self.n_processes = n_processes or os.cpu_count() or 1
        self._pool: tuple[int, ProcessPoolExecutor] | None = None

    def map(self, work: Callable[[Sequence[J]], list[R]], jobs: Sequence[J], at_once: int) -> list[R | None]:
        """What the work makes of each job, in their order; None for a job that killed its process.

        Args:
            work: A function of a module, which answers every job it is given.
            jobs: Each is done on its own, so the answers do not depend on how many are handed out together.
            at_once: How many are handed out together.
        """
        answers: list[R | None] = [None] * len(jobs)
        n_processes = self.n_processes
        todo = [range(start, min(start + at_once, len(jobs))) for start in range(0, len(jobs), at_once)]
        while todo:
            pool = self._started(n_processes)
            futures = [(batch, pool.submit(work, [jobs[number] for number in batch])) for batch in todo]
            todo = []
            for batch, future in futures:
                try:
                    answers[batch.start : batch.stop] = future.result()
                except BrokenProcessPool:
                    todo.append(batch)
            if todo:
                self.stop()
            if todo and n_processes > 1:
                # Which of several died is not known; of one alone, it is the first job without an answer.
                n_processes = 1
            elif todo:
                killer = todo.pop(0)
                if len(killer) == 1:
                    n_processes = self.n_processes
                else:
                    middle = len(killer) // 2
                    todo = [killer[:middle], killer[middle:], *todo]
        return answers

    def _started(self, n_processes: int) -> ProcessPoolExecutor:
        if self._pool is None or self._pool[0] != n_processes:
            self.stop()
            # Fresh processes: a forked one would inherit locks of polars' threads that nobody is left to release.
            context = multiprocessing.get_context("spawn")
            self._pool = n_processes, ProcessPoolExecutor(n_processes, mp_context=context, initializer=end_with_parent)
        return self._pool[1]

    def stop(self) -> None:
        """End the processes; work that has not begun is dropped."""
        if self._pool is not None:
            self._pool[1].shutdown(wait=True, cancel_futures=True)
            self._pool = None

    def __exit__(self, *_: object) -> None:
        self.stop()
