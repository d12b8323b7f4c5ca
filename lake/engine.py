"""Executors of jobs: this process, processes on this machine, or the workers of a dask scheduler.

A job is a pure function of the lake's contents that writes its own parts, so jobs may run anywhere and in any order.
"""

import ctypes
import logging
import multiprocessing
import os
import re
import secrets
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar, cast

from lake.code import ROOT, digest_of
from lake.errors import Exit, GoldspanError

if TYPE_CHECKING:
    from distributed import Client

_Job = TypeVar("_Job")
_Result = TypeVar("_Result")
P = ParamSpec("P")

THREADS = "POLARS_MAX_THREADS"
MANY_JOBS = 8  # from which starting processes pays off


class WorkerDiedError(GoldspanError):
    """A process was killed while running a job."""


class InThisProcess(Executor):
    """An executor that runs each job at once, in `submit`."""

    def submit(self, fn: Callable[P, _Result], /, *args: P.args, **kwargs: P.kwargs) -> Future[_Result]:
        """Run the job and return a finished future; an exception of the job is raised here."""
        future = Future[_Result]()
        future.set_result(fn(*args, **kwargs))
        return future


@dataclass(frozen=True)
class Engine:
    """A choice of executor: N processes (None: one per core if jobs are many), or a dask scheduler (HOST:PORT)."""

    n_processes: int | None = 1
    scheduler: str = ""
    lake: Path | None = None

    @contextmanager
    def executor(self, n_jobs: int | None = None, *, are_long: bool = False) -> Iterator[Executor]:
        """Provide an executor; if an error leaves the block, jobs that have not started are dropped.

        Without `n_jobs`, no job runs in this process, as it may crash. For jobs that `are_long`, processes are started
        even if they are few.
        """
        is_worth_it = n_jobs is None or are_long or n_jobs >= MANY_JOBS
        n_processes = self.n_processes or ((os.cpu_count() or 1) if is_worth_it else 1)
        n_processes = n_processes if n_jobs is None else min(n_processes, n_jobs)
        if self.scheduler and n_processes:
            with workers_of(self.scheduler, self.lake) as executor:
                yield executor
        elif n_jobs is not None and n_processes < 2:
            yield InThisProcess()
        else:
            with _processes(n_processes) as executor:
                yield executor

    def results(self, executor: Executor, work: Callable[[_Job], _Result], jobs: Sequence[_Job]) -> Iterator[_Result]:
        """The result of each job, in order; in this process each job runs when its result is requested."""
        futures = (executor.submit(work, job) for job in jobs)
        return map(self.answer, futures if isinstance(executor, InThisProcess) else list(futures))

    def answer(self, future: Future[_Result]) -> _Result:
        """The result of a job; raises WorkerDiedError if its process was killed."""
        try:
            return future.result()
        except CancelledError as error:
            message = f"the dask scheduler at {self.scheduler} has stopped or cannot be reached"
            raise GoldspanError(message, hint="Finished work is kept. Start it and run the command again.") from error
        except Exception as error:
            # Compared by name, because dask's is of an optional dependency.
            if type(error).__name__ not in ("BrokenProcessPool", "KilledWorker"):
                raise
            more, fewer = "more memory for each: dask worker --memory-limit", "fewer processes: ENGINE=local:1"
            advice = more if self.scheduler else fewer
            hint = f"Finished work is kept. Run it again with {advice}."
            raise WorkerDiedError("a worker was killed, probably because memory ran out", hint=hint) from error


IN_PROCESS, BY_JOBS = Engine(), Engine(None)


