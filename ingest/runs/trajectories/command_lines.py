"""Command lines of bash, the commands they run and the texts they feed to them; and which lines are PowerShell's."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

MAX_CHARACTERS = 40_000
"""A longer line, not counting the texts fed to its commands, is not read; what shows a file is short."""
UNKNOWN = "\0"
"""Stands in a word for what only the shell that ran it knows: a variable, a pattern of file names, an output."""

_POWERSHELL = re.compile(
    r"(?:^|[|;({\s])(?:Get-Content|Get-ChildItem|Select-String|Select-Object|Set-Location|Set-Content)\b"
    r"|(?:^|[\\/|;({\s])(?:powershell|pwsh|cmd)(?:\.exe)?\s+[-/]",
    re.IGNORECASE,
)
_SHORT_NAMES = re.compile(r"(?:^|[|;&({]\s*)(?:gc|type|sls|sl)\s", re.IGNORECASE)
"""PowerShell's short names for its commands, which mean something else, or nothing, outside Windows."""
_MOVED = re.compile(r"(?:^|[|;&({\s])(?:cd|chdir|sl|\w+-Location)\s", re.IGNORECASE)
_BACKSLASH = re.compile(r"(?<=[\w.:])\\(?=[\w.])")
_WINDOWS = re.compile(r"[A-Za-z]:[\\/]|\\\\")
_DOCUMENT = re.compile(r"(?<!<)<<-?[ \t]*(?P<quote>['\"]?)\\?(?P<tag>\w+)(?P=quote)")


@dataclass
class Command:
    """One command.

    Attributes:
        words: Its name and what follows it, without quotes and redirections.
        is_hidden: What it prints goes into a file, or nowhere.
        hides_errors: What it prints of errors does.
        writes: The files that its output goes into.
    """

    words: list[str] = field(default_factory=list)
    is_hidden: bool = False
    hides_errors: bool = False
    writes: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Its name without a folder; empty where there is none."""
        return self.words[0].rpartition("/")[2] if self.words else ""


@dataclass
class Pipeline:
    """Commands of which each reads what the one before it prints.

    Attributes:
        commands: At least one.
        joined_by: `&&` or `||` where whether it runs depends on the pipeline before it; else empty.
        scope: The subshells it runs in, outermost first: a `cd` in one holds there alone.
    """

    commands: list[Command]
    joined_by: str = ""
    scope: tuple[int, ...] = ()


def without_documents(text: str) -> str:
    """A line without the texts that it feeds to its commands."""
    lines = text.split("\n")
    places: dict[str, list[int]] = {}
    for number, line in enumerate(lines if "<<" in text else ()):
        places.setdefault(line.strip(), []).append(number)
    kept, number = [], 0
    while number < len(lines):
        line, last = lines[number], number
        for found in _DOCUMENT.finditer(line):
            ends = places.get(found["tag"], [])
            place = bisect_right(ends, last)
            if place < len(ends):
                last = ends[place]
                line = line.replace(found[0], " ", 1)
        kept.append(line)
        number = last + 1
    return "\n".join(kept)


def in_windows(folder: str) -> bool:
    """Whether a folder is one of Windows."""
    return _WINDOWS.match(folder) is not None


def left_by_powershell(command: str | Sequence[str], folder: str) -> str | None:
    """The folder that a command of PowerShell, which is not read, leaves its terminal in; None for any other command.

    It is `UNKNOWN` where the command may go to another.
    """
    line = without_documents(command)[:MAX_CHARACTERS] if isinstance(command, str) else " ".join(command[:2])
    if not _POWERSHELL.search(line) and not (in_windows(folder) and _SHORT_NAMES.search(line)):
        return None
    return UNKNOWN if _MOVED.search(command if isinstance(command, str) else " ".join(command)) else folder


def slashed(command: str | Sequence[str]) -> str | list[str]:
    """A command with the paths of Windows written with `/`."""
    if isinstance(command, str):
        return _BACKSLASH.sub("/", command)
    return [_BACKSLASH.sub("/", word) for word in command]
