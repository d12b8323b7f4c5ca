"""A ContextBench of three issues in two made-up repositories, and agents' records of work on them."""

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import polars as pl
import pytest

from ingest.benchmarks.declaration import SubsetRows
from ingest.contents.blobs import pool_frames
from lake.store import Lake
from tests.frames import write
from tests.ingest.runs import imports
from tests.once import linked
from tests.tiny import put

ROCKETS, ORBITS, CATS = "acme__rockets-1", "acme__rockets-2", "zoo__cats-7"
ITEMS = (ROCKETS, ORBITS, CATS)
UPSTREAM = {ROCKETS: "SWE-Bench-Verified__python__1", ORBITS: "SWE-Bench-Verified__python__2", CATS: "Poly__js__3"}

ENGINE = "import math\n\n\ndef burn(fuel):\n    return math.sqrt(fuel)\n"
FILES: Mapping[str, Mapping[str, str]] = {
    "contextbench/acme/rockets@1": {
        "src/engine.py": ENGINE,
        "src/orbit.py": "def orbit():\n    return 1\n",
        "engine.py": "x = 1\n",
    },
    "contextbench/acme/rockets@1#rest": {"README.md": "# Rockets\n\nThey fly.\n"},
    "contextbench/zoo/cats@7": {"lib/cat.js": "const purr = 1\nconst meow = 2\n"},
}
POOL = {ROCKETS: "acme/rockets@1", ORBITS: "acme/rockets@1", CATS: "zoo/cats@7"}

PATCH = """\
diff --git a/src/engine.py b/src/engine.py
--- a/src/engine.py
+++ b/src/engine.py
@@ -4,2 +4,2 @@
 def burn(fuel):
-    return math.sqrt(fuel)
+    return math.cbrt(fuel)
"""

Json = Mapping[str, object]


def issues(root: Path, *, unscorable: Sequence[str] = ()) -> Lake:
    """A lake that holds the three issues, their trees and contents."""
    lake = Lake(root)
    row = {"place": 1, "name": "contextbench", "title": "Issues", "meaning": "Issues."}
    write(lake, "benchmarks", [row], part="contextbench")
    rows = [
        {"item_id": item, "subset": "full", "language": "python", "repo": POOL[item].partition("@")[0],
         "pool_id": f"contextbench/{POOL[item]}", "upstream_id": UPSTREAM[item], "scorable": item not in unscorable,
         "why_not": "no gold" if item in unscorable else None}
        for item in ITEMS
    ]  # fmt: skip
    write(lake, "items", rows, part="full", benchmark="contextbench")
    texts = ((item, "problem-statement", item) for item in ITEMS)
    queries = SubsetRows.of([], texts, [], ()).named("contextbench").queries
    lake.write("queries", queries, part="full", fingerprint="1", benchmark="contextbench", query="problem-statement")
    for kind, rest in (("searched", False), ("rest", True)):
        pools = {pool: files for pool, files in FILES.items() if pool.endswith("#rest") == rest}
        files, blobs = pool_frames(
            (pool, path, text.encode()) for pool, held in pools.items() for path, text in held.items()
        )
        lake.write("files", files, part="all", fingerprint="1", benchmark="contextbench", kind=kind)
        lake.write("blobs", blobs, part=kind, fingerprint="1")
    return lake


@pytest.fixture
def lake(issues_once: Path, tmp_path: Path) -> Lake:
    return Lake(linked(issues_once, tmp_path / "lake"))


def unified(item: str = ROCKETS, **changes: object) -> dict[str, object]:
    """A prediction in the unified form: one step, a final context of three lines, a patch."""
    steps = [{"files": ["src/engine.py"], "spans": {"src/engine.py": [{"type": "line", "start": 1, "end": 5}]}}]
    data: dict[str, object] = {
        "pred_steps": steps,
        "pred_files": ["src/engine.py"],
        "pred_spans": {"src/engine.py": [{"type": "line", "start": 3, "end": 5}]},
    }
    row: dict[str, object] = {"instance_id": item, "model_patch": PATCH, "traj_data": data}
    for key, value in changes.items():
        (row if key in row else data)[key] = value
    return row


def spans(**by_file: tuple[object, object]) -> list[object]:
    return [{"spans": {path: [{"type": "line", "start": a, "end": b}] for path, (a, b) in by_file.items()}}]


def jsonl(*rows: Json) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def zipped(entries: Mapping[str, bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in entries.items():
            archive.writestr(path, content)
    return data.getvalue()


def laid_out(folder: Path, entries: Mapping[str, bytes]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for path, content in entries.items():
        put(folder / path, content)
    return folder


imported = partial(imports.imported, name="given.jsonl", benchmark="contextbench", system="agent")
refused = partial(imports.refused, name="given.jsonl", benchmark="contextbench", system="agent")


def hits(lake: Lake, *columns: str, part: str = "step", item: str = ROCKETS) -> list[tuple[object, ...]]:
    rows = lake.read("hits").filter(pl.col("item_id") == item, pl.col("part") == part).sort("step", "rank")
    return rows.select(columns or ("path_given", "line_start", "line_end")).rows()


def of_item(lake: Lake, *columns: str, item: str = ROCKETS) -> tuple[object, ...]:
    return lake.read("run_items").filter(pl.col("item_id") == item).select(columns).row(0)


def rejected(lake: Lake) -> list[tuple[object, ...]]:
    return lake.read("rejects").select("source", "position", "reason").rows()
