"""What ingesting makes again after a change: all that the changed code or rows made, and nothing else."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.changed_code import changed
from tests.ingest import boats
from tests.tiny import CHUNKERS, Said, build, command, stored

SYNTAX = "syntax-800"
CUT = ("chunk_status", "chunks", "rejects")
READ = ("gold_spans", "items", "queries", "rejects")
SYMBOLS = ("rejects", "symbol_rules", "symbol_status", "symbols")


def _ingest(home: Path, *benchmarks: str) -> Said:
    arguments = ["--source", home / "source", "--lake", home / "lake", "--chunkers", ",".join([*CHUNKERS, SYNTAX])]
    return command("ingest", *benchmarks, *arguments)


@pytest.fixture(scope="module")
def _once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("current")
    build(home / "source" / "repoeval")
    boats.source(home / "source" / "repobench-r")
    _ingest(home, "repoeval", "repobench-r")
    return home


def _made(home: Path, before: dict[str, bytes]) -> dict[str, set[str]]:
    """Table → the folders below it of the parts that are other than before."""
    after = stored(home / "lake")
    paths = [path for path in {*before, *after} if before.get(path) != after.get(path)]
    found: dict[str, set[str]] = {}
    for path in paths:
        name, *folders = path.split("/")
        found.setdefault(name, set()).add("/".join(folders[:-1]))
    return found


@pytest.fixture
def home(_once: Path, tmp_path: Path) -> Path:
    """Two benchmarks that were ingested; each test has a copy of its own."""
    return shutil.copytree(_once, tmp_path / "home")


@pytest.mark.parametrize(
    ("module", "tables"),
    [
        ("ingest/contents/chunkers/window.py", {*CUT, "chunkers"}),
        ("ingest/contents/blobs.py", {*CUT, *SYMBOLS, *READ, "blobs", "chunkers"}),
        ("ingest/contents/definitions/rules.py", {*SYMBOLS}),
        ("ingest/runs/formats/rankings.py", set[str]()),
    ],
)
def test_a_change_of_code_makes_again_what_it_made(home: Path, module: str, tables: set[str]) -> None:
    before = stored(home / "lake")
    with changed(module):
        _ingest(home, "repoeval", "repobench-r")
    made = _made(home, before)
    assert made.keys() == tables, module
    if "window" in module:
        assert made["chunks"] == {"chunker=window-4-2"}
