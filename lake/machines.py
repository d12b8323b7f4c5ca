"""A dask scheduler's workers: the same functions on other machines, over a lake that all of them see."""

import logging
import os
import platform
import secrets
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

from lake.code import ROOT, digest_of
from lake.errors import Exit, GoldspanError

if TYPE_CHECKING:
    from distributed import Client

PATIENCE = int(os.environ.get("GOLDSPAN_DASK_TIMEOUT", "30"))
"""Seconds for a scheduler to answer, and for it to have a first worker."""
_STAGES = ("lake", "ingest", "evaluate")
_PACKAGES = ("polars", "pyarrow", "numpy", "scipy")
"""Of another version, they may write other bytes."""
_SCHEDULER = "cd CHECKOUT && .venv/bin/python -m dask scheduler"
_START = "cd CHECKOUT && .venv/bin/python -m dask worker {address} --nworkers 2 --nthreads 1"


class Worker(NamedTuple):
    """The code, the versions and the probe file that a worker sees."""

    code: str
    versions: str
    probe: str


@contextmanager
def workers_of(address: str, lake: Path | None) -> Iterator[Executor]:
    """An executor over a scheduler's workers, all of which must see the folder `lake` and run the same code."""
    try:
        from distributed import Client
    except ImportError as error:
        hint = "First: make dask, or pip install -r requirements-dask.txt"
        raise GoldspanError("ENGINE=dask://… needs an extra", hint=hint, code=Exit.MISSING) from error
    for name in ("distributed", "distributed.client", "tornado.application"):
        # What went wrong is said once, in a sentence, and not by tracebacks of another project beside it.
        logging.getLogger(name).setLevel(logging.CRITICAL)
    start = _START.format(address=address)
    try:
        client = Client(f"tcp://{address}", timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        hint = f"Start it: {_SCHEDULER}"
        raise GoldspanError(f"no dask scheduler answers at {address}", hint=hint, code=Exit.MISSING) from error
    with client:
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError as error:
            message = f"the dask scheduler at {address} has no workers"
            raise GoldspanError(message, hint=f"Start some: {start}", code=Exit.MISSING) from error
        _check(client, lake, address, start)
        # Not pure: a job writes, so that none is spared because an equal one was done before.
        executor = cast("Executor", client.get_executor(pure=False))
        try:
            yield executor
        finally:
            # What was answered is no longer with it; of the rest, what has not begun is dropped.
            executor.shutdown(wait=False)


def _check(client: "Client", lake: Path | None, address: str, start: str) -> None:
    try:
        client.run_on_scheduler(worker)
    except Exception as error:
        message = f"the dask scheduler at {address} cannot run this project: {error}"
        raise GoldspanError(message, hint=f"Start it in a checkout: {_SCHEDULER}", code=Exit.MISSING) from error
    # A file in the lake while workers are asked for it, and what it holds.
    probe, text = (lake.absolute() / f".seen-{os.getpid()}", secrets.token_hex()) if lake else (None, "")
    if probe:
        probe.write_text(text)
    workers: Mapping[str, Worker | Exception] = client.run(worker, probe, on_error="return")
    if probe:
        probe.unlink(missing_ok=True)
    mine = worker()._replace(probe=text)
    n_threads = client.nthreads()
    for where, theirs in workers.items():
        if n_threads.get(where, 1) != 1:
            fault = f"has {n_threads[where]} threads, and jobs need a process each", f"Start it so: {start}"
        elif isinstance(theirs, Exception):
            fault = f"cannot run this project: {theirs}", f"Start it in a checkout: {start}"
        elif theirs.code != mine.code:
            fault = "runs other code", f"Check out the same commit there and start it again: {start}"
        elif theirs.versions != mine.versions:
            hint = "Install the same requirements.txt there, for the same Python, and start it again."
            fault = f"has {theirs.versions}, and here is {mine.versions}", hint
        elif theirs.probe != mine.probe:
            hint = "Put the lake on storage that every machine mounts at the same path, and name it with LAKE=…"
            fault = f"does not see the lake at {lake}", hint
        else:
            continue
        raise GoldspanError(f"the dask worker {where} {fault[0]}", hint=fault[1], code=Exit.MISSING)


def worker(probe: Path | None = None) -> Worker:
    """The worker that calls this; it runs on all of them."""
    code = digest_of(frozenset(path for stage in _STAGES for path in (ROOT / stage).rglob("*.py")))
    versions = ", ".join(f"{name} {version(name)}" for name in _PACKAGES)
    try:
        text = probe.read_text() if probe else ""
    except OSError:
        text = ""
    return Worker(code, f"Python {'.'.join(platform.python_version_tuple()[:2])}, {versions}", text)
