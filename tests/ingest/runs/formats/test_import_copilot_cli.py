import json
from pathlib import Path

import pytest

from ingest.runs.formats.copilot_cli import COPILOT_CLI
from ingest.runs.trajectory import FileSpan, Trajectory
from tests.ingest.runs.formats.recorded_sessions import Json, one, rows

recognise, trajectories = COPILOT_CLI.recognise, COPILOT_CLI.trajectories

STARTED: Json = {"type": "session.start", "data": {"copilotVersion": "1.0", "context": {"cwd": "/testbed"}}}
WINDOWS: Json = {"type": "session.start", "data": {"producer": "copilot-agent", "context": {"cwd": "C:\\work\\repo"}}}


def began(tool: str, given: object) -> Json:
    data = {"toolCallId": f"{tool}-{json.dumps(given)}", "toolName": tool, "arguments": given}
    return {"type": "tool.execution_start", "data": data}


def ended(tool: str, given: object, output: str, *, success: bool = True) -> Json:
    said: Json = {"result": {"content": output}} if success else {"error": {"message": output}}
    data = {"toolCallId": f"{tool}-{json.dumps(given)}", "success": success, **said}
    return {"type": "tool.execution_complete", "data": data}


def ran(tool: str, output: str = "", /, **given: object) -> list[Json]:
    return [began(tool, given), ended(tool, given, output)]


def failed(tool: str, /, **given: object) -> list[Json]:
    return [began(tool, given), ended(tool, given, "No.", success=False)]


def found(folder: Path, *events: Json, start: Json = STARTED) -> Trajectory:
    return one(trajectories, folder, rows(start, *events))


@pytest.mark.parametrize(
    ("given", "output", "lines"),
    [
        ({}, "1. x\n2. 1. y\n3. ", (1, None)),
        ({"view_range": [5, 7]}, "5. x\n6. \n7. y", (5, 7)),
        ({"view_range": [5, 6]}, "5. x\n6. y\n7. ", (5, 6)),
        ({"view_range": [5, -1]}, "5. x\n6. y\n7. ", (5, None)),
        ({}, "1. x\n2. y\n<too long, cut>\n90. z", (1, 2)),
    ],
)
def test_a_view_shows_the_lines_it_numbers(
    tmp_path: Path, given: Json, output: str, lines: tuple[int, int | None]
) -> None:
    assert found(tmp_path, *ran("view", output, path="/testbed/a.py", **given)).steps == ((FileSpan("a.py", *lines),),)


@pytest.mark.parametrize(("code", "n_shown"), [(0, 1), (1, 0)])
@pytest.mark.parametrize("ending", ["<exited with exit code {}>", "<shellId: 3 completed with exit code {}>"])
def test_a_command_shows_what_it_printed_unless_its_code_says_that_it_failed(
    tmp_path: Path, ending: str, code: int, n_shown: int
) -> None:
    output = f"x\n{ending.format(code)}"
    steps = found(tmp_path, *ran("bash", output, command="cat src/a.py")).steps
    assert steps == ((FileSpan("src/a.py", 1),),) * n_shown


def test_edits_name_their_files_and_what_failed_or_never_ended_shows_nothing(tmp_path: Path) -> None:
    patch = "*** Begin Patch\n*** Update File: c.py\n@@\n-x\n+y\n*** End Patch"
    trajectory = found(
        tmp_path,
        *ran("edit", "Updated.", path="/testbed/a.py", old_str="x", new_str="y"),
        *ran("create", "Created.", path="/testbed/b.py", file_text="x"),
        began("apply_patch", patch),
        ended("apply_patch", patch, "Done."),
        *failed("edit", path="/testbed/d.py", old_str="x", new_str="y"),
        *failed("view", path="/testbed/e.py"),
        began("view", {"path": "/testbed/f.py"}),
        *ran("glob", "./a.py", pattern="*"),
        *ran("report_intent", "Noted.", intent="Look"),
        *ran("look", "x"),
    )
    assert trajectory.steps == ()
    assert trajectory.unread == {"call without a result": 1, "tool look": 1}


def test_paths_of_windows_are_told_below_the_repository(tmp_path: Path) -> None:
    view = ran("view", "1. x\n2. ", path="C:\\work\\repo\\src\\a.py")
    edit = ran("edit", "Updated.", path="C:\\work\\repo\\src\\b.py")
    shell = ran("powershell", "x\n<shellId: 0 completed with exit code 0>", command="cat src\\c.py")
    trajectory = found(tmp_path, *view, *edit, *shell, start=WINDOWS)
    assert trajectory.steps == ((FileSpan("src/a.py", 1),), (FileSpan("src/c.py", 1),))


def test_a_record_of_results_alone_is_recognised_and_their_text_may_stand_alone(tmp_path: Path) -> None:
    turn: Json = {"type": "assistant.turn_start", "data": {"turnId": "0"}}
    assert recognise(rows({"type": "session.mcp_server_status_changed", "data": {}}, turn), "events.jsonl")
    call = "view-{}"
    began_at: Json = {"toolCallId": call, "toolName": "view", "arguments": {"path": "a.py"}}
    events: list[Json] = [
        {"type": "tool.execution_start", "data": began_at},
        {"type": "tool.execution_complete", "data": {"toolCallId": call, "success": True, "result": "1. x\n2. y"}},
    ]
    assert one(trajectories, tmp_path, rows(*events)).steps == ((FileSpan("a.py", 1),),)
