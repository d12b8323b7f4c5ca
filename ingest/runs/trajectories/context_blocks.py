"""Contexts as agents write them in a text: `File:` and `Lines: a-b`, line by line."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ingest.runs.calls.parsed import FileSpan, view_of_lines

_FILE, _LINES = "File:", "Lines:"
_RANGE = re.compile(r"([0-9]+)\s*-\s*([0-9]+)")
_ANSWER = re.compile(r"<PATCH_CONTEXT>(.*?)</PATCH_CONTEXT>", re.DOTALL)


def answer_in(texts: Iterable[str]) -> str | None:
    """The last block of `<PATCH_CONTEXT>` in some texts; None where there is none."""
    return next((match[-1] for text in reversed([*texts]) if (match := _ANSWER.findall(text))), None)


def pairs_of(text: str) -> list[FileSpan]:
    """The views that a text names, in its order, their paths as they are written there.

    Several `Lines:` may follow one `File:`; a `File:` without any names nothing. Reversed lines are swapped, and lines
    that no file has are left out.
    """
    views: list[FileSpan] = []
    path = ""
    for line in map(str.strip, text.split("\n")):
        if line.startswith(_FILE):
            path = line.removeprefix(_FILE).strip()
        elif path and line.startswith(_LINES) and (match := _RANGE.match(line.removeprefix(_LINES).strip())):
            views += view_of_lines(path, match[1], match[2])
    return views


def in_repository(path: str, folder: str = "") -> str:
    """A path as it is below the repository: without quotes, `./`, `/`, `/testbed/`, and `/home/<folder>/`.

    Args:
        path: As an agent wrote it.
        folder: What the repository's folder below `/home` is called; other folders stay, and are dropped when the path
            is looked for in the repository.

    Returns:
        The path; empty for the repository itself and for what lies in `/home` beside it.
    """
    path = path.strip().strip("'\"").removeprefix("/testbed/")
    if path.startswith("/home/"):
        first, below, rest = path.removeprefix("/home/").partition("/")
        if not below:
            return ""
        path = rest if first == folder else f"{first}/{rest}"
    return path.lstrip("/").removeprefix("./")
