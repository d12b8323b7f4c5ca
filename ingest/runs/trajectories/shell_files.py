"""Files that commands search, are given by others (`xargs`, `find -exec`), and write; and their paths."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ingest.runs.trajectories.command_lines import UNKNOWN, Command, Pipeline
from ingest.runs.trajectories.shell_readers import Words, options_of, verb_of

PATCHERS = ("apply_patch", "applypatch")
"""Codex's own command, which reads a patch of its own form."""

_MAX_CHARACTERS = 4_096
_ABSOLUTE = re.compile(r"[/~]|[A-Za-z]:[\\/]")
_PATCHED = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+?)\s*$", re.MULTILINE)
_GREPS = ("grep", "egrep", "fgrep", "zgrep", "git grep")
_SEARCHES = (*_GREPS, "rg", "ag", "ack", "findstr")
_QUIET = {
    "--quiet", "--silent", "--count", "--count-matches", "--files", "--files-with-matches", "--files-without-match",
    "--name-only", "--type-list", "/m",
}  # fmt: skip
_SHORT = re.compile(r"-(?![tgeTfmABC])[a-zA-Z]+[0-9]*")
_PATTERN = re.compile(r"-[a-zA-Z]*[ef]|--regexp(?:=.*)?|--file(?:=.*)?")
_WITH_VALUE = (
    r"-[a-zA-Z]*[efABCmgtTjM]|--(?:regexp|file|glob|iglob|type|type-not|max-count|context|after-context|before-context"
    r"|include|exclude|exclude-dir|max-depth|sort|threads|max-columns|color|colors)"
)


@dataclass(frozen=True)
class Search:
    """A search of files.

    Attributes:
        files: The files and folders it names; empty for what a pipe gives it, or for the folder it runs in.
        has_numbers: Whether its rows may have the numbers of their lines.
        is_numbered: Whether they must.
        is_silent: It shows no line: only counts, names of files, or whether there is any.
    """

    files: Words
    has_numbers: bool
    is_numbered: bool
    is_silent: bool

    @property
    def only(self) -> str:
        """The one file that it names, or folder; empty where it names none, or several."""
        return self.files[0] if len(self.files) == 1 and UNKNOWN not in self.files[0] else ""


def search_of(words: Words) -> Search | None:
    """The search that a command is; None for any other."""
    name, rest = verb_of(words)
    if name not in _SEARCHES:
        return None
    short = "".join(word for word in rest if _SHORT.fullmatch(word))
    is_numbered = "n" in short or not {"--line-number", "/n", "/N"}.isdisjoint(rest)
    is_silent = any(flag in short for flag in "qclL") or not _QUIET.isdisjoint(rest)
    if name == "findstr":
        files = [word for word in rest if not re.match(r"/[a-zA-Z]", word)][1:]
        return Search(files, is_numbered, is_numbered, is_silent)
    _, operands = options_of(rest, _WITH_VALUE)
    if name == "git grep" and "--" in rest:
        operands = (*operands[:1], *rest[rest.index("--") + 1 :])
    has_pattern = any(map(_PATTERN.fullmatch, rest))
    return Search(operands[0 if has_pattern else 1 :], is_numbered or name not in _GREPS, is_numbered, is_silent)


def unrolled(pipeline: Pipeline) -> Pipeline:
    """What `xargs` or `find -exec` runs, with the files it is given as far as they are known."""
    commands = pipeline.commands
    place = next((place for place, one in enumerate(commands) if one.name in ("xargs", "parallel")), 0)
    words, first = commands[0].words, commands[0].name
    if place:
        is_told = place == 1 and first in ("echo", "ls", "printf")
        files = [part for word in options_of(words[1:])[1] for part in word.split()] if is_told else []
        inner = _given(commands[place].words[1:], files or [UNKNOWN, UNKNOWN])
    elif first == "find" and (start := next((i for i, w in enumerate(words) if w in ("-exec", "-execdir")), 0)):
        end = next((place for place, word in enumerate(words) if place > start and word in (";", "+")), None)
        inner = [UNKNOWN if word == "{}" else word for word in words[start + 1 : end]]
    else:
        return pipeline
    return replace(pipeline, commands=[replace(commands[place], words=inner), *commands[place + 1 :]])


def _given(words: Words, files: Words) -> list[str]:
    """The command that `xargs` runs, with its files."""
    mark, place = "", 0
    while place < len(words) and words[place].startswith("-"):
        if words[place].startswith("-I"):
            mark = words[place][2:] or "".join(words[place + 1 : place + 2])
        place += 2 if words[place] in ("-I", "-n", "-L", "-P", "-d", "-s", "-a") else 1
    inner = list(words[place:])
    return [file for word in inner for file in (files if word == mark else [word])] if mark else [*inner, *files]


def written_by(command: Command) -> Sequence[str]:
    """The files that a command changes or writes."""
    _, operands = options_of(command.words[1:], "-[eE]")
    flags = [word for word in command.words[1:] if word.startswith("-")]
    files: Words = ()
    if command.name == "sed" and any(re.match(r"-[nErsz]*i|--in-place", flag) for flag in flags):
        has_script = any(re.fullmatch(r"-[nErszi]*e|--expression.*", flag) for flag in flags)
        files = operands[0 if has_script else 1 :]
    elif command.name == "perl" and any(re.match(r"-[a-z0]*i", flag) for flag in flags):
        files = operands
    elif command.name in ("cp", "mv") and len(operands) == 2:
        files = operands[1:]
    elif command.name == "tee":
        files = operands
    return [*command.writes, *files]


def patched_in(text: str) -> list[str]:
    """The files that a patch of `apply_patch` changes."""
    return _PATCHED.findall(text)


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


def is_below(path: str, roots: Words) -> bool:
    """Whether a path of the output can be one of those that were searched."""
    path = posixpath.normpath(path.replace("\\", "/"))
    return any(root in (".", path) or path.startswith((f"{root}/", "../")) or root.startswith("..") for root in roots)


def is_path(word: str) -> bool:
    """Whether a word of a command can be the path of a file."""
    is_plain = UNKNOWN not in word and "\n" not in word and not word.startswith(("/dev/", "-"))
    return is_plain and 0 < len(word) < 500
