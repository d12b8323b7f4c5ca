from pathlib import Path

import pytest

from ingest.runs.formats.openhands import companions, recognise, trajectories
from ingest.runs.importer import DamagedFileError
from ingest.runs.trajectory import FileSpan, Trajectory
from tests.ingest.runs.formats.recorded_sessions import Json, one, opened, read, rows


def row(*history: object, **more: object) -> Json:
    patch = {"git_patch": "diff --git a/a.py b/a.py"}
    return {"instance_id": "acme__rockets-1", "test_result": patch, "history": list(history), **more}


def reads(number: int, path: str, **given: object) -> Json:
    return {"id": number, "source": "agent", "action": "read", "args": {"path": path, "start": 0, "end": -1, **given}}


def runs(number: int, command: str) -> Json:
    return {"id": number, "source": "agent", "action": "run", "args": {"command": command}}


def observed(cause: int, kind: str, content: str = "x", **metadata: object) -> Json:
    return {"id": cause + 1, "cause": cause, "observation": kind, "content": content, "extras": {"metadata": metadata}}


def found_in(folder: Path, *history: object) -> Trajectory:
    return one(trajectories, folder, rows(row(*history)))


def test_the_older_history_has_pairs(tmp_path: Path) -> None:
    kept = {"observation": "read", "content": "x", "extras": {}}
    lost = {"observation": "error", "content": "x", "extras": {}}
    pair = {"action": "read", "args": {"path": "/w/a.py", "start": 0, "end": 9}}
    assert found_in(tmp_path, [pair, kept], [{**pair, "args": {"path": "/w/b.py"}}, lost]).steps == (
        (FileSpan("/w/a.py", 1, 9),),
    )


NUMBERED = "Here's the result of running `cat -n` on /w/r/a.py:\n     4\tx\n     5\ty\n     6\t\n"


def test_paths_in_the_folder_that_the_task_names_are_below_it(tmp_path: Path) -> None:
    task = {"action": "message", "args": {"content": "<uploaded_files>\n/w/r\n</uploaded_files>\nMend it."}}
    history = [
        task, reads(1, "/w/r/src/a.py"), observed(1, "read"), runs(3, "cd /w/r/src && cat a.py"),
        observed(3, "run", working_dir="/w/r/src", exit_code=0), runs(5, "cat b.py ../../c.py"),
        observed(5, "run", exit_code=-1), {"id": 7, "action": "edit", "args": {"path": "/w/r/src/a.py"}},
        observed(7, "edit", "The file has been edited"), {"id": 9, "action": "write", "args": {"path": "/w/d.py"}},
        observed(9, "error", "No."),
    ]  # fmt: skip
    found = found_in(tmp_path, *history)
    assert found.steps == (
        (FileSpan("src/a.py", 1, None),),
        (FileSpan("src/a.py", 1, None),),
        (FileSpan("src/b.py", 1, None), FileSpan("/w/c.py", 1, None)),
    )


def test_the_published_reading_is_of_actions_whatever_came_of_them(tmp_path: Path) -> None:
    history = [
        reads(1, "/workspace/r/a.py"), observed(1, "read", NUMBERED), reads(3, "/workspace/r/b.py", view_range=[4, 9]),
        observed(3, "read", "ERROR:\nNo."), runs(5, "sed -n '8,12p' r/b.py; head -n 3 r/no.txt"),
        observed(5, "run", exit_code=1), reads(7, "/workspace/r/b.py", view_range=[20, -1]), observed(7, "read"),
        runs(9, "sed -i s/x/y/ r/a.py && cat r/a.py"), observed(9, "run", exit_code=0),
    ]  # fmt: skip
    found = found_in(tmp_path, *history)
    a, b = FileSpan("r/a.py"), "r/b.py"
    assert found.published is not None
    assert found.published.steps == ((a,), (FileSpan(b, 4, 9),), (FileSpan(b, 8, 12),), (FileSpan(b),))
    assert found.published.final == (a, FileSpan(b), FileSpan(b, 4, 12))
    assert FileSpan("/workspace/r/b.py", 4, 9) not in (found.final or ())


def test_a_terminal_that_does_not_say_where_it_is_stays_where_it_went(tmp_path: Path) -> None:
    history: list[Json] = [
        {"action": "run", "command": "cd src"}, {"observation": "run", "content": "", "exit_code": 0},
        {"action": "run", "command": "cat a.py"}, {"observation": "run", "content": "x", "exit_code": 0},
        {"action": "run", "command": "cd /w && ls"}, {"observation": "run", "content": "b.py", "exit_code": 0},
        {"action": "run", "command": "cat b.py"}, {"observation": "run", "content": "x", "exit_code": 0},
    ]  # fmt: skip
    issue = {"owner": "acme", "repo": "rockets", "number": 5, "title": "x"}
    resolver: Json = {"issue": issue, "git_patch": "diff --git a/a.py b/a.py", "history": history, "success": True}
    found = one(trajectories, tmp_path, rows(resolver))
    assert found.steps == ((FileSpan("src/a.py", 1, None),), (FileSpan("/w/b.py", 1, None),))


FILE = "[File: /w/a.py (9 lines total)]"


