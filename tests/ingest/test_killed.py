import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from ingest.contents.processes import Workers
from lake.engine import Engine
from tests.tiny import ROOT

SLEEPS = "sh -c 'echo $$ >> {pids}; sleep 600 & echo $! >> {pids}; wait'"
STARTS = {
    "workers of ingest": """
from ingest.contents.processes import Workers
from lake.engine import Engine
from tests.ingest.test_killed import sleeps
if __name__ == "__main__":
    Workers(Engine(2)).map(sleeps, [["{pids}"]] * 2, list)
""",
    "workers of evaluate": """
from lake.engine import Engine
from tests.engines import mapped
from tests.ingest.test_killed import sleep
if __name__ == "__main__":
    list(mapped(Engine(2), sleep, ["{pids}"] * 2))
""",
    "a program and what it started": """
from ingest.programs.command import JsonCommand
JsonCommand.of({command!r}).answers([{{"id": "1"}}])
""",
}


def sleep(pids: str) -> None:
    with Path(pids).open("a") as out:
        print(os.getpid(), file=out)
    # As long work of a library does: no other thread gets its turn.
    sys.setswitchinterval(1_000)
    end = time.monotonic() + 600
    while time.monotonic() < end:
        pass


def sleeps(jobs: Sequence[str]) -> list[str]:
    for pids in jobs:
        sleep(pids)
    return [*jobs]


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def all_end(pids: Sequence[int]) -> bool:
    """Whether these processes end; a busy machine may take minutes."""
    end = time.monotonic() + 300
    while any(map(is_running, pids)) and time.monotonic() < end:
        time.sleep(0.05)
    return not any(map(is_running, pids))


@pytest.mark.skipif(sys.platform != "linux", reason="what is running is read from /proc")
@pytest.mark.parametrize("what", STARTS)
def test_nothing_is_left_running_by_a_command_that_was_killed(what: str, tmp_path: Path) -> None:
    pids, program = tmp_path / "pids", tmp_path / "started.py"
    program.write_text(STARTS[what].format(pids=pids, command=SLEEPS.format(pids=pids)))
    started = subprocess.Popen([sys.executable, program], env={**os.environ, "PYTHONPATH": str(ROOT)})
    left: list[int] = []
    try:
        end = time.monotonic() + 300
        while len(left) < 2 and time.monotonic() < end:
            # As soon as both run, so that nothing may be started before what will end it.
            time.sleep(0.001)
            left = [int(line) for line in pids.read_text().split()] if pids.exists() else []
        assert len(left) == 2
        assert all(map(is_running, left))
        started.kill()
        started.wait()
        assert all_end(left)
    finally:
        started.kill()
        for pid in filter(is_running, left):
            os.kill(pid, signal.SIGKILL)


def each(jobs: list[int]) -> list[list[int]]:
    return [[job] for job in jobs]


def halves(jobs: Sequence[int]) -> list[float]:
    return [job / 2 for job in jobs]


def dies_of_sevens(jobs: Sequence[int]) -> list[int]:
    if any(job % 10 == 7 for job in jobs):
        os.kill(os.getpid(), signal.SIGKILL)
    return [-job for job in jobs]


def refuses(jobs: Sequence[int]) -> list[int]:
    raise ValueError(len(jobs))


@pytest.mark.usefixtures("processes")
def test_answers_come_in_the_order_of_the_jobs() -> None:
    with Workers(Engine(2)) as pool:
        assert pool.map(halves, [[3], [1, 2]], each) == [([3], [1.5]), ([1, 2], [0.5, 1])]
        assert pool.map(halves, [], each) == []


@pytest.mark.parametrize("n_processes", [1, 2])
@pytest.mark.usefixtures("processes")
def test_a_job_that_kills_its_process_costs_no_other_its_answer(n_processes: int) -> None:
    with Workers(Engine(n_processes)) as pool:
        answers = pool.map(dies_of_sevens, [[*range(4)], [*range(4, 9)], [17], [18]], each)
        alone = [([job], None if job == 7 else [-job]) for job in range(4, 9)]
        assert answers == [([*range(4)], [0, -1, -2, -3]), *alone, ([17], None), ([18], [-18])]
        assert pool.map(halves, [[8]], each) == [([8], [4])]


@pytest.mark.usefixtures("processes")
def test_an_error_is_the_callers() -> None:
    with Workers(Engine(1)) as pool, pytest.raises(ValueError, match="2"):
        pool.map(refuses, [[1, 2]], each)
