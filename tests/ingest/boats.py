"""RepoBench-R rows about a made-up repository that can be cloned, and one that cannot."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from tests.ingest.sources.git_remotes import Remote
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
HULL = f"""\
{PLANK}

def hull(n_planks):
    return n_planks * plank(4, 2)
"""
RIGGING = f"""\
import math


{MAST}

def boom(length):
    return math.sqrt(length)
"""
# Its own copy of the gold snippet would be the first to be found.
SAIL = f"""\
from boats.hull import plank

{PLANK}
print(plank(1, 2))
"""
FILES: Mapping[str, str] = {
    "boats/hull.py": HULL,
    "boats/rigging.py": RIGGING,
    "boats/sail.py": SAIL,
    "boats/paint.py": "def paint(colour):\n    return colour\n",
    "README.md": PLANK,
    "boats/Other.java": "class Other {}\n",
}


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
    # White space is another than in the repository.
    row("acme/boats", "boats/sail.py", PLANK.replace("    ", "\t"), "def area(length, width):\n    # plank\n"),
    row("acme/boats", "boats/hull.py", MAST, "stays = mast(height)\nheight = 3\n", "from boats.rigging import mast"),
    # It is in its own file alone.
    row("acme/boats", "boats/paint.py", FILES["boats/paint.py"], "colour = 1\n"),
    row("acme/boats", "boats/oar.py", "def oar(blade):\n    return blade\n", "blade = 1\n"),
    row("acme/ghost", "ghost.py", PLANK, "plank = 1\n"),
)


def remote(base: Path) -> Remote:
    """The repository to clone, not yet committed to."""
    return Remote(base)


def commit(repository: Remote, files: Mapping[str, str] = FILES) -> str:
    """Put the files on its main branch; the commit."""
    return repository.commit(*(("100644", path, text.encode()) for path, text in files.items()))


def source(folder: Path) -> Path:
    """The rows in RepoBench-R's layout."""
    lines = b"".join(json.dumps(one).encode() + b"\n" for one in ROWS)
    put(folder / "data" / "python_cff_test_easy.jsonl", lines)
    return folder
