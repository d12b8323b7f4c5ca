"""Words of commands: their options, paths of files, and the folder that a terminal goes to."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

from ingest.runs.calls.bash import UNKNOWN

CommandFlags = Sequence[tuple[str, str]]
"""The flags of a command, each with its value, empty where it has none."""
CommandWords = Sequence[str]

_MAX_CHARACTERS = 4_096
_ABSOLUTE = re.compile(r"[/~]|[A-Za-z]:[\\/]")


def gone_to(folder: str, target: str) -> str:
    """The folder that `cd target` leads to; `UNKNOWN` where only the shell knew it."""
    is_known = UNKNOWN not in target and (UNKNOWN not in folder or _ABSOLUTE.match(target))
    return joined_path(folder, target) if is_known else UNKNOWN


def joined_path(folder: str, path: str) -> str:
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


def options_of(words: CommandWords, with_value: str = "") -> tuple[CommandFlags, CommandWords]:
    """The flags among the words behind a command's name, each with its value, and the words that are none.

    `with_value` is a pattern of the flags whose value is the next word; that of a long one may follow a `=`.
    """
    flags, operands = list[tuple[str, str]](), list[str]()
    left, is_over = iter(words), False
    for word in left:
        if word == "--" and not is_over:
            is_over = True
        elif is_over or not word.startswith("-"):
            operands.append(word)
        elif with_value and re.fullmatch(with_value, word):
            flags.append((word, next(left, "")))
        else:
            name, _, value = word.partition("=") if word.startswith("--") else (word, "", "")
            flags.append((name, value))
    return flags, tuple(operands)


def verb_of(words: CommandWords) -> tuple[str, CommandWords]:
    """A command's name without its folder, git's with its verb (`git show`), and the words that follow."""
    name, rest = words[0].rpartition("/")[2] if words else "", words[1:]
    if name != "git":
        return name, rest
    verb = git_options(rest)[1]
    return f"git {verb[0]}" if verb else name, verb[1:]


def git_options(words: CommandWords) -> tuple[str, CommandWords]:
    """The folder that `git -C` names, empty where there is none, and the words from git's verb on."""
    folder = ""
    while words and words[0].startswith("-"):
        flag, *words = words
        folder = words[0] if flag == "-C" and words else folder
        words = words[flag in ("-C", "-c") :]
    return folder, words
