"""Builds of one lake: the same bytes from any process; and of a lake in which one value is another."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def files(site: Path) -> dict[str, bytes]:
    return {path.relative_to(site).as_posix(): path.read_bytes() for path in sorted(site.rglob("*")) if path.is_file()}


def test_another_process_with_other_hashes_and_one_thread_writes_the_same_bytes(
    hostile_site: Path, tmp_path: Path
) -> None:
    environment = {**os.environ, "PYTHONHASHSEED": "7", "POLARS_MAX_THREADS": "1", "TZ": "Asia/Kathmandu", "LANG": "C"}
    places = ["--lake", str(hostile_site.parent / "lake"), "--site", str(tmp_path / "site")]
    subprocess.run([sys.executable, "-m", "report", *places, "--quiet"], check=True, env=environment)
    ours, theirs = files(hostile_site), files(tmp_path / "site")
    assert [name for name in {*ours, *theirs} if ours.get(name) != theirs.get(name)] == []
