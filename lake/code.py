"""What code a declaration runs: part of the fingerprint of what it makes, so an edited file is run again."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from pathlib import Path

from lake.fingerprint import sha256_of_file


def code_digest(function: Callable[..., object]) -> str:
    """The sha256 of the file that a function is defined in."""
    return _digest(inspect.getfile(inspect.unwrap(function)))


def folder_digest(folder: Path) -> list[tuple[str, str]]:
    """Every Python file below a folder with its sha256, sorted by path."""
    return [(path.relative_to(folder).as_posix(), _digest(str(path))) for path in sorted(folder.rglob("*.py"))]


@cache
def _digest(path: str) -> str:
    return sha256_of_file(Path(path))
