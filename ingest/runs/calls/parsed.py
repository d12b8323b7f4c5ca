"""What is understood of a call: the lines of files that it showed, and the files that it changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from ingest.runs.values import line_of

NO_RESULT = "call without a result"
"""What is not understood of a call that has none: it showed nothing."""


@dataclass(frozen=True)
class FileSpan:
    """Lines of a file that an agent saw or named, from 1, both included; or a definition in it; or the file alone.

    An `end` of None with a start is the file's end.
    """

    path: str
    start: int | None = None
    end: int | None = None
    symbol: str | None = None


Views = tuple[FileSpan, ...]


def view_of_lines(path: str, first: object, last: object) -> Views:
    """The view of some lines, swapped where they are the wrong way round; none where one of them is no line."""
    start, end = line_of(first), line_of(last)
    return () if start is None or end is None else (FileSpan(path, min(start, end), max(start, end)),)


def renamed(views: Iterable[FileSpan], name: Callable[[str], str]) -> Views:
    """The views under other names of their files, without those that have none."""
    return tuple(replace(view, path=path) for view in views if (path := name(view.path)))


def union(steps: Iterable[Iterable[FileSpan]]) -> Views:
    """Every view of some steps once, in the order they were seen."""
    return tuple(dict.fromkeys(view for step in steps for view in step))


@dataclass(frozen=True)
class ParsedCall:
    """What was understood of an agent's call.

    Attributes:
        views: What it showed of files, each once, in its order.
        reads: Whether it was meant to show something of files, whatever came of it.
        folder: Where a terminal is after it, `UNKNOWN` where only the shell knew; that of the call for anything else.
        unread: What of it was met and not understood, by kind and name.
        edited: The files that it wrote or changed.
        call: The call as a person reads it, on one line.
        shown_at: The turn that asked for it and its number among the calls, each from 1, the turn 0 where unknown.
    """

    views: Views = ()
    reads: bool = False
    folder: str = ""
    unread: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()
    call: str = ""
    shown_at: tuple[int, int] = (0, 0)
