"""A ContextBench of two made-up repositories, and what tests do with it."""

import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import polars as pl

from ingest import benchmarks
from ingest.benchmarks.declaration import Benchmark
from ingest.sources.tree import Entry
from lake.declarations import discover
from lake.store import Lake
from tests import tiny
from tests.tiny import put

Row = dict[str, object]
File = tuple[str, str | None, str | bytes | None]
"""Path, blob_sha and content."""

COMMIT, OTHER_COMMIT = "a" * 40, "b" * 40

ENGINE = "class Engine:\n    def burn(self):\n        return 1\n\n\ndef main():\n    pass\n"
"""Seven lines."""

FILES: Mapping[str, str] = {"src/engine.py": ENGINE, "README.md": "# Rockets\n", ".github/workflow.yml": "on: push\n"}

COMMITTED = [("100644", path, text.encode()) for path, text in FILES.items()]
"""The files as git has them."""
PATCH = """\
--- a/src/engine.py
+++ b/src/engine.py
@@ -2,2 +2,2 @@ class Engine:
     def burn(self):
-        return 1
+        return 2
"""


def span(file: str, start: object, end: object, content: str = "") -> Row:
    return {"file": file, "start_line": start, "end_line": end, "content": content}


BURN = span("/testbed/src/engine.py", 2, 3, "    def burn(self):\n        return 1")


def upstream(item_id: str) -> str:
    """The `instance_id` of a row: it names no repository."""
    return f"Made__python__{item_id.replace('-', '_')}"


def row(item_id: str = "acme__rockets-1", gold: object = (BURN,), /, **columns: object) -> Row:
    """A row of `acme/rockets` as the published files have it; the gold is written as JSON unless it is a text."""
    return {
        "instance_id": upstream(item_id),
        "original_inst_id": item_id,
        "repo": "acme/rockets",
        "language": "python",
        "base_commit": COMMIT,
        "gold_context": gold if isinstance(gold, (str, float)) or gold is None else json.dumps(gold),
        "patch": PATCH,
        "problem_statement": f"{item_id} burns too little",
        "source": "Made",
        **columns,
    }


def parquet(columns: Mapping[str, object] | Sequence[Row]) -> bytes:
    stream = io.BytesIO()
    pl.DataFrame(columns).write_parquet(stream)
    return stream.getvalue()


def blob_id(content: bytes) -> str:
    return hashlib.sha1(b"blob " + str(len(content)).encode() + b"\0" + content, usedforsecurity=False).hexdigest()


def repo_parquet(files: Mapping[str, str] = FILES) -> bytes:
    rows = [(path, blob_id(content.encode()), content) for path, content in files.items()]
    return parquet({name: [file[n] for file in rows] for n, name in enumerate(("path", "blob_sha", "content"))})


def build(
    root: Path, rows: Sequence[Row] = (row(),), *, files: Mapping[str, bytes] | None = None, name: str = "rows.parquet"
) -> Path:
    """A folder `contextbench` with rows as Parquet, and with `repo_files`; the folder around it."""
    put(root / "contextbench" / name, parquet(rows))
    for file, data in ({"acme__rockets-1.parquet": repo_parquet()} if files is None else files).items():
        put(root / "contextbench" / "repo_files" / file, data)
    return root


def contextbench() -> Benchmark:
    return discover(benchmarks, Benchmark)["contextbench"]


WITHOUT_SYMBOLS = replace(contextbench(), needs_symbols=False)
ingested = partial(tiny.ingested, benchmark=WITHOUT_SYMBOLS, subsets=["full"], chunkers=[])


def items(lake: Path) -> dict[str, Row]:
    return {str(item["item_id"]): item for item in Lake(lake).read("items").rows(named=True)}


def why_not(lake: Path) -> dict[str, object]:
    return {name: item["why_not"] for name, item in items(lake).items()}


def rejected(lake: Path) -> list[tuple[str, str, str]]:
    return Lake(lake).read("rejects").select("source", "position", "reason").rows()


def gold(lake: Path, rule: str = "context") -> list[tuple[object, ...]]:
    """Item, path, lines and times of the gold spans under a rule."""
    spans = Lake(lake).read("gold_spans").filter(gold=rule)
    return spans.select("item_id", "path", "line_start", "line_end", "times").rows()


def entry(path: str, data: bytes) -> Entry:
    return Entry(path, lambda: io.BytesIO(data))
