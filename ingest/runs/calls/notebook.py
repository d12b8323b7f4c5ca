"""Cells of OpenHands' notebook, which open, search and edit files by functions of its own (`agentskills`)."""

from __future__ import annotations

import re

from ingest.runs.calls.parsed import FileSpan, ParsedCall
from ingest.runs.calls.tools import ToolCall
from ingest.runs.json_values import line_of, text_of

_FUNCTIONS = re.compile(
    r"\b(?:(?P<opens>open_file|goto_line|scroll_(?:up|down))|(?P<searches>search_(?:file|dir))"
    r"|find_file|edit_file(?:_by_\w+)?|insert_content_at_line|append_file|create_file)\s*\("
)
_FILE = re.compile(r"\[File: (?P<path>.+?) \([0-9]+ lines? total(?P<is_edit> after edit)?\)\]")
_NUMBERED = re.compile(r"(?P<line>[0-9]+)\|")
_SEARCHED = re.compile(r"\[Found [0-9]+ matches for .* in (?P<path>\S+)\]")
_HIT = re.compile(r"(?:Line (?P<line>[0-9]+)|(?P<path>\S.*?) \(Line (?P<of_path>[0-9]+)\)): ")


def parse_cell(call: ToolCall) -> ParsedCall:
    """What a cell showed of files.

    `open_file`, `goto_line` and `scroll_up` and `scroll_down` show the lines that are numbered below `[File: …]`,
    `search_file` and `search_dir` those of their hits. What stands below `[File: … after edit]` is a file that was
    changed. A cell without any of these functions is not understood.
    """
    functions = list(_FUNCTIONS.finditer(text_of(call.arguments, "code")))
    if not functions:
        return ParsedCall(unread=("action run_ipython",))
    opens, searches = (any(function[kind] for function in functions) for kind in ("opens", "searches"))
    edited, windows, hits = list[str](), dict[int, tuple[str, list[int]]](), list[FileSpan]()
    opened = searched = ""
    for number, row in enumerate((call.output or "").split("\n")):
        if heading := _FILE.match(row):
            opened = "" if heading["is_edit"] else heading["path"]
            edited += [heading["path"]] if heading["is_edit"] else []
            windows[number] = opened, []
        elif (mark := _NUMBERED.match(row)) and (line := line_of(mark["line"])) is not None and opened:
            windows[max(windows)][1].append(line)
        elif heading := _SEARCHED.match(row):
            searched = heading["path"]
        elif hit := _HIT.match(row):
            path, line = hit["path"] or searched, line_of(hit["line"] or hit["of_path"])
            hits += [FileSpan(path, line, line)] if path else []
    spans = [FileSpan(path, min(lines), max(lines)) for path, lines in windows.values() if opens and lines]
    views = tuple(dict.fromkeys([*spans, *(hits if searches else ())]))
    return ParsedCall(views, opens or searches, edited=tuple(dict.fromkeys(edited)))
