"""Where the work is done: in this process, in a pool of processes on this machine, or by another stage.

What is handed out is a pure function of what the lake holds and writes parts of its own, so it may run anywhere, in any
order; the caller holds the lake's lock for all of it.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from lake.errors import Exit, GoldspanError

J = TypeVar("J")
R = TypeVar("R")

THREADS = "POLARS_MAX_THREADS"

MANY_JOBS = 8
"""From so many jobs on, starting processes is worth its seconds."""

CHECKOUT = Path(__file__).resolve().parents[1]
"""The folder that the commands are run in."""

_DONE = {0, 5}
"""5: done, though some rows are rejected or cannot be scored."""


@dataclass(frozen=True)
class Engine:
    """A number of processes on this machine; one is this process itself.

    Attributes:
        n_processes: How many; None for one per core where there are many jobs, else one.
    """

    n_processes: int | None = 1

    def map(self, work: Callable[[J], R], jobs: Sequence[J], *, are_long: bool = False) -> Iterator[R]:
        """What the work makes of each job, in the order in which they end.

        Args:
            work: What is done.
            jobs: With what.
            are_long: Whether starting processes is worth its seconds though the jobs are few.
        """
        n_cores = os.cpu_count() or 1
        wanted = self.n_processes or (n_cores if are_long or len(jobs) >= MANY_JOBS else 1)
        n_processes = min(wanted, len(jobs))
        if n_processes < 2:
            yield from map(work, jobs)
            return
        # Fresh processes: a forked one would inherit locks of polars' threads that nobody is left to release.
        context = multiprocessing.get_context("spawn")
        with (
            _threads_each(max(1, n_cores // n_processes)),
            ProcessPoolExecutor(n_processes, mp_context=context, initializer=end_with_parent) as pool,
        ):
            futures = [pool.submit(work, job) for job in jobs]
            try:
                for future in as_completed(futures):
                    yield future.result()
            except BrokenProcessPool as error:
                message = "a process that the work was handed to was killed, most likely for want of memory"
                hint = "What is finished is kept. Run it again with fewer processes: ENGINE=local:1."
                raise GoldspanError(message, hint=hint) from error
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise


IN_PROCESS = Engine()

_PR_SET_PDEATHSIG = 1
"""Linux: which signal a process gets when its parent ends."""


def end_with_parent() -> None:
    """End this process when the one that started it is killed: nobody else would, and it would write on."""
    parent = multiprocessing.parent_process()
    if sys.platform == "linux":
        # The kernel ends it at once; the thread below waits where long work of a library lets no other thread run.
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if parent is not None and os.getppid() != parent.pid:
        os._exit(1)

    def wait() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def parse_engine(text: str) -> Engine:
    """`local:N` as an engine of N processes, `auto` as one that goes by the number of jobs.

    Raises:
        GoldspanError: It is written otherwise.
    """
    if text.strip() == "auto":
        return Engine(None)
    found = re.fullmatch(r"local:([1-9]\d{0,3})", text.strip())
    if found is None:
        hint = "Write local:N, N processes on this machine: local:2; or auto."
        raise GoldspanError(f"unknown engine {text!r}", hint=hint, code=Exit.USAGE)
    return Engine(int(found[1]))


@contextmanager
def _threads_each(n_threads: int) -> Iterator[None]:
    """Give each of the processes that are started inside so many threads."""
    before = os.environ.get(THREADS)
    os.environ[THREADS] = str(n_threads)
    try:
        yield
    finally:
        del os.environ[THREADS]
        if before is not None:
            os.environ[THREADS] = before
