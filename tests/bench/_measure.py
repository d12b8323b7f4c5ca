"""Seconds and peak memory of a fresh child process and of what it starts; the stages measured so."""

import importlib
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from lake.errors import Exit, GoldspanError
from tests.bench import MEGABYTE, ROOT, Row, Settings, Target

SAMPLED_EVERY = 0.05
"""Seconds between two looks at the child's memory."""

METHOD = (
    "Each measurement is a fresh child process. Peak memory is the larger of the process's own high-water mark (VmHWM, "
    f"Linux) and the resident sets of it and its children added up every {SAMPLED_EVERY * 1000:.0f} ms."
)

OURS = "GOLDSPAN_"
"""What the application's own settings begin with: what the shell says of them must not change what is measured."""


@dataclass(frozen=True)
class Measured:
    """What a child process cost, by itself or as it timed a part of it, and the JSON object that it printed last."""

    seconds: float
    peak_mb: float
    cpu_seconds: float
    answer: Mapping[str, object] = field(default_factory=dict)


NO_TARGET: Target = {}


class Stopwatch:
    """Time since it was made: on the wall, and that this process's threads worked."""

    def __init__(self) -> None:
        self._started, self._worked = time.perf_counter(), time.process_time()

    def read(self) -> dict[str, object]:
        """Both, in seconds, named as a child says them."""
        return {"seconds": time.perf_counter() - self._started, "cpu_seconds": time.process_time() - self._worked}


class ChildError(GoldspanError):
    """A measured process that ended badly."""


def command(arguments: Sequence[str], *, allowed: Sequence[int] = (0,)) -> Measured:
    """Run `python <arguments>` in the checkout and measure it; a `ChildError` where it ends with a code not allowed."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        started, worked = time.perf_counter(), _children_worked()
        child = subprocess.Popen([sys.executable, *arguments], cwd=ROOT, env=environment, stdout=stdout, stderr=stderr)
        peak = 0
        while True:
            peak = max(peak, _memory(child.pid))
            with suppress(subprocess.TimeoutExpired):
                child.wait(SAMPLED_EVERY)
                break
        seconds, cpu_seconds = time.perf_counter() - started, _children_worked() - worked
        stdout.seek(0)
        stderr.seek(0)
        printed, complaint = stdout.read().decode(), stderr.read().decode().strip()
    if child.returncode not in allowed:
        message = f"python {' '.join(arguments[:3])} ended with {child.returncode}"
        raise ChildError(message, examples=complaint.splitlines()[-3:])
    lines = printed.strip().splitlines()
    answer = json.loads(lines[-1]) if lines and lines[-1].startswith("{") else {}
    return Measured(seconds, peak / MEGABYTE, cpu_seconds, answer)


def call(function: Callable[..., object], *arguments: object) -> Measured:
    """Call a module's function in a child process and measure it; `answer` is the dict that it returns.

    Only the call is timed, not the start and the imports; the memory is the whole process's.
    """
    where = f"{function.__module__}:{function.__qualname__}"
    measured = command(["-m", "tests.bench._measure", where, *map(str, arguments)])
    peak = max(measured.peak_mb, _number(measured.answer, "peak_mb"))
    return Measured(_number(measured.answer, "seconds"), peak, _number(measured.answer, "cpu_seconds"), measured.answer)


def fastest(times: int, measure: Callable[[], Measured]) -> Measured:
    """The fastest of several measurements."""
    return min((measure() for _ in range(times)), key=lambda measured: measured.seconds)


def row(what: str, *measured: Measured, target: Target = NO_TARGET, **more: float) -> Row:
    """A row of what was measured, added up where it is several things one after the other."""
    seconds, cpu_seconds = sum(each.seconds for each in measured), sum(each.cpu_seconds for each in measured)
    peak = max(each.peak_mb for each in measured)
    numbers = {"seconds": seconds, "cpu_seconds": cpu_seconds, "peak_mb": peak, **more}
    return Row(what, numbers, target)


Timed = tuple[str, Measured]


def beside(theirs: Timed, ours: Timed, target: Target, difference: float) -> Iterator[Row]:
    """The peer's row, and ours with how many times as fast it is and how far its numbers are apart."""
    yield row(*theirs, ratio=1.0)
    yield row(*ours, target=target, ratio=theirs[1].seconds / ours[1].seconds, difference=difference)


def high_water_mark(pid: int) -> int:
    """A process's peak memory in bytes, 0 if unknown. (On Linux a child's `ru_maxrss` begins with its parent's.)"""
    try:
        mark = re.search(r"VmHWM:\s*(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    except OSError:
        return 0
    return int(mark[1]) * 1024 if mark else 0


def _children_worked() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _memory(pid: int) -> int:
    resident = 0
    with suppress(psutil.Error):
        root = psutil.Process(pid)
        for process in (root, *root.children(recursive=True)):
            with suppress(psutil.Error):
                resident += process.memory_info().rss
    return max(resident, high_water_mark(pid))


def _number(answer: Mapping[str, object], name: str) -> float:
    value = answer[name]
    assert isinstance(value, (int, float))
    return value


STAGES = ("ingest", "evaluate", "report")
# Data whose items cannot all be scored is measured all the same.
DONE = (Exit.DONE, Exit.INCOMPLETE)


Parts = dict[str, tuple[int, int]]
"""Every part of a lake by its path, with what tells whether it was written anew."""


@dataclass(frozen=True)
class Job:
    """A lake and a site in a folder, which need not exist, and where the raw data is."""

    settings: Settings
    folder: Path

    @property
    def lake(self) -> Path:
        """The lake."""
        return self.folder / "lake"

    def stage(self, name: str, *arguments: str) -> Measured:
        """Run one stage."""
        given = {
            "ingest": ["--source", self.settings.source],
            "evaluate": [],
            "report": ["--site", str(self.folder / "site")],
        }
        options = [*given[name], "--lake", str(self.lake), "--json", "--quiet", *arguments]
        return command(["-m", name, *options], allowed=DONE)

    def stages(self, *ingest: str) -> dict[str, Measured]:
        """Run all of them; ingest is given these arguments."""
        return {name: self.stage(name, *(ingest if name == "ingest" else ())) for name in STAGES}

    def parts(self) -> Parts:
        """The state of the lake."""
        states = ((path, path.stat()) for path in sorted(self.lake.rglob("*.parquet")))
        return {path.relative_to(self.lake).as_posix(): (stat.st_ino, stat.st_mtime_ns) for path, stat in states}


def _child() -> None:
    """The child's side: `python -m tests.bench._measure module:function arguments…` calls it and says what it cost."""
    where, *arguments = sys.argv[1:]
    module, _, name = where.partition(":")
    function = getattr(importlib.import_module(module), name)
    watch = Stopwatch()
    answer = function(*arguments) or {}
    cost = watch.read()
    # What the function says wins: one that warms up first times itself.
    print(json.dumps({**cost, "peak_mb": high_water_mark(os.getpid()) / MEGABYTE, **answer}))


if __name__ == "__main__":
    _child()
