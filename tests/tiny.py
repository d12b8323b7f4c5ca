"""A RepoEval of five questions in two made-up repositories, and what tests do with it: ingest, evaluate, compare."""

import importlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from unittest.mock import patch

import pytest

from ingest import benchmarks
from ingest.benchmarks.declaration import Benchmark
from ingest.commands.read import open_source
from ingest.contents.chunkers import NamedChunker
from ingest.contents.chunkers_by_name import resolve_chunkers
from ingest.contents.processes import Workers
from ingest.pipeline import ingest
from ingest.sources.tree import Source
from lake.console import run
from lake.declarations import discover
from lake.engine import IN_PROCESS
from lake.errors import Exit, GoldspanError
from lake.outcome import Outcome
from lake.store import Lake

ROOT = Path(__file__).parents[1]
CHUNKERS = ("whole-file", "window-4-2")

Row = dict[str, object]

ENGINE = """\
import math


class Engine:
    def __init__(self, thrust):
        self.thrust = thrust

    def burn(self, seconds):
        fuel = self.thrust * seconds
        return fuel

    def delta_v(self, mass):
        # Tsiolkovsky
        ratio = mass / (mass - self.thrust)
        return math.log(ratio)
"""
ORBIT = """\
from rockets.engine import Engine


def circular(radius):
    speed = (398600 / radius) ** 0.5
    return speed


def transfer(inner, outer):
    first = circular(inner)
    second = circular(outer)
    return abs(first - second)
"""
CATS = """\
def purr(volume):
    return "r" * volume


def meow(times):
    sound = "meow " * times
    return sound.strip()
"""
DOGS = """\
def bark(times):
    sound = "wau " * times
    return sound.strip()


def fetch(stick):
    return stick
"""

REPOSITORIES: Mapping[str, bytes] = {
    "acme_rockets/rockets/__init__.py": b"",
    "acme_rockets/rockets/engine.py": ENGINE.replace("\n", "\r\n").encode(),
    "acme_rockets/rockets/orbit.py": ORBIT.replace("\n", "\r\n").encode(),
    "acme_rockets/README.md": b"# Rockets\n",
    "acme_rockets/.hidden/secret.py": b"secret = 1\n",
    "acme_rockets/rockets/__pycache__/cached.py": b"cached = 1\n",
    "zoo_animals/cats.py": CATS.encode(),
    "zoo_animals/dogs.py": DOGS.encode(),
    "zoo_animals/copy/cats.py": CATS.encode(),
}
"""Path below the level's folder → bytes: CRLF in one repository, LF in the other, one content under two paths."""


def task(repo: str, path: str, text: str, context_start: int, lineno: int, n: int, /, **other: object) -> Row:
    """A row as RepoEval has it, cut from a text: the prompt's lines, then `n` lines to be completed."""
    lines = text.replace("\r\n", "\n").splitlines(keepends=True)
    return {
        "prompt": "".join(lines[context_start:lineno]).rstrip(),
        "metadata": {
            "task_id": f"{repo.replace('_', '--', 1)}/idx",
            "ground_truth": "".join(lines[lineno : lineno + n]),
            "fpath_tuple": [repo, *path.split("/")],
            "context_start_lineno": context_start,
            "lineno": lineno,
            **other,
        },
    }


TASKS: Sequence[Row] = (
    task("acme_rockets", "rockets/engine.py", ENGINE, 0, 8, 2),
    task("zoo_animals", "cats.py", CATS, 0, 5, 2),
    task("acme_rockets", "rockets/engine.py", ENGINE, 7, 12, 3),
    task("acme_rockets", "rockets/orbit.py", ORBIT, 0, 9, 3),
    task("zoo_animals", "dogs.py", DOGS, 0, 6, 1),
)


def task_file(level: str = "function", context: str = "2k", tokenizer: str = "codex") -> str:
    """The name upstream gives a task file."""
    return f"{level}_level_completion_{context}_context_{tokenizer}.test.jsonl"


def jsonl(rows: Sequence[Row]) -> bytes:
    r"""Rows as JSON Lines with `\r\n` ends, as upstream has them."""
    return b"".join(json.dumps(row).encode() + b"\r\n" for row in rows)


def put(file: Path, data: bytes) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    return file


def build(
    root: Path,
    rows: Sequence[Row] | bytes = TASKS,
    *,
    repositories: Mapping[str, bytes] = REPOSITORIES,
    level: str = "function",
    context: str = "2k",
) -> Path:
    """Lay a source folder out as upstream does: `datasets/*.jsonl` and `repositories/<level>/<repo>/`."""
    put(root / "datasets" / task_file(level, context), rows if isinstance(rows, bytes) else jsonl(rows))
    folder = "function_level" if level == "function" else "line_and_api_level"
    for path, data in repositories.items():
        put(root / "repositories" / folder / path, data)
    return root


