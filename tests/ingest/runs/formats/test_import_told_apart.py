import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.runs.find_trajectories import importers
from ingest.runs.values import objects_in
from ingest.sources.tree import UnreadableFileError
from lake.errors import GoldspanError
from lake.store import Lake
from tests.ingest.runs.agents import PATCH, ROCKETS, hits, imported, lake, of_item, zipped
from tests.ingest.runs.formats.recorded_sessions import gave, read, rows, used
from tests.ingest.runs.formats.test_made_up_files import CASES, content
from tests.tiny import command, put

__all__ = ["lake"]

TRAJECTORIES = {name: importer for name, importer in importers().items() if importer.kind == "trajectory"}
LOG = "--- BEGIN CONTEXT ---\nFile: src/engine.py\nLine number range: 1 - 5\n--- END CONTEXT ---\n"
SHORTEST = {file.stem: cases["the shortest record"]["files"] for file, cases in CASES.items()}
EXAMPLES = {name: next((path, content(held)) for path, held in files.items()) for name, files in SHORTEST.items()}
OF_EVENTS = ("agentless", "atif", "claude-code", "codex", "copilot-cli", "gemini-cli", "opencode", "openhands")


@pytest.mark.parametrize("name", TRAJECTORIES)
def test_the_beginning_that_a_list_of_formats_shows_is_known(name: str) -> None:
    example = importers()[name].example.encode()
    assert [importer.name for importer in importers().values() if importer.recognise(example, "a.json")] == [name]


@pytest.mark.parametrize(
    "name", ["agentless", "atif", "claude-code", "codex", "gemini-cli", "opencode", "openhands", "prometheus"]
)
def test_a_file_in_its_instances_folder_becomes_a_run(lake: Lake, name: str) -> None:
    path, data = EXAMPLES[name]
    result = imported(lake, zipped({f"{ROCKETS}/{path}": data}), name="a.zip", format=name)
    assert (result.counts["n_steps"], result.counts["n_rejected"]) == (1, 0)
    assert of_item(lake, "status", "n_steps") == ("done", 1)
    assert {row[0] for row in hits(lake, "path", part="final")} == {"src/engine.py"}


STARTED: dict[str, object] = {"data": {"version": 1, "producer": "x"}, "id": "1", "type": "session.start"}


@pytest.mark.parametrize("events", [[STARTED], [STARTED, STARTED], [{"data": {"version": 1}}] * 2])
def test_events_of_an_unknown_agent_are_no_ranking(lake: Lake, events: list[dict[str, object]]) -> None:
    assert not any(importer.recognise(rows(*events), "events.jsonl") for importer in importers().values())
    with pytest.raises(GoldspanError, match="unknown file format"):
        imported(lake, rows(*events), name="events.jsonl")


@pytest.mark.parametrize(
    ("head", "objects"),
    [
        (b'{"a": 1}\n{"b": 2}\n{"c": [1, {"d', [{"a": 1}, {"b": 2}, {"c": [1, {}]}]),
        (b'[{"a": 1}, {"b": ', [{"a": 1}, {}]), (b'{\n  "a": "cut o', [{"a": "cut o"}]),
        (b'\xef\xbb\xbf \n{"a": 1}', [{"a": 1}]), (b'{"a": oops}\n{"b": 2}\n', [{"b": 2}]),
        (b'{"a": "\\ud800"}\n', [{"a": "\ud800"}]), (b"7", []), (b"", []), (b"[" * 10**5, []),
    ],
)  # fmt: skip
def test_the_objects_of_a_beginning_go_as_far_as_it_does(head: bytes, objects: list[object]) -> None:
    assert [row for row in objects_in(head) if row or {} in objects] == objects


KEYS = (
    "type", "message", "content", "sessionId", "payload", "item", "action", "args", "observation", "cause", "extras",
    "metadata", "history", "instance_id", "test_result", "steps", "source", "tool_calls", "results", "arguments", "id",
    "function_name", "tool_call_id", "source_call_id", "schema_version", "tool_use_id", "name", "input", "call_id",
    "output", "command", "path", "file_path", "view_range", "offset", "limit", "start", "end", "kind", "tool_name",
    "found_files", "found_edit_locs", "4_related_elements", "5_sampled_edit_locs_and_patches", "edit_locs", "events",
    "exit_code", "toolUseResult", "file", "startLine", "numLines", "cwd", "role", "is_error", "extra",
    "aggregated_output", "messages", "toolCalls", "args", "result", "functionResponse", "response", "status", "paths",
    "tool_id", "parameters", "parts", "part", "tool", "state", "data", "toolCallId", "toolName", "success", "info",
    "traj_data", "pred_steps", "pred_files", "pred_spans", "pred_symbols", "files", "spans", "symbols", "trajectory",
    "submission", "patch_context", "text", "config", "environment", "image", "model_patch",
)  # fmt: skip
TEXTS = (
    "assistant", "user", "tool_use", "tool_result", "Read", "Grep", "Bash", "str_replace_editor", "view", "read", "run",
    "response_item", "item.completed", "function_call", "function_call_output", "command_execution", "session_meta",
    "message", "agent", "ATIF-v1.4", "ActionEvent", "ObservationEvent", "cat a.py", "a.py", "line: 1", "a.py:3:x", "c1",
    "<PATCH_CONTEXT>File: a.py\nLines: 2-1</PATCH_CONTEXT>", "\ud800", '{"command": ["cat", "a.py"]}', "error", "text",
    "gemini", "read_file", "read_many_files", "run_shell_command", "search_file_content", "init", "completed", "grep",
    "tool.execution_start", "tool.execution_complete", "session.start", "tool", "--- a.py ---", "Output: x", "line",
    "..", "/", "", "\0", "<explore_context>File: a.py\nLines: 3-1</explore_context>", "@@ -1 +1 @@\n-x",
    "```bash\nsed -n '1,99999999999999999999p' a.py && cat b.py | nl c.py\n```", "File: a.py\nLines: 1-2",
    "str_replace_editor view /testbed/a.py --view_range 1 99999999999999999999",
)  # fmt: skip
TEXT = st.sampled_from(TEXTS)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=7),
    max_leaves=40,
)


