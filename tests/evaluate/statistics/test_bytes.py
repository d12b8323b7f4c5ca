"""Two runs from the same lake give the same bytes, on however many threads."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.tiny import ROOT, build, ingested, stored


def test_two_runs_from_the_same_lake_give_byte_equal_tables_on_any_number_of_threads(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    ingested(first, build(tmp_path / "source"), chunkers=["whole-file"])
    shutil.copytree(first, second)
    for lake, threads in ((first, "1"), (second, "4")):
        command = [sys.executable, "-m", "evaluate", "--lake", str(lake), "--quiet"]
        numbers = dict.fromkeys(("POLARS_MAX_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), threads)
        subprocess.run(command, cwd=ROOT, env={**os.environ, **numbers}, check=True, capture_output=True)
    tables = stored(first)
    assert any(path.startswith("aggregates/") for path in tables)
    assert tables == stored(second)
