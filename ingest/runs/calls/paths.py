"""Paths in commands and outputs, and the folder that a terminal goes to."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

from ingest.runs.calls.bash import UNKNOWN

_MAX_CHARACTERS = 4_096
_ABSOLUTE = re.compile(r"[/~]|[A-Za-z]:[\\/]")


def gone_to(folder: str, target: str) -> str:
    """The folder that `cd target` leads to; `UNKNOWN` where only the shell knew it."""
    is_known = UNKNOWN not in target and (UNKNOWN not in folder or _ABSOLUTE.match(target))
    return joined(folder, target) if is_known else UNKNOWN


def joined(folder: str, path: str) -> str:
    """A path as it is seen from a folder, without `.` and `..` where the folder says what they mean.

    Empty for a relative path in a folder that only the shell knew.
    """
    if UNKNOWN in folder:
        return path if _ABSOLUTE.match(path) else ""
    if "\\" in folder or re.match(r"[A-Za-z]:[\\/]", path):
        folder, path = folder.replace("\\", "/"), path.replace("\\", "/")
    if not folder or len(folder) > _MAX_CHARACTERS or _ABSOLUTE.match(path):
        return path.removeprefix("./")
    return posixpath.normpath(posixpath.join(folder, path))


def is_below(path: str, roots: Sequence[str]) -> bool:
    """Whether a path of an output can be one of those that were searched, or lies below one."""
    path = posixpath.normpath(path.replace("\\", "/"))
    return any(root in (".", path) or path.startswith((f"{root}/", "../")) or root.startswith("..") for root in roots)


def is_path(word: str) -> bool:
    """Whether a word of a command can be the path of a file."""
    is_plain = UNKNOWN not in word and "\n" not in word and not word.startswith(("/dev/", "-"))
    return is_plain and 0 < len(word) < 500
