"""RepoBench-R rows about two made-up repositories."""

from __future__ import annotations

import json
from pathlib import Path

from tests.tiny import Row, put

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
    """A row of three candidates, the second of which is right."""
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
    """The rows in RepoBench-R's layout."""
    lines = b"".join(json.dumps(one).encode() + b"\n" for one in ROWS)
    put(folder / "data" / "python_cff_test_easy.jsonl", lines)
    return folder
