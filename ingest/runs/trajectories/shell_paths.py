"""Paths of files in commands, the folders that a terminal goes to, and the files that commands write."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

from ingest.runs.trajectories.bash_lines import UNKNOWN, Command
from ingest.runs.trajectories.shell_commands import options_of

PATCHERS = ("apply_patch", "applypatch")
"""Codex's own command, which reads a patch of its own form."""

_MAX_CHARACTERS = 4_096
_PATCHED = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+?)\s*$", re.MULTILINE)
_ABSOLUTE = re.compile(r"[/~]|[A-Za-z]:[\\/]")
_WINDOWS = re.compile(r"[A-Za-z]:[\\/]|\\\\")
_BACKSLASH = re.compile(r"(?<=[\w.:])\\(?=[\w.])")


def in_windows(folder: str) -> bool:
    """Whether a folder is one of Windows."""
    return _WINDOWS.match(folder) is not None


def slashed(command: str | Sequence[str]) -> str | list[str]:
    """A command with the paths of Windows written with `/`."""
    if isinstance(command, str):
        return _BACKSLASH.sub("/", command)
    return [_BACKSLASH.sub("/", word) for word in command]


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
    """Whether a path of the output can be one of those that were searched."""
    path = posixpath.normpath(path.replace("\\", "/"))
    return any(root in (".", path) or path.startswith((f"{root}/", "../")) or root.startswith("..") for root in roots)


def is_path(word: str) -> bool:
    """Whether a word of a command can be the path of a file."""
    is_plain = UNKNOWN not in word and "\n" not in word and not word.startswith(("/dev/", "-"))
    return is_plain and 0 < len(word) < 500


def written_by(command: Command) -> Sequence[str]:
    """The files that a command changes or writes."""
    flags, operands = options_of(command.words[1:], "-[eE]")
    files: Sequence[str] = ()
    if command.name == "sed" and any(re.match(r"-[nErsz]*i|--in-place", flag) for flag, _ in flags):
        files = operands if any(flag in ("-e", "--expression") for flag, _ in flags) else operands[1:]
    elif command.name in ("cp", "mv") and len(operands) == 2:
        files = operands[1:]
    elif command.name == "tee":
        files = operands
    return [*command.writes, *files]


def patched_in(text: str) -> list[str]:
    """The files that a patch of `apply_patch` changes."""
    return _PATCHED.findall(text)