def repoeval() -> Benchmark:
    return discover(benchmarks, Benchmark)["repoeval"]


def opened(folder: Path, benchmark: Benchmark) -> Source:
    return open_source(str(folder), benchmark.name, markers=benchmark.markers, cache=folder / "cache")


def ingested(
    lake: Path,
    source: Path,
    *,
    benchmark: Benchmark | None = None,
    subsets: Sequence[str] = ("function-2k",),
    chunkers: Sequence[str | NamedChunker] = CHUNKERS,
    limit: int | None = None,
) -> Outcome:
    """Ingest a source folder into a lake, as the command does; chunkers by their names, or as they are."""
    store, of = Lake(lake), benchmark or repoeval()
    cut_by = [each for it in chunkers for each in (resolve_chunkers([it]) if isinstance(it, str) else [it])]
    with store.locked(), Workers(IN_PROCESS) as workers:
        return ingest(store, of, opened(source, of), subsets=subsets, chunkers=cut_by, workers=workers, limit=limit)


@dataclass(frozen=True)
class Said:
    """What a command answered: its exit status, stdout and stderr."""

    code: int
    out: str
    err: str

    def ended(self, code: int, *texts: str) -> Self:
        """The same, of a command that ended with this status, has these texts in stderr and showed no traceback."""
        assert self.code == code, self.err + self.out
        assert [text for text in texts if text not in self.err] == [], self.err
        assert not any(sign in self.err for sign in ("Traceback", "bug in Goldspan")), self.err
        return self

    def done(self, *texts: str) -> Self:
        """The same, of a command that ended well and has all these texts in stderr."""
        return self.ended(0, *texts)

    def refused(self, code: int, *texts: str) -> Self:
        """The same, of a command that ended with an error of at most ten lines and nothing else."""
        assert (self.out, len(self.err.splitlines()) <= 10) == ("", True), self.out + self.err
        return self.ended(code, *texts)


@contextmanager
def refused(match: str, code: Exit) -> Iterator[pytest.ExceptionInfo[GoldspanError]]:
    """An error with these words and this exit status."""
    with pytest.raises(GoldspanError, match=match) as caught:
        yield caught
    assert caught.value.code == code


def command(stage: str, *arguments: object) -> Said:
    out, err = io.StringIO(), io.StringIO()
    app = importlib.import_module(f"{stage}.commands").app
    code: object = 0
    with patch.object(sys, "argv", [stage, *map(str, arguments)]), redirect_stdout(out), redirect_stderr(err):
        try:
            run(app, stage)
        except SystemExit as ended:
            code = ended.code
    assert code is None or isinstance(code, int)
    return Said(int(code or 0), out.getvalue(), err.getvalue())


def python(*words: object, **settings: str) -> Said:
    """What this Python answers in a process of its own, with these variables beside those that there are."""
    run = [sys.executable, *map(str, words)]
    done = subprocess.run(run, cwd=ROOT, env=os.environ | settings, capture_output=True, text=True, check=False)
    return Said(done.returncode, done.stdout, done.stderr)


def stored(lake: Path, *tables: str) -> dict[str, bytes]:
    """Every part of a lake as path → bytes, but for `costs`, which is measured; of some tables, if they are named."""
    return {
        path: file.read_bytes()
        for file in sorted(lake.rglob("part-*.parquet"))
        if (path := file.relative_to(lake).as_posix()).split("/")[0] != "costs"
        if not tables or path.split("/")[0] in tables
    }


def leftovers(lake: Path) -> list[str]:
    """Files of a lake that are neither parts nor its lock."""
    return [
        file.relative_to(lake).as_posix()
        for file in sorted(lake.rglob("*"))
        if file.is_file() and file.name != ".lock" and not file.match("part-*.parquet")
    ]


def submitter(checkout: Path) -> Callable[[str], str]:
    """Runs a line of a shell in a folder that is made a checkout with this Python and a remote beside it."""
    (checkout / ".venv").symlink_to(sys.prefix)
    author = {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    told = {**os.environ, **author, "PYTHONPATH": str(ROOT)}

    def run(line: str) -> str:
        done = subprocess.run(line, shell=True, cwd=checkout, env=told, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stderr

    run("git init -q --bare ../origin && git init -q && git remote add origin ../origin")
    return run