@pytest.mark.parametrize(
    ("code", "output", "views"),
    [
        ("open_file('a.py', 3)", f"{FILE}\n(2 more lines above)\n3|x\n4|y\n(5 more)", [(3, 4)]),
        ("scroll_down()", f"{FILE}\r\n5|x\r\n9|\r\n", [(5, 9)]),
        ("edit_file_by_replace('a.py', '', '')", f"{FILE[:-2]} after edit)]\n1|x\n", []),
        ("edit_file('a.py')", "[Your proposed edit has introduced new syntax error(s).]\n1|x\n", []),
        ("create_file('a.py')", f"{FILE}\n1|\n[File a.py created.]", []),
        ("search_file('x')", '[Found 2 matches for "x" in /w/a.py]\nLine 3: x\nLine 7: x', [(3, 3), (7, 7)]),
        ("search_dir('x')", '[Found 1 matches for "x" in ./]\n/w/a.py (Line 8): x\n[End]', [(8, 8)]),
        ("open_file('b.py')", "FileNotFoundError: no", []),
    ],
)
def test_a_cell_shows_what_its_functions_print(
    tmp_path: Path, code: str, output: str, views: list[tuple[int, int]]
) -> None:
    cell = {"id": 1, "action": "run_ipython", "args": {"code": code}}
    found = found_in(tmp_path, cell, observed(1, "run_ipython", output))
    assert [view for step in found.steps for view in step] == [FileSpan("/w/a.py", *lines) for lines in views]
    assert found.unread == {}


def sdk(number: str, command: str, text: str, exit_code: int = 0) -> list[Json]:
    """A command of the newer SDK with what it printed, as a terminal prints it."""
    seen = {
        "content": [{"type": "text", "text": f"\x1b[?2004l{text}\n\x1b[?2004h"}], "exit_code": exit_code,
        "metadata": {"working_dir": "/w/rockets"},
    }  # fmt: skip
    call = {"kind": "ActionEvent", "source": "agent", "tool_name": "terminal", "action": {"command": command}}
    result = {"kind": "ObservationEvent", "source": "environment", "observation": seen}
    return [{**call, "tool_call_id": number}, {**result, "tool_call_id": number}]


EVENTS = [*sdk("1", "ls", "a.py"), *sdk("2", "cat /w/rockets/a.py", "x"), *sdk("3", "cat b.py", "No.", 1)]


def test_bare_events_are_one_trajectory_with_the_patch_beside_them(tmp_path: Path) -> None:
    data = rows({"kind": "SystemPromptEvent", "source": "agent"}, *EVENTS)
    assert recognise(data, "events.jsonl")
    found = one(trajectories, tmp_path, data, patch=b"diff")
    assert (found.steps, found.item, found.patch) == (((FileSpan("a.py", 1, None),),), "", "diff")
    older = [reads(1, "/w/a.py"), observed(1, "read")]
    assert recognise(rows(older), "trajectory.json")
    assert one(trajectories, tmp_path, rows(older), "trajectory.json").steps == ((FileSpan("/w/a.py", 1, None),),)


def test_what_an_application_tells_beside_calls_and_answers_is_no_trajectory(tmp_path: Path) -> None:
    state: Json = {"source": "environment", "observation": "agent_state_changed", "extras": {"agent_state": "running"}}
    message: Json = {"source": "user", "action": "message", "message": "Fix it"}
    recalled: Json = {"observation": "recall", "content": "", "extras": {}}
    events = [state, message, recalled, reads(3, "/w/a.py"), state, observed(3, "read"), state, {"status_update": True}]
    for data in (rows(*events), rows(events)):
        assert recognise(data, "trajectory.json")
        found = one(trajectories, tmp_path, data, "trajectory.json")
        assert (found.failed, found.steps) == ("", ((FileSpan("/w/a.py", 1, None),),))
        assert found.unread == {"action without a name": 1}
    refused: Json = {"kind": "AgentErrorEvent", "source": "agent", "tool_call_id": "9", "error": "No."}
    paused: Json = {"kind": "PauseEvent", "source": "user"}
    call = sdk("9", "cat /w/rockets/b.py", "")[0]
    assert one(trajectories, tmp_path, rows(*EVENTS[:4], paused, call, refused)).steps == (
        (FileSpan("a.py", 1, None),),
    )


def test_events_that_have_a_file_each_are_read_in_their_order(tmp_path: Path) -> None:
    files = {f"c/events/event-{n:05}-{n}f.json": rows(event) for n, event in enumerate(EVENTS)}
    first = "c/events/event-00000-0f.json"
    (found,) = trajectories(opened(tmp_path, first, files))
    assert found.steps == ((FileSpan("a.py", 1, None),),)
    assert list(companions(first)) == ["c/events/event-00000-0f.patch", "c/events/"]


def test_an_event_that_is_lost_damages_all(tmp_path: Path) -> None:
    with pytest.raises(DamagedFileError, match="line 7: not JSON"):
        read(trajectories, tmp_path, rows(*EVENTS) + b"{")


def test_an_instance_without_a_history_has_failed_and_says_why(tmp_path: Path) -> None:
    found = one(trajectories, tmp_path, rows({**row(), "history": None, "error": "RuntimeError: no container"}))
    assert found.failed == "it has no list of events; RuntimeError: no container"
