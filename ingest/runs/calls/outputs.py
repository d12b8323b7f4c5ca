"""Readers of output: lines listed by searches, numbered texts, windows of files, hunks of diffs, and failures."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import repeat, takewhile

from ingest.runs.trajectory import FileSpan
from ingest.runs.values import LAST_LINE, line_of

_MAX_CHARACTERS = 2_000_000  # the part of an output that is read
_HIT = re.compile(r"(?P<path>(?:[A-Za-z]:(?=[\\/]))?[^\s:][^:\n]{0,400}?):(?P<line>[0-9]+):")
_LINE = re.compile(r"\s*L?(?P<line>[0-9]+)[:-]")
_AROUND = re.compile(r"-([0-9]+)-")
_HEADING = re.compile(r"(?:File|Path):\s*(?P<path>\S.*)")
_NAMED = re.compile(r"(?P<path>[^\s:]+):(?:[0-9]+$)?")
_PATH = re.compile(r"[^\s:*?\"'<>|()=,;]*[\w)\]]\.\w+|[^\s:*?\"'<>|()=,;]+/[^\s:*?\"'<>|()=,;]*\w")
_NUMBERED = re.compile(r"^ *([0-9]+)(?:\t|→|$)", re.MULTILINE)
_TARGET = re.compile(r'\+\+\+ "?(?:b/)?(?P<path>[^\t"]+)')
_HUNK = re.compile(r"@@+ (?:-[0-9,]+ )+\+(?P<start>[0-9]+)(?:,[0-9]+)? @@")
_FAILURES = (
    "No such file", "cannot ", "can't ", "Is a directory", "Permission denied", "does not exist", "not found",
)  # fmt: skip
"""A row without any of these does not report a failure."""
_NOT_READ = re.compile(
    r"^\[?[\w./-]+(?: error\])? ?: ?.*(?:No such file|cannot (?:open|access)|can't (?:read|open|cd)|Is a directory"
    r"|Permission denied|does not exist|not found)"
)
_NO_COMMAND = re.compile(r"(?P<name>[\w.-]{1,40}): (?:command )?not found(?!:)|not found: (?P<zsh>[\w.-]+)")
_MAX_ROW, _MAX_ROWS = 1_000, 100
_WINDOW = re.compile(r"\[File: (?P<path>.+?) \([0-9]+ lines? total(?P<is_edit> after edit)?\)\][ \t]*\r?\n")
_SHOWN = re.compile(
    r"([0-9]+)[:|]|\([0-9]+ more lines (?:above|below)\)|\(this is the (?:beginning|end) of the file\)"
    r'|"?<<<<< (?:START|END) CURSOR >>>>>"?'
)


def listed_spans(output: str, only: str = "", *, numbers: bool = True, lists: bool = True) -> list[FileSpan]:
    """The lines and files that a search printed, file by file; adjacent lines form one span.

    Read are `path:12:text` and, around it, `path-12-text` of the same path; `12:text` under a heading or of the `only`
    file searched; and paths before a text or, if the output `lists` files, alone on a row.
    """
    lines, files, heading = list[tuple[str, int | None]](), dict[str, None](), only
    rows = [row.rstrip() for row in output[:_MAX_CHARACTERS].split("\n")]
    hit_paths = {hit["path"] for row in rows if (hit := _HIT.match(row))} if numbers else set()
    for row in rows:
        if match := _HEADING.fullmatch(row):
            heading = match["path"]
        elif numbers and heading and (match := _LINE.match(row)):
            lines.append((heading, line_of(match["line"])))
        elif numbers and (match := _HIT.match(row)):
            lines.append((match["path"], line_of(match["line"])))
        elif around := [mark for mark in _AROUND.finditer(row, 0, 500) if row[: mark.start()] in hit_paths]:
            lines.append((row[: around[0].start()], line_of(around[0][1])))
        elif not only or row.startswith(f"{only.rstrip('/')}/"):
            # The row is a path, or begins with one before a colon.
            path = match["path"] if (match := _NAMED.match(row)) else row
            if len(path) < 500 and _PATH.fullmatch(path):
                heading = path if path == row else heading
                files |= {path: None} if lists or path != row else {}
    spans = joined_lines(lines)
    with_lines = {span.path for span in spans}
    spans += [FileSpan(path) for path in files if path not in with_lines]
    return spans or ([FileSpan(only)] if only and output.strip() else [])


def joined_lines(lines: Iterable[tuple[str, int | None]]) -> list[FileSpan]:
    """The spans of some lines, file by file; adjacent lines form one span."""
    by_file, spans = dict[str, set[int]](), list[FileSpan]()
    for path, line in lines:
        if line is not None:
            by_file.setdefault(path, set()).add(line)
    for path, numbers in by_file.items():
        starts = sorted(number for number in numbers if number - 1 not in numbers)
        ends = sorted(number for number in numbers if number + 1 not in numbers)
        spans += map(FileSpan, repeat(path), starts, ends)
    return spans


def numbers_in(output: str, mark: re.Pattern[str] = _NUMBERED) -> list[int]:
    """The line numbers that `mark` finds in a numbered text, of `cat -n` and `nl -ba` without it, in its order."""
    marks = mark.finditer(output, 0, _MAX_CHARACTERS)
    return [line for match in marks if (line := line_of(match[match.lastindex or 0]))]


def first_lines(spans: Iterable[FileSpan], n: int) -> tuple[list[FileSpan], int]:
    """The parts of `spans` that the first `n` lines of an output show, and how many of these lines are left."""
    shown = list[FileSpan]()
    for span in spans:
        last = None if span.start is None else min(span.end or LAST_LINE, span.start + n - 1)
        shown += [replace(span, end=last)] * (n > 0)
        n -= n if span.start is None or last is None else max(last - span.start + 1, 0)
    return shown, n


def windows_in(output: str, *, edits: bool = True) -> Iterator[FileSpan]:
    """The windows of files that an output shows below `[File: …]`, also of `edits`; those without lines have no start.

    Marks of cursors and of omitted lines are part of a window.
    """
    for heading in _WINDOW.finditer(output):
        rows = map(_SHOWN.match, output[heading.end() :].split("\n"))
        lines = [line for row in takewhile(bool, rows) if row and (line := line_of(row[1])) is not None]
        if edits or heading["is_edit"] is None:
            yield FileSpan(heading["path"], lines[0], lines[-1]) if lines else FileSpan(heading["path"])


@lru_cache(maxsize=1)
def hunks_in(output: str) -> list[FileSpan]:
    """The lines of files that diffs show, numbered as after the change, without removed lines."""
    lines, path, number = list[tuple[str, int | None]](), "", 0
    for row in output[:_MAX_CHARACTERS].split("\n"):
        if match := _HUNK.match(row):
            number = line_of(match["start"]) or 0
        elif (match := _TARGET.match(row)) and not number:
            path = match["path"].strip()
        elif number and row[:1] in (" ", "+"):
            if path not in ("", "/dev/null"):
                lines.append((path, number))
            number += 1
        elif row[:1] not in ("-", "\\") or row.startswith("--- "):
            number = 0
    return joined_lines(lines)


class Failures:
    """The failures that an output reports: the `rows` about files, and the commands that are `missing`."""

    def __init__(self, output: str) -> None:
        words = [word for word in _FAILURES if word in output]
        rows = output.split("\n") if words else []
        rows = [row for row in rows if len(row) < _MAX_ROW and any(word in row for word in words)]
        self.rows = list(dict.fromkeys(row for row in rows if _NOT_READ.search(row)))[:_MAX_ROWS]
        self.missing = {match["name"] or match["zsh"] for row in rows if (match := _NO_COMMAND.search(row))}

    def refuse(self, path: str) -> bool:
        """Whether one of the rows names a path."""
        name = re.compile(rf"(?<![\w./-]){re.escape(path)}(?![\w/-])") if self.rows else None
        return name is not None and any(name.search(row) for row in self.rows)
