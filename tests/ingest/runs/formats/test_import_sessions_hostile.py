"""Records of sessions that hold anything anywhere: never a traceback, and every call is read or counted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.runs.calls.scripts import script_calls
from ingest.runs.formats import claude_code, codex
from ingest.runs.registry import importers
from tests.ingest.runs.formats.recorded_sessions import META, Json, read, rollout, rows, shell, used

KEYS = (
    "type", "payload", "message", "content", "id", "name", "input", "arguments", "call_id", "output", "metadata",
    "exit_code", "role", "cwd", "toolUseResult", "file", "startLine", "numLines", "agentId", "tool_use_id", "is_error",
    "action", "args", "path", "view_range", "start", "end", "command", "code", "observation", "cause", "extras",
    "working_dir", "kind", "source", "tool_name", "tool_call_id", "tool_call", "history", "issue", "test_result",
    "tool_uses", "recipient_name", "parameters", "changes", "session_id", "cell_id", "cmd", "workdir", "text",
)  # fmt: skip
TEXTS = (
    "assistant", "user", "tool_use", "tool_result", "Read", "Grep", "Task", "Bash", "response_item", "function_call",
    "function_call_output", "custom_tool_call", "exec", "exec_command", "write_stdin", "apply_patch", "message",
    "patch_apply_end", "item.completed", "read", "run", "run_ipython", "edit", "ActionEvent", "ObservationEvent",
    "c1", "a.py", "cat a.py", "..", "", "\0", "\ud800", "     1\u2192x", "Output:\n",
    "Process running with session ID 1\n", "Chunk ID: 1\nOutput:\nx",
    "*** Begin Patch\n*** Update File: a.py", "[File: a.py (3 lines total)]\n1|x",
    "open_file('a.py')", "tools.exec_command({cmd: `cat ${a}`})", '{"output": 1}', "[" * 3000,
)  # fmt: skip
TEXT = st.sampled_from(TEXTS) | st.text(max_size=5)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6),
    max_leaves=20,
)
OBJECT = st.dictionaries(st.sampled_from(KEYS), JSON, max_size=6)
FORMATS = ("claude-code", "codex", "copilot-cli", "gemini-cli", "opencode", "openhands")
READERS = {name: importers()[name].trajectories for name in FORMATS}
GIVEN = settings(max_examples=60)


@pytest.mark.parametrize("name", READERS)
@GIVEN
@given(events=st.lists(OBJECT, max_size=6))
def test_any_rows_are_one_trajectory_or_several(tmp_path: Path, name: str, events: list[Json]) -> None:
    assert all(one.steps or not one.final for one in read(READERS[name], tmp_path, rows(*events)))


@GIVEN
@given(parts=st.lists(OBJECT, max_size=4), beside=JSON)
def test_any_parts_of_a_message_are_read(tmp_path: Path, parts: list[Json], beside: object) -> None:
    said = {**used("Read", file_path="a.py"), "message": {"content": [{**part, "type": "tool_use"} for part in parts]}}
    gave = {"type": "user", "toolUseResult": beside, "message": {"content": [{**one, "type": "tool_result"} for one in parts]}}  # fmt: skip  # noqa: E501  # one event
    (found,) = read(claude_code.CLAUDE_CODE.trajectories, tmp_path, rows(said, gave))
    ids = [part.get("id") for part in parts]
    assert len(found.events) >= len({one for one in ids if isinstance(one, str) and one})


@GIVEN
@given(items=st.lists(OBJECT, max_size=4), output=JSON)
def test_any_items_of_a_rollout_are_read(tmp_path: Path, items: list[Json], output: object) -> None:
    events = [rollout(**{**item, "type": "function_call", "call_id": str(n)}) for n, item in enumerate(items)]
    gave = [rollout(type="function_call_output", call_id=str(n), output=output) for n in range(len(items))]
    (found,) = read(codex.CODEX.trajectories, tmp_path, rows(META, *shell("cat a.py", "x"), *events, *gave))
    assert len(found.events) >= 1 + len([item for item in items if "tool_uses" not in str(item)])


def test_scripts_nested_too_deep_are_no_scripts() -> None:
    assert not script_calls("tools.a(" * 5_000 + ")" * 5_000)
    assert not script_calls("f(" * 3_000 + "tools.a({})" + ")" * 3_000)
    assert json.dumps(script_calls("tools.a({b: [" + "[" * 200 + "]" * 200 + "]})")).count("[") == 2 + 201