@contextmanager
def _processes(n_processes: int) -> Iterator[ProcessPoolExecutor]:
    # A forked process would inherit locks of polars' threads that are never released.
    context, before = multiprocessing.get_context("spawn"), os.environ.get(THREADS)
    # The processes share the cores.
    os.environ[THREADS] = str(max(1, (os.cpu_count() or 1) // n_processes))
    try:
        with ProcessPoolExecutor(n_processes, mp_context=context, initializer=end_with_parent) as pool:
            try:
                yield pool
            except BaseException:
                # Running jobs still write; the caller's clean-up must come after them.
                pool.shutdown(cancel_futures=True)
                raise
    finally:
        del os.environ[THREADS]
        os.environ.update({THREADS: before} if before is not None else {})


def end_with_parent() -> None:
    """Make this process exit when its parent is killed; otherwise it would go on writing."""
    if sys.platform == "linux":
        # The kernel kills it at once; the thread below cannot run while a library call holds the interpreter.
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: the signal that it gets when its parent ends

    def wait() -> None:
        if parent := multiprocessing.parent_process():
            parent.join()
            os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


_STAGES = ("lake", "ingest", "evaluate")
_PACKAGES = ("polars", "pyarrow", "numpy", "scipy")
"""Packages that must have the same version on every worker: other versions may write other bytes."""
_PATIENCE = 30  # seconds for the scheduler, and again for its first worker
_SCHEDULER = "cd CHECKOUT && .venv/bin/python -m dask scheduler"
_START = "cd CHECKOUT && .venv/bin/python -m dask worker {address} --nworkers 2 --nthreads 1"


@contextmanager
def workers_of(address: str, lake: Path | None) -> Iterator[Executor]:
    """An executor over a scheduler's workers, which must all see the folder `lake` and run the same code."""
    # Imported when needed: it is slow to import, and an optional dependency.
    try:
        from distributed import Client
    except ImportError as error:
        hint = "First: make dask, or pip install -r requirements-dask.txt"
        raise GoldspanError("ENGINE=dask://… needs the package dask", hint=hint, code=Exit.MISSING) from error
    for name in ("distributed", "distributed.client", "tornado.application"):
        # Errors are reported once, in one sentence.
        logging.getLogger(name).setLevel(logging.CRITICAL)
    start = _START.format(address=address)
    try:
        client = Client(f"tcp://{address}", timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise _missing(f"scheduler at {address} does not answer", _SCHEDULER) from error
    with client:
        try:
            client.wait_for_workers(1, timeout=_PATIENCE)
        except TimeoutError as error:
            raise _missing(f"scheduler at {address} has no workers", start) from error
        _check(client, lake, address, start)
        # pure=False: jobs write parts, so a job must run even if an equal one ran before.
        executor = cast("Executor", client.get_executor(pure=False))
        try:
            yield executor
        finally:
            # Finished jobs are unaffected; jobs that have not started are dropped.
            executor.shutdown(wait=False)


def _check(client: "Client", lake: Path | None, address: str, start: str) -> None:
    try:
        client.run_on_scheduler(worker)
    except Exception as error:
        raise _missing(f"scheduler at {address} cannot run this project: {error}", _SCHEDULER) from error
    # A temporary file in the lake with a random text, which every worker must be able to read.
    probe, text = (lake.absolute() / f".seen-{os.getpid()}", secrets.token_hex()) if lake else (None, "")
    if probe:
        probe.write_text(text)
    workers: Mapping[str, dict[str, str] | Exception] = client.run(worker, probe, on_error="return")
    if probe:
        probe.unlink(missing_ok=True)
    mine = {**worker(), "probe": text}
    n_threads = client.nthreads()
    for where, theirs in workers.items():
        if n_threads.get(where, 1) != 1:
            fault = f"has {n_threads[where]} threads, but each job needs its own process"
        elif isinstance(theirs, Exception):
            fault = f"cannot run this project: {theirs}"
        elif theirs["code"] != mine["code"]:
            fault = "runs another version of Goldspan; check out the same commit there"
        elif theirs["versions"] != mine["versions"]:
            fault = f"has {theirs['versions']}, this machine has {mine['versions']}; install the same requirements.txt"
        elif theirs["probe"] != mine["probe"]:
            fault = f"does not see the lake at {lake}; name one on storage that every machine mounts there: LAKE=…"
        else:
            continue
        raise _missing(f"worker {where} {fault}", start)


def _missing(what: str, start: str) -> GoldspanError:
    return GoldspanError(f"the dask {what}", hint=f"Start it in a checkout: {start}", code=Exit.MISSING)


def worker(probe: Path | None = None) -> dict[str, str]:
    """The code digest, the package versions and the probe file's text as seen by the worker that runs this."""
    code = digest_of(frozenset(path for stage in _STAGES for path in (ROOT / stage).rglob("*.py")))
    packages = (f"{name} {version(name)}" for name in _PACKAGES)
    try:
        text = probe.read_text() if probe else ""
    except OSError:
        text = ""
    versions = ", ".join(["Python {}.{}".format(*sys.version_info), *packages])
    return {"code": code, "versions": versions, "probe": text}


def parse_engine(text: str, lake: Path | None = None) -> Engine:
    """Parse `auto` (by the number of jobs), `local:N` (N processes) or `dask://HOST:PORT` (a scheduler's workers)."""
    if text.strip() == "auto":
        return BY_JOBS
    if scheduler := re.fullmatch(r"dask://([\w.-]+:\d{1,5}|\[[0-9A-Fa-f:]+\]:\d{1,5})", text.strip()):
        return Engine(None, scheduler[1], lake)
    match = re.fullmatch(r"local:([1-9]\d{0,3})", text.strip())
    if match is None:
        hint = "Write local:N, N processes on this machine: local:2; dask://HOST:PORT, a scheduler's workers; or auto."
        raise GoldspanError(f"unknown engine {text!r}", hint=hint, code=Exit.USAGE)
    return Engine(int(match[1]))
