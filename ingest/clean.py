"""Deleting what of a lake can be made again from its sources; the rest is kept and named."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

from lake.naming import IMPORT_REJECTS
from lake.store import Lake, Part
from lake.tables import TABLES
from lake.text import counted, listed
from lake.wholeness import ASIDE

CACHE = "cache"
"""The folder of a lake that holds downloads and clones."""


def delete_all(lake: Lake) -> None:
    """Delete a lake, and nothing that lies beside it in its folder."""
    for name in (*TABLES, ASIDE, CACHE):
        shutil.rmtree(lake.root / name, ignore_errors=True)


def clean(lake: Lake) -> Iterator[str]:
    """Delete what can be made again, under the caller's lock; say what is kept: imported runs, vectors, downloads."""
    runs = lake.scan("runs").filter(origin="imported").select("run_id", "system", "benchmark").collect()
    kept = {"run_id": {*runs["run_id"]}, "benchmark": {*runs["benchmark"]}}
    for part in [part for name in TABLES for part in lake.parts(name)]:
        if not _is_of(part, **kept):
            lake.remove(part)
    shutil.rmtree(lake.root / ASIDE, ignore_errors=True)
    if runs.height:
        yield f"{counted(runs.height, 'imported run')}: {listed(runs['system'].unique().sort().to_list())}"
    if any(lake.parts("vectors")):
        yield "vectors"
    if n_bytes := sum(file.lstat().st_size for file in (lake.root / CACHE).rglob("*")):
        yield f"downloads, {n_bytes / 1e6:,.1f} MB"


def _is_of(part: Part, *, run_id: set[str], benchmark: set[str]) -> bool:
    """Whether a part is of some imported runs, or the row of one of some benchmarks."""
    match part.table:
        case "runs" | "run_items" | "hits" | "edits" | "usage" | "costs":
            return part.folders["run_id"] in run_id
        case "rejects":
            return part.name.removeprefix(IMPORT_REJECTS) in run_id
        case "benchmarks":
            return part.name in benchmark
        case name:
            return name == "vectors"
