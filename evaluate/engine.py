"""Where the work is done: in this process, or in a pool of processes on this machine.

What is handed out is a pure function of what the lake holds and writes parts of its own, so it may run anywhere, in any
order; the caller holds the lake's lock for all of it.
"""

from __future__ import annotations

import multiprocessing
import os
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from lake.errors import Exit, GoldspanError

J = TypeVar("J")
R = TypeVar("R")

THREADS = "POLARS_MAX_THREADS"


@dataclass(frozen=True)
class Engine:
    """A number of processes on this machine; one is this process itself."""

    n_processes: int = 1

    def map(self, work: Callable[[J], R], jobs: Sequence[J]) -> Iterator[R]:
        """What the work makes of each job, in the order in which they end."""
        if self.n_processes == 1 or len(jobs) < 2:
            yield from map(work, jobs)
            return
        # Fresh processes: a forked one would inherit locks of polars' threads that nobody is left to release.
        context = multiprocessing.get_context("spawn")
        n_processes = min(self.n_processes, len(jobs))
        with _threads_each(n_processes), ProcessPoolExecutor(n_processes, mp_context=context) as pool:
            futures = [pool.submit(work, job) for job in jobs]
            try:
                for future in as_completed(futures):
                    yield future.result()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise


IN_PROCESS = Engine()


def parse_engine(text: str) -> Engine:
    """`local:N` as an engine of N processes.

    Raises:
        GoldspanError: It is written otherwise.
    """
    found = re.fullmatch(r"local:([1-9]\d{0,3})", text.strip())
    if found is None:
        message = f"unknown engine {text!r}"
        raise GoldspanError(message, hint="Write local:N, N processes on this machine: local:2.", code=Exit.USAGE)
    return Engine(int(found[1]))


@contextmanager
def _threads_each(n_processes: int) -> Iterator[None]:
    """Share the machine's cores among the processes that are started inside."""
    before = os.environ.get(THREADS)
    os.environ[THREADS] = str(max(1, (os.cpu_count() or 1) // n_processes))
    try:
        yield
    finally:
        if before is None:
            del os.environ[THREADS]
        else:
            os.environ[THREADS] = before
