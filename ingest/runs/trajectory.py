"""An agent's work on one item, as all trajectory importers return it: what its calls showed, step by step."""

import posixpath
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from ingest.runs.usage import AgentUsage
from ingest.runs.values import line_of
from lake.text import listed

NO_RESULT = "call without a result"  # the entry in `unread` for a call without a recorded result: it showed nothing
UNKNOWN = "\0"  # marks, in a word, a part that only the shell knew: a variable, a pattern, an output
_MAX_CHARACTERS = 4_096
IN_WINDOWS = re.compile(r"[A-Za-z]:[\\/]|\\\\")
_ABSOLUTE = re.compile(rf"[/~]|{IN_WINDOWS.pattern}")
BESIDE_CALLS = ("file ", "attachment ", "item ", "subagent ", NO_RESULT)
_RANGE = re.compile(r"Lines:\s*([0-9]+)\s*-\s*([0-9]+)")
_ANSWER = re.compile(r"<PATCH_CONTEXT>((?:(?!<PATCH_CONTEXT>).)*?)</PATCH_CONTEXT>", re.DOTALL)


@dataclass(frozen=True)
class FileSpan:
    """Lines of a file from 1, both included (`end` None: to its end), or a definition in it, or just the file."""

    path: str
    start: int | None = None
    end: int | None = None
    symbol: str | None = None

    def __str__(self) -> str:
        lines = "" if self.start is None else f"#L{self.start}-{'' if self.end is None else f'L{self.end}'}"
        return f"{self.path}{lines}{f' {self.symbol}' if self.symbol else ''}"


Views = tuple[FileSpan, ...]


def view_of_lines(path: str, *given: object) -> Views:
    """The span from the least to the largest of some lines; empty if one of them is not a line number."""
    lines = [line for line in map(line_of, given) if line is not None]
    return (FileSpan(path, min(lines), max(lines)),) if len(lines) == len(given) else ()


def renamed(views: Iterable[FileSpan], name: Callable[[str], str]) -> Views:
    """The spans with their paths renamed, without those whose new path is empty."""
    return tuple(replace(view, path=path) for view in views if (path := name(view.path)))


def union(steps: Iterable[Iterable[FileSpan]]) -> Views:
    """All spans of some steps, each once, in the order they were first seen."""
    return tuple(dict.fromkeys(view for step in steps for view in step))


def answer_in(texts: Iterable[str]) -> str | None:
    """The content of the last `<PATCH_CONTEXT>` in some texts, maybe pieces of one text; None if there is none."""
    return next(reversed(_ANSWER.findall("".join(texts))), None)


def spans_named(text: str, lines: re.Pattern[str] = _RANGE) -> list[FileSpan]:
    """The spans that a text names by `File:` and, below it, `Lines: a-b`, with paths as written there."""
    views, path = list[FileSpan](), ""
    for line in map(str.strip, text.split("\n")):
        if line.startswith("File:"):
            path = line.removeprefix("File:").strip()
        elif path and (match := lines.match(line)):
            views += view_of_lines(path, match[1], match[2])
    return views


def in_repository(path: str, folder: str = "") -> str:
    """A path within the repository, without `./`, `/testbed/` and the like; empty for itself and what is next to it."""
    path = path.strip().strip("'\"").removeprefix("/testbed/")
    if path.startswith("/home/"):
        first, below, rest = path.removeprefix("/home/").partition("/")
        path = rest if first == folder else f"{first}/{rest}" if below else ""
    return path.lstrip("/").removeprefix("./")


inside = partial(renamed, name=in_repository)


def gone_to(folder: str, target: str) -> str:
    """The folder after `cd target` in `folder`; `UNKNOWN` if only the shell knew it."""
    is_known = UNKNOWN not in target and (UNKNOWN not in folder or _ABSOLUTE.match(target))
    return joined_path(folder, target) if is_known else UNKNOWN


def joined_path(folder: str, path: str) -> str:
    """A path in a folder, without `.` and `..`; empty if it is relative and only the shell knew the folder."""
    if UNKNOWN in folder:
        return path if _ABSOLUTE.match(path) else ""
    if IN_WINDOWS.match(folder) or IN_WINDOWS.match(path):
        folder, path = folder.replace("\\", "/"), path.replace("\\", "/")
        # Git Bash writes the drive as a folder.
        path = f"{folder[:2]}{path[2:]}" if folder and path.lower().startswith(f"/{folder[0].lower()}/") else path
    if not folder or len(folder) > _MAX_CHARACTERS or _ABSOLUTE.match(path):
        return path.removeprefix("./")
    return posixpath.normpath(posixpath.join(folder, path))


@dataclass(frozen=True)
class ParsedCall:
    """The meaning of an agent's call: the `views` it showed, and whether it was meant to show any (`reads`).

    `folder` is the terminal's folder after it, `UNKNOWN` if only the shell knew it; `call` is the call as text;
    `shown_at` is its turn (0 if unknown) and its number among the calls, each from 1.
    """

    views: Views = ()
    reads: bool = False
    folder: str = ""
    unread: tuple[str, ...] = ()
    call: str = ""
    shown_at: tuple[int, int] = (0, 0)


def most_often(unread: Mapping[str, int], most: int = 10) -> str:
    """What was not understood with its counts, the most frequent first: `tool look (2), file a.log (1)`."""
    ordered = sorted(unread.items(), key=lambda pair: (-pair[1], pair[0]))
    return listed([f"{name[:80]} ({n:,})" for name, n in ordered], most)


@dataclass(frozen=True)
class Trajectory:
    """An agent's work on one item: what it saw, step by step and in its final context; unknowns are empty, or None.

    `item` is its id in the lake or upstream; `position` the place in the file, such as `line 3`; `notes` become rows of
    `rejects`; `failed` says why it cannot be scored; `published` is what ContextBench's published converter reads from
    the same file, if that differs; `root` the folder it began in; `prompts` what it was asked; `shown_at` the turn and
    the tool call of each step; `read_with` the paths of other files that were read, such as a subagent's.
    """

    steps: tuple[Views, ...]
    final: Views | None
    item: str = ""
    patch: str | None = None
    position: str = ""
    notes: tuple[str, ...] = ()
    failed: str = ""
    published: "Trajectory | None" = None
    calls: tuple[ParsedCall, ...] = ()
    unread: Mapping[str, int] = field(default_factory=Counter)
    usage: AgentUsage = field(default_factory=AgentUsage)
    root: str = ""
    prompts: tuple[str, ...] = ()
    shown_at: tuple[tuple[int, int], ...] = ()
    read_with: frozenset[str] = frozenset()

    def beside(self, published: "Trajectory | None") -> "Trajectory":
        """The trajectory with `published`, the published converter's reading, or None there if it is the same."""
        is_same = published is not None and (published.steps, published.final) == (self.steps, self.final)
        return replace(self, published=None if is_same else published)
