from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ingest.contents.processes import Workers
from lake import engine as engines
from lake.engine import Engine
from lake.errors import Exit, GoldspanError
from tests.engines import mapped
from tests.ingest.test_killed import dies_of_sevens, each, halves
from tests.tiny import CHUNKERS, ROOT, command, refused, stored

if TYPE_CHECKING:
    from distributed import Client

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("distributed") is None, reason="the extra `dask` is not installed: make dask"),
]


@contextmanager
def started(*words: str) -> Iterator[None]:
    # A job whose worker died twice is given up: sooner than by default, which is after four times.
    environment = {**os.environ, "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1"}
    command = [sys.executable, "-m", "dask", *words, "--no-dashboard"]
    program = subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        program.terminate()
        program.wait(300)


@contextmanager
def scheduler(folder: Path) -> Iterator[str]:
    """A scheduler without workers: its HOST:PORT."""
    file = folder / "scheduler.json"
    with started("scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(file)):
        end = time.monotonic() + 300
        while not file.exists() or not file.read_text():
            assert time.monotonic() < end, "no scheduler after five minutes"
            time.sleep(0.05)
        yield json.loads(file.read_text())["address"].removeprefix("tcp://")


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A scheduler with two workers of one thread."""
    folder = tmp_path_factory.mktemp("dask")
    settings = ("--nworkers", "2", "--nthreads", "1", "--local-directory", str(folder))
    with scheduler(folder) as scheduler_address, started("worker", scheduler_address, *settings):
        yield scheduler_address


@pytest.fixture
def client(address: str) -> Iterator[Client]:
    from distributed import Client

    with Client(f"tcp://{address}", set_as_default=False) as connected:
        connected.wait_for_workers(2, timeout=300)
        yield connected


def ingested(source: Path, lake: Path, engine: str) -> None:
    chunkers = ",".join([*CHUNKERS, "fixed-nws-100"])
    command("ingest", "--source", source, "--chunkers", chunkers, "--lake", lake, "--engine", engine).done()


def test_workers_make_an_equal_lake_despite_a_kill(source: Path, tmp_path: Path, address: str, client: Client) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    ingested(source, here, "local:1")
    ingested(source, there, f"dask://{address}")
    command("evaluate", "--lake", here, "--engine", "local:1").done()
    before = client.run(os.getpid)
    flags = ["--lake", str(there), "--engine", f"dask://{address}"]
    run = subprocess.Popen([sys.executable, "-m", "evaluate", *flags], cwd=ROOT, stderr=subprocess.PIPE, text=True)
    busy: Sequence[str] = ()
    while not busy:
        assert run.poll() is None, "nothing was handed to a worker"
        busy = [worker for worker, jobs in client.processing().items() if jobs]
    os.kill(before[busy[0]], signal.SIGKILL)
    _, err = run.communicate(timeout=300)
    assert run.returncode == 0, err
    assert stored(here) == stored(there)
    client.wait_for_workers(2, timeout=300)
    assert before[busy[0]] not in client.run(os.getpid).values()


def test_a_job_that_kills_every_worker_costs_no_other_its_answer(address: str) -> None:
    with Workers(Engine(None, address)) as pool:
        assert pool.map(dies_of_sevens, [[6, 7]], each) == [([6], [-6]), ([7], None)]
        assert pool.map(halves, [[8]], each) == [([8], [4])]


@pytest.mark.parametrize(
    ("owner", "name", "value", "words"),
    [
        (engines, "_STAGES", ("lake",), "runs another version of Goldspan"),
        (engines, "_PACKAGES", ("polars",), "this machine has Python"),
        (Path, "write_text", lambda *_: 0, "does not see the lake at"),
    ],
)
def test_a_worker_with_other_code_or_versions_is_named(
    owner: object, name: str, value: object, words: str, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner, name, value)
    with refused(words, Exit.MISSING):
        list(mapped(Engine(None, address, tmp_path), str, [1, 2]))
    assert not any(tmp_path.iterdir())


def test_workers_of_several_threads_are_refused(address: str, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    known = client.nthreads()
    monkeypatch.setattr(type(client), "nthreads", lambda _: dict.fromkeys(known, 4))
    with pytest.raises(GoldspanError, match=r"the dask worker tcp://\S+ has 4 threads") as caught:
        list(mapped(Engine(None, address), str, [1]))
    assert "--nthreads 1" in caught.value.hint


def test_a_scheduler_that_ends_is_a_sentence(tmp_path: Path) -> None:
    from distributed import Client

    settings = ("--nthreads", "1", "--local-directory", str(tmp_path))
    with scheduler(tmp_path) as alone, started("worker", alone, *settings):
        with Client(f"tcp://{alone}", set_as_default=False) as client:
            pid = client.run_on_scheduler(os.getpid)
        answers = mapped(Engine(None, alone), time.sleep, [0.1, 600])
        next(answers)
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(GoldspanError, match=f"the dask scheduler at {alone} has stopped"):
            next(answers)


def test_errors_without_scheduler_or_workers(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(address: str) -> str:
        run = command("ingest", "--source", source, "--lake", tmp_path / "lake", "--engine", f"dask://{address}")
        run.refused(Exit.MISSING)
        return run.err

    assert "the dask scheduler at 127.0.0.1:9 does not answer" in refused("127.0.0.1:9")
    with scheduler(tmp_path) as alone:
        assert f"the dask scheduler at {alone} has no workers" in refused(alone)
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert "First: make dask, or pip install -r requirements-dask.txt" in refused("127.0.0.1:9")
