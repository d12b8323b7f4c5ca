import shutil
from pathlib import Path

import pytest

from tests.changed_code import changed
from tests.ingest.benchmarks.repobench_r import test_repobench
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
    test_repobench.put(home / "source" / "repobench-r", [test_repobench.row()], [test_repobench.row(10, 9)])
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
        ("ingest/contents/chunkers/syntax.py", {*CUT, "chunkers"}),
        ("ingest/contents/blobs.py", {*CUT, *SYMBOLS, *READ, "blobs", "chunkers"}),
        ("ingest/contents/definitions.py", {*SYMBOLS}),
        ("ingest/runs/formats/rankings.py", set[str]()),
    ],
)
def test_a_change_of_code_makes_again_what_it_made(home: Path, module: str, tables: set[str]) -> None:
    before = stored(home / "lake")
    with changed(module):
        _ingest(home, "repoeval", "repobench-r")
    made = _made(home, before)
    assert made.keys() == tables, module
    if "syntax" in module:
        assert made["chunks"] == {f"chunker={SYNTAX}"}
