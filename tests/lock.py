"""`make lock`: resolve requirements*.txt anew from pyproject.toml with uv, each file on top of the one before it."""

import difflib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from lake.console import DebugOption, run
from lake.errors import Exit, GoldspanError

ROOT = Path(__file__).parents[1]
UV = "uv>=0.9,<1"
COMPILE = (
    "pip",
    "compile",
    "pyproject.toml",
    "--universal",
    "--python-version",
    "3.11",
    "--no-header",
    "--no-annotate",
)


@dataclass(frozen=True)
class Lock:
    """A file of exact pins.

    Attributes:
        name: The file.
        groups: The dependency groups it adds to the project's own dependencies.
        extras: The extras it adds to them.
        on: The lock whose pins it keeps.
        beside: The lock with which it may be installed: what both pin they pin alike.
    """

    name: str
    groups: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()
    on: str | None = None
    beside: str | None = None

    def arguments(self) -> list[str]:
        options = {"--group": self.groups, "--extra": self.extras, "-c": filter(None, (self.on, self.beside))}
        added = [word for option, names in options.items() for name in names for word in (option, name)]
        return [*COMPILE, *added, "-o", self.name]


CHUNKERS = ("chunkers",)
LOCKS = (
    Lock("requirements.txt"),
    Lock("requirements-chunkers.txt", (), CHUNKERS, "requirements.txt"),
    Lock("requirements-dev.txt", ("dev",), CHUNKERS, "requirements-chunkers.txt"),
    Lock("requirements-dense.txt", (), ("dense",), "requirements.txt", beside="requirements-dev.txt"),
    # Beside all that may be installed: the tests of both run in one environment.
    Lock("requirements-dask.txt", (), ("dask",), "requirements.txt", beside="requirements-dev.txt"),
)

LEFT_OUT = ("cuda-", "nvidia-", "torch==", "triton==")
"""What no lock pins: each machine has its own torch, installed first, and with a GPU what that one needs."""


app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def lock(
    into: Annotated[Path, typer.Option(help="Where the files are written.")] = ROOT, debug: DebugOption = False
) -> None:
    """Resolve the exact pins anew, and say what changed. All files are written, or none."""
    with tempfile.TemporaryDirectory() as folder, uv() as program:
        # Beside no older lock: its pins would be kept.
        fresh = Path(folder)
        shutil.copy(ROOT / "pyproject.toml", fresh)
        for locked in LOCKS:
            _resolve([program, *locked.arguments()], fresh)
        for locked in LOCKS:
            lines = (fresh / locked.name).read_text().splitlines(keepends=True)
            text = "".join(line for line in lines if not line.startswith(LEFT_OUT))
            print("\n  ".join([f"{locked.name}:", *(_changes(locked.name, text) or ["unchanged"])]))
            (into / locked.name).write_text(text)


@contextmanager
def uv() -> Iterator[str]:
    """The uv of this machine, or one that pip fetches and that is taken away afterwards.

    Raises:
        GoldspanError: Neither is to be had.
    """
    beside = Path(sys.executable).with_name("uv")
    program = str(beside) if beside.is_file() else shutil.which("uv")
    if program:
        yield program
        return
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", folder, UV]
        fetched = subprocess.run(pip, capture_output=True, text=True, check=False)
        if fetched.returncode:
            message = "uv, which resolves the pins, is not on this machine and pip could not fetch it"
            examples = fetched.stderr.strip().splitlines()[-1:]
            raise GoldspanError(message, examples=examples, hint=f"First: pip install '{UV}'", code=Exit.MISSING)
        yield str(Path(folder, "bin", "uv"))


def _resolve(command: Sequence[str], folder: Path) -> None:
    done = subprocess.run([*command, "--quiet"], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        message = f"{command[-1]} could not be resolved"
        raise GoldspanError(message, where="pyproject.toml", examples=done.stderr.strip().splitlines())


def _changes(name: str, text: str) -> list[str]:
    """What the new file takes away from the checkout's and adds to it, as lines."""
    path = ROOT / name
    old = path.read_text().splitlines() if path.is_file() else []
    return [line for line in difflib.ndiff(old, text.splitlines()) if line.startswith(("- ", "+ "))]


if __name__ == "__main__":
    run(app, "tests.lock")
