"""Windows of files, as SWE-agent's tools and OpenHands' notebook show them: numbered lines below `[File: …]`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ingest.runs.calls.tools import ToolCall
from ingest.runs.trajectories.trajectory import FileSpan, ParsedCall
from ingest.runs.values import line_of, text_of

_WINDOW = re.compile(r"\[File: (?P<path>.+?) \([0-9]+ lines? total(?P<is_edit> after edit)?\)\][ \t]*\r?\n")
_SHOWN = re.compile(
    r"([0-9]+)[:|]|\([0-9]+ more lines (?:above|below)\)|\(this is the (?:beginning|end) of the file\)"
    r'|"?<<<<< (?:START|END) CURSOR >>>>>"?'
)
_FUNCTIONS = re.compile(
    r"\b(?:(?P<opens>open_file|goto_line|scroll_(?:up|down))|(?P<searches>search_(?:file|dir))"
    r"|find_file|edit_file(?:_by_\w+)?|insert_content_at_line|append_file|create_file)\s*\("
)
_HIT = re.compile(
    r"^(?:\[Found [0-9]+ matches for .* in (?P<searched>\S+)\]"
    r"|(?:Line (?P<line>[0-9]+)|(?P<path>\S.*?) \(Line (?P<of_path>[0-9]+)\)): )",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Window:
    """A window of a file: the numbers of its lines, in order, and whether it shows an edit."""

    path: str
    lines: list[int]
    is_edit: bool


def windows_in(output: str) -> Iterator[Window]:
    """The windows that an output shows; marks of cursors and of what lies around them end none."""
    for heading in _WINDOW.finditer(output):
        lines: list[int] = []
        for row in output[heading.end() :].split("\n"):
            shown = _SHOWN.match(row)
            if shown is None:
                break
            if (line := line_of(shown[1])) is not None:
                lines.append(line)
        yield Window(heading["path"], lines, heading["is_edit"] is not None)


def parse_cell(call: ToolCall) -> ParsedCall:
    """What a cell of OpenHands' notebook showed of files, by functions of its own (`agentskills`).

    `open_file`, `goto_line` and `scroll_up` and `scroll_down` show windows, `search_file` and `search_dir` the lines of
    their hits. A cell without any of these functions is not understood.
    """
    functions = list(_FUNCTIONS.finditer(text_of(call.arguments, "code")))
    if not functions:
        return ParsedCall(unread=("action run_ipython",))
    opens, searches = (any(function[kind] for function in functions) for kind in ("opens", "searches"))
    windows, searched, spans = list(windows_in(call.output or "")), "", list[FileSpan]()
    if opens:
        shown = (window for window in windows if window.lines and not window.is_edit)
        spans += (FileSpan(window.path, window.lines[0], window.lines[-1]) for window in shown)
    for hit in _HIT.finditer(call.output or "") if searches else ():
        searched = hit["searched"] or searched
        path, line = hit["path"] or searched, line_of(hit["line"] or hit["of_path"])
        spans += [FileSpan(path, line, line)] if path and line is not None else []
    return ParsedCall(tuple(dict.fromkeys(spans)), opens or searches)
