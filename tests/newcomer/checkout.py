"""A copy of the checkout with a small lake, in which a test changes a file and runs the real commands."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from lake.store import Lake
from tests.tiny import ROOT, build

STAGES = ("lake", "ingest", "evaluate", "report", "site")
LEFT_OUT = shutil.ignore_patterns("data", "cache", "public", "__pycache__", "*.pyc", "leaderboard*.png")
CHUNKER = "window-4-2"


@dataclass(frozen=True)
class Checkout:
    """The copy; its lake holds the small RepoEval once `ingest` was called."""

    root: Path

    @property
    def lake(self) -> Path:
        return self.root / "lake" / "data"

    def run(self, stage: str, *arguments: object) -> str:
        """Run `python -m <stage> …` in the copy; return what it printed."""
        settings = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        # One process beside each stage's own is started, not one per core; no page is of results that ship.
        settings |= {"GOLDSPAN_ENGINE": "local:1", "GOLDSPAN_PUBLISHED": "none"}
        words = [sys.executable, "-m", stage, *map(str, arguments)]
        done = subprocess.run(words, cwd=self.root, env=settings, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    def ingest(self, chunker: str = CHUNKER) -> str:
        return self.run("ingest", "repoeval", "--source", self.root / "repoeval", "--chunkers", chunker)

    def runs(self) -> dict[str, str]:
        """System → run, of the task that searches."""
        rows = Lake(self.lake).scan("runs").filter(pl.col("task") == "repoeval/prompt")
        return dict(rows.select("system", "run_id").sort("run_id").collect().iter_rows())


def copy_of_the_checkout(to: Path) -> Checkout:
    """The code of the checkout, with the small RepoEval beside it."""
    for name in STAGES:
        shutil.copytree(ROOT / name, to / name, ignore=LEFT_OUT)
    shutil.copy2(ROOT / "LICENSE", to)
    shutil.copy2(ROOT / "pyproject.toml", to)
    build(to / "repoeval")
    return Checkout(to)
