import json
import shutil
from pathlib import Path

import pytest

from tests.changed_code import changed
from tests.tiny import CHUNKERS, Row, Said, build, command, put, stored

PLANK = """\
def plank(length, width):
    area = length * width
    return area
"""
MAST = """\
def mast(height):
    stays = 3
    return height * stays
"""


def row(repo: str, path: str, gold: str, code: str, imports: str = "from boats.hull import plank") -> Row:
    context = ["def other(x):\n    return x\n", gold, "def third(y):\n    return -y\n"]
    return {
        "repo_name": repo,
        "file_path": path,
        "context": context,
        "import_statement": imports,
        "code": code,
        "next_line": "area = plank(2, 3)",
        "golden_snippet_index": 1,
    }


ROWS = (
    row("acme/boats", "boats/sail.py", PLANK.replace("    ", "\t"), "def area(length, width):\n    # plank\n"),
    row("acme/boats", "boats/hull.py", MAST, "stays = mast(height)\nheight = 3\n", "from boats.rigging import mast"),
    row("acme/boats", "boats/paint.py", "def paint(colour):\n    return colour\n", "colour = 1\n"),
    row("acme/boats", "boats/oar.py", "def oar(blade):\n    return blade\n", "blade = 1\n"),
    row("acme/ghost", "ghost.py", PLANK, "plank = 1\n"),
)


def source(folder: Path) -> Path:
    lines = b"".join(json.dumps(one).encode() + b"\n" for one in ROWS)
    put(folder / "data" / "python_cff_test_easy.jsonl", lines)
    return folder


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
    source(home / "source" / "repobench-r")
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
