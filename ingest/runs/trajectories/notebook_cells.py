"""Cells of OpenHands' notebook, which open, search and edit files by functions of its own (`agentskills`)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ingest.runs.trajectories.json_values import line_of, text_of
from ingest.runs.trajectories.tool_calls import ToolCall
from ingest.runs.trajectories.trajectory import FileSpan, ParsedCall

_FUNCTIONS = re.compile(
    r"\b(?:(?P<opens>open_file|goto_line|scroll_(?:up|down))|(?P<searches>search_(?:file|dir))"
    r"|find_file|edit_file(?:_by_\w+)?|insert_content_at_line|append_file|create_file)\s*\("
)
_FILE = re.compile(r"\[File: (?P<path>.+?) \([0-9]+ lines? total(?P<is_edit> after edit)?\)\]")
_NUMBERED = re.compile(r"(?P<line>[0-9]+)\|")
_SEARCHED = re.compile(r"\[Found [0-9]+ matches for .* in (?P<path>\S+)\]")
_HIT = re.compile(r"(?:Line (?P<line>[0-9]+)|(?P<path>\S.*?) \(Line (?P<of_path>[0-9]+)\)): ")


def reading_of_cell(call: ToolCall) -> ParsedCall:
    """What a cell showed of files.

    `open_file`, `goto_line` and `scroll_up` and `scroll_down` show the lines that are numbered below `[File: …]`,
    `search_file` and `search_dir` those of their hits. What stands below `[File: … after edit]` is a file that was
    changed. A cell without any of these functions is not understood.
    """
    called = list(_FUNCTIONS.finditer(text_of(call.arguments, "code")))
    if not called:
        return ParsedCall(folder=call.folder, unread=("action run_ipython",))
    rows = [row.rstrip() for row in (call.output or "").split("\n")]
    edited = [found["path"] for row in rows if (found := _FILE.match(row)) and found["is_edit"]]
    views: list[FileSpan] = []
    if any(one["opens"] for one in called):
        views += _opened(rows)
    if any(one["searches"] for one in called):
        views += _hits(rows)
    reads = any(one["opens"] or one["searches"] for one in called)
    return ParsedCall(tuple(dict.fromkeys(views)), reads, call.folder, edited=tuple(dict.fromkeys(edited)))


def _opened(rows: list[str]) -> Iterator[FileSpan]:
    """The numbered lines below each heading that is of no edit."""
    path, lines = "", list[int]()
    for row in [*rows, "[File: - (0 lines total)]"]:
        number = line_of(found["line"]) if (found := _NUMBERED.match(row)) else None
        if number is not None:
            lines.append(number)
        elif heading := _FILE.match(row):
            if path and lines:
                yield FileSpan(path, min(lines), max(lines))
            path, lines = ("" if heading["is_edit"] else heading["path"]), []


def _hits(rows: list[str]) -> Iterator[FileSpan]:
    searched = ""
    for row in rows:
        if heading := _SEARCHED.match(row):
            searched = heading["path"]
        elif hit := _HIT.match(row):
            line, path = line_of(hit["line"] or hit["of_path"]), hit["path"] or searched
            if line is not None and path:
                yield FileSpan(path, line, line)
