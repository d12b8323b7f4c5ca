import itertools
import os
import shutil
import signal
import subprocess
import sys
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


@pytest.mark.parametrize("stage", ["ingest", "evaluate"])
def test_a_stage_killed_at_its_writes_is_taken_up_again(home: Path, tmp_path: Path, stage: str) -> None:
    n_stages = 1 if stage == "ingest" else 2
    whole, n_ingested = stored(home / f"lake{n_stages}"), len(_writes(home / "lake1"))
    tables = [path.relative_to(home / "lake1").parts[0] for path in _writes(home / "lake1")]
    # At which write a table's first part came, counted from 1, and the last write of all.
    numbers = sorted({tables.index(name) + 1 for name in tables} | {len(tables)})
    assert len(numbers) > 8
    if stage == "evaluate":
        # A table of declarations, two of the first run, and the last write of all.
        numbers = [1, 6, 8, len(_writes(home / "lake2")) - n_ingested]
    for number, moment in zip(numbers, itertools.cycle(MOMENTS), strict=False):
        lake = tmp_path / f"lake{number}"
        if stage == "evaluate":
            shutil.copytree(home / "lake1", lake)
        child = start(home / "source", lake, Harm(stages=n_stages, killed_at=number, moment=moment))
        child.join()
        assert child.exitcode == KILLED
        every_part_is_whole(lake)
        assert stage == "evaluate" or len(_writes(lake)) == number - (moment == "before")
        ranked = {path: path.stat().st_mtime_ns for path in lake.glob("run_items/**/*.parquet")}
        finishes_as_if_nothing_had_been(home / "source", lake, whole, stages=n_stages)
        # What was ranked is not ranked again.
        assert {path: path.stat().st_mtime_ns for path in ranked} == ranked


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
