import ctypes
import itertools
import os
import re
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
    finishes_as_before,
    start,
)
from tests.tiny import ROOT, leftovers, stored

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
        finishes_as_before(home / "source", lake, whole, stages=n_stages)
        # What was ranked is not ranked again.
        assert {path: path.stat().st_mtime_ns for path in ranked} == ranked


@pytest.mark.parametrize(
    ("stage", "sent", "code", "why"),
    [
        ("ingest", signal.SIGINT, Exit.INTERRUPTED, "interrupted"),
        ("evaluate", signal.SIGTERM, Exit.TERMINATED, "ended by SIGTERM"),
    ],
)
def test_signals(home: Path, tmp_path: Path, stage: str, sent: signal.Signals, code: Exit, why: str) -> None:
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
        assert "another command is writing to this lake; waiting for it to end" in child.stderr.readline()
        os.kill(child.pid, sent)
        out, err = child.communicate(timeout=300)
    assert (child.returncode, out) == (code, "")
    assert f"{why}. Finished work is kept; run the same command again to continue." in err
    assert "Traceback" not in err
    finishes_as_before(home / "source", lake, stored(home / "lake2"))


PR_CAPBSET_DROP = 24
CAP_DAC_OVERRIDE = 1


def test_runs_at_once_on_one_lake_all_end_well_and_leave_what_one_leaves(home: Path, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    children = [start(home / "source", lake) for _ in range(3)]
    for child in children:
        child.join()
    assert [child.exitcode for child in children] == [0, 0, 0]
    assert stored(lake) == stored(home / "lake2")
    assert leftovers(lake) == []


def _obeys_permissions() -> None:
    """Root may write anywhere; without this capability it is held to a folder's mode like anyone else."""
    ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE)


def test_a_lake_that_may_not_be_written_is_a_clear_error(home: Path, tmp_path: Path) -> None:
    lake = tmp_path / "closed"
    finish(home / "source", lake, stages=1)
    closed = [folder for folder in (lake, *lake.rglob("*")) if folder.is_dir()]
    before = stored(lake)
    for folder in closed:
        folder.chmod(0o500)
    (lake / ".lock").chmod(0o400)
    try:
        run = subprocess.run(
            [sys.executable, "-m", "evaluate", "--lake", str(lake)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=_obeys_permissions,
        )
    finally:
        for folder in closed:
            folder.chmod(0o700)
    assert run.returncode == Exit.ERROR, run.stderr
    assert "evaluate: the lake could not be written: Permission denied" in run.stderr
    assert "LAKE=" in run.stderr
    assert "Traceback" not in run.stderr
    assert stored(lake) == before


@pytest.mark.parametrize("file_bytes", [0, 5000])
def test_a_full_disk_is_an_error_and_leaves_nothing_half_written(home: Path, tmp_path: Path, file_bytes: int) -> None:
    lake, err = tmp_path / "lake", tmp_path / "stderr"
    largest = max(len(data) for data in stored(home / "lake2").values())
    assert largest > 8000
    child = start(home / "source", lake, Harm(file_bytes=file_bytes), log=None if file_bytes < 2000 else err)
    child.join()
    assert child.exitcode == Exit.ERROR
    if err.exists():
        assert re.search(r"the lake could not be written: (File too large|is the disk full\?)", err.read_text())
        assert "No partial file is left;" in err.read_text()
        assert "MB are free." in err.read_text()
        assert "Traceback" not in err.read_text()
    assert leftovers(lake) == []
    every_part_is_whole(lake)
    assert stored(lake).items() <= stored(home / "lake2").items()
    finishes_as_before(home / "source", lake, stored(home / "lake2"))
