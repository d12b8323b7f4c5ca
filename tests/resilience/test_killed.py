"""Killed at any moment: nothing half-written is to be seen, and the next run ends as if nothing had been."""

import itertools
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lake.errors import Exit
from lake.store import Lake
from tests.resilience.stages import (
    SYSTEMS,
    Harm,
    Moment,
    every_part_is_whole,
    finish,
    finishes_as_if_nothing_had_been,
    start,
)
from tests.tiny import ROOT, stored

KILLED = -signal.SIGKILL
MOMENTS: tuple[Moment, ...] = ("before", "after", "after")


def _writes(lake: Path) -> list[Path]:
    """Its parts, in the order in which they were written."""
    return sorted(lake.rglob("part-*.parquet"), key=lambda path: path.stat().st_mtime_ns)


def _first_of_each_table(lake: Path) -> list[int]:
    """At which write a table's first part came, counted from 1, and the last write of all."""
    tables = [path.relative_to(lake).parts[0] for path in _writes(lake)]
    return sorted({tables.index(name) + 1 for name in tables} | {len(tables)})


def test_ingest_killed_at_the_first_write_of_each_table(home: Path, tmp_path: Path) -> None:
    whole, numbers = stored(home / "lake1"), _first_of_each_table(home / "lake1")
    assert len(numbers) > 8
    for number, moment in zip(numbers, itertools.cycle(MOMENTS), strict=False):
        lake = tmp_path / f"lake{number}"
        child = start(home / "source", lake, Harm(stages=1, killed_at=number, moment=moment))
        child.join()
        assert child.exitcode == KILLED
        every_part_is_whole(lake)
        assert len(_writes(lake)) == number - (moment == "before")
        finishes_as_if_nothing_had_been(home / "source", lake, whole, stages=1)


def test_evaluate_killed_at_its_writes(home: Path, tmp_path: Path) -> None:
    whole = stored(home / "lake2")
    # A table of declarations, two of the first run, and the last write of all.
    numbers = [1, 6, 8, len(_writes(home / "lake2")) - len(_writes(home / "lake1"))]
    for number, moment in zip(numbers, itertools.cycle(MOMENTS), strict=False):
        lake = shutil.copytree(home / "lake1", tmp_path / f"lake{number}")
        child = start(home / "source", lake, Harm(killed_at=number, moment=moment))
        child.join()
        assert child.exitcode == KILLED
        every_part_is_whole(lake)
        finishes_as_if_nothing_had_been(home / "source", lake, whole)


def test_killed_at_moments_spread_over_its_run(home: Path, tmp_path: Path) -> None:
    whole = stored(home / "lake2")
    started = time.perf_counter()
    undisturbed = start(home / "source", tmp_path / "undisturbed")
    undisturbed.join()
    seconds = time.perf_counter() - started
    assert stored(tmp_path / "undisturbed") == whole
    drawn = random.Random(20240607)
    n_killed = 0
    # One after the other, so that what a killed run left is killed again while it is mended.
    lake = tmp_path / "lake"
    for _ in range(5):
        child = start(home / "source", lake)
        child.join(drawn.uniform(0.02, 0.3) * seconds)
        child.kill()
        child.join()
        n_killed += child.exitcode == KILLED
        every_part_is_whole(lake)
    finishes_as_if_nothing_had_been(home / "source", lake, whole)
    assert n_killed >= 2


@pytest.mark.parametrize(
    ("stage", "sent", "code", "why"),
    [
        ("ingest", signal.SIGINT, Exit.INTERRUPTED, "interrupted"),
        ("evaluate", signal.SIGTERM, Exit.TERMINATED, "ended by SIGTERM"),
    ],
)
def test_a_signal_says_how_to_go_on_and_the_next_run_goes_on(
    home: Path, tmp_path: Path, stage: str, sent: signal.Signals, code: Exit, why: str
) -> None:
    lake = tmp_path / "lake"
    if stage == "evaluate":
        finish(home / "source", lake, stages=1)
    arguments = {
        "ingest": ["repoeval", "--source", str(home / "source"), "--chunkers", "whole-file"],
        "evaluate": ["--systems", SYSTEMS],
    }
    # Another writer holds the lake, so the stage is surely still at work when it is interrupted.
    with Lake(lake).locked():
        child = subprocess.Popen(
            [sys.executable, "-m", stage, *arguments[stage], "--lake", str(lake)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert child.stderr is not None
        assert "another run is writing to this lake; waiting for it to end" in child.stderr.readline()
        os.kill(child.pid, sent)
        out, err = child.communicate(timeout=20)
    assert (child.returncode, out) == (code, "")
    assert f"{why}. What is finished is kept; run the same command again to go on." in err
    assert "Traceback" not in err
    finishes_as_if_nothing_had_been(home / "source", lake, stored(home / "lake2"))
