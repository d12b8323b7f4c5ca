"""Tools of agents by their names, and the lines that they are asked for, whatever the arguments are called."""

from __future__ import annotations

import pytest

from ingest.runs.calls.tools import ToolCall, parse_call
from ingest.runs.trajectories.trajectory import FileSpan


@pytest.mark.parametrize(
    "asked",
    [
        {"start_line": 3, "end_line": 9}, {"startLine": 3, "endLine": "9"}, {"line_start": 3, "line_end": 9},
        {"start_line_one_indexed": 3, "end_line_one_indexed_inclusive": 9}, {"view_range": [3, 9]},
        {"offset": 3, "limit": 7},
    ],
)  # fmt: skip
def test_a_reading_tool_shows_the_lines_it_is_asked_for(asked: dict[str, object]) -> None:
    assert parse_call(ToolCall("read_file", {"path": "a.py", **asked})).views == (FileSpan("a.py", 3, 9),)


@pytest.mark.parametrize("name", ["apply_patch", "read_bash", "CronCreate", "write_to_file", "list_mcp_resources"])
def test_a_tool_that_shows_nothing_of_files_is_no_unknown_one(name: str) -> None:
    call = parse_call(ToolCall(name, {"path": "a.py"}, "a.py:3:x"))
    assert (call.views, call.unread) == ((), ())