@st.composite
def changed(draw: st.DrawFn, value: object) -> object:
    """A value with some of what it holds, at any depth, put in the place of anything."""
    if draw(st.integers(0, 19)) == 0:
        return draw(JSON)
    if isinstance(value, dict):
        return {key: draw(changed(inner)) for key, inner in value.items()}
    return [draw(changed(inner)) for inner in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", OF_EVENTS)
@given(data=st.data())
def test_whatever_stands_in_the_place_of_anything_is_read(tmp_path: Path, name: str, data: st.DataObject) -> None:
    path, example = EXAMPLES[name]
    changes = [data.draw(changed(json.loads(line))) for line in example.splitlines()]
    altered = rows(*changes, data.draw(JSON))
    TRAJECTORIES[name].recognise(altered, path)
    try:
        trajectories = read(TRAJECTORIES[name].trajectories, tmp_path, altered, path)
    except UnreadableFileError:
        return
    assert all(isinstance(view.path, str) for trajectory in trajectories for step in trajectory.steps for view in step)


@given(
    lines=st.lists(st.sampled_from([*LOG.split("\n"), "--- BEGIN AGGREGATED CONTEXT ---", "Line number range: 9 - 1"]))
)
def test_a_log_in_any_order_is_read(tmp_path: Path, lines: list[str]) -> None:
    (trajectory,) = read(TRAJECTORIES["prometheus"].trajectories, tmp_path, "\n".join(lines).encode(), "a.log")
    assert all(view.start is not None and view.end is not None for view in trajectory.final or ())


def subagent() -> bytes:
    asks: dict[str, object] = {"type": "user", "sessionId": "s", "message": {"role": "user", "content": "Look."}}
    events = (asks, used("Read", "r1", file_path="a.py"), gave("1\tx", "r1"))
    return rows(*({**event, "isSidechain": True, "agentId": "a1f"} for event in events))


SESSION = rows(used("Task", "t1", prompt="Look."), gave("Done.", "t1", agentId="1"))


def test_what_lies_in_a_sessions_folder_is_no_session_by_itself(lake: Lake) -> None:
    files = {
        f"{ROCKETS}.jsonl": SESSION, f"{ROCKETS}/subagents/agent-1.jsonl": subagent(),
        f"{ROCKETS}/tool-results/r2.txt": b"x",
    }  # fmt: skip
    tally = imported(lake, zipped(files), name="a.zip").counts
    assert (tally["n_steps"], tally["n_skipped"], tally["n_done"]) == (1, 0, 1)


def test_a_session_given_alone_is_read_with_its_subagents_and_patch(lake: Lake, tmp_path: Path) -> None:
    put(tmp_path / f"{ROCKETS}/subagents/agent-1.jsonl", subagent())
    put(tmp_path / f"{ROCKETS}.patch", PATCH.encode())
    tally = imported(lake, put(tmp_path / f"{ROCKETS}.jsonl", SESSION)).counts
    assert (tally["n_steps"], tally["n_no_patch"]) == (1, 0)


def test_a_patch_that_changed_beside_a_session_makes_it_another_import(lake: Lake, tmp_path: Path) -> None:
    session = put(tmp_path / f"{ROCKETS}.jsonl", SESSION)
    for patch, is_current in ((None, False), (PATCH, False), (PATCH, True), ("", False)):
        if patch is not None:
            put(tmp_path / f"{ROCKETS}.patch", patch.encode())
        assert imported(lake, session).is_current is is_current
        assert of_item(lake, "has_patch") == (bool(patch),)


def test_a_file_that_a_session_was_read_from_is_not_listed_as_not_read(lake: Lake, tmp_path: Path) -> None:
    name = "00000000-1111-2222-3333-444444444444"
    begun = {"type": "function_call", "name": "spawn_agent", "call_id": "c1", "arguments": "{}"}
    told = {"type": "function_call_output", "call_id": "c1", "output": f'{{"agent_id": "{name}"}}'}
    looked = {"type": "function_call", "name": "shell_command", "call_id": "c2", "arguments": '{"command": "cat a.py"}'}
    showed = {"type": "function_call_output", "call_id": "c2", "output": "x = 1"}

    def rollout(source: object, *items: object) -> bytes:
        first = {"type": "session_meta", "payload": {"id": "s", "cwd": "/testbed", "source": source}}
        return rows(first, *({"type": "response_item", "payload": item} for item in items))

    put(tmp_path / f"runs/{ROCKETS}.jsonl", rollout("cli", begun, told))
    put(tmp_path / f"runs/rollout-{name}.jsonl", rollout({"subagent": "review"}, looked, showed))
    put(tmp_path / "runs/notes.txt", b"x")
    run = command("ingest", "show", tmp_path / "runs").done()
    assert "a.py" in run.out
    assert "not read: file *.txt (1)" in run.out
    assert imported(lake, tmp_path / "runs").counts["n_skipped"] == 1
