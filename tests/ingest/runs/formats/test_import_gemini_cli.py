import json
from pathlib import Path

import pytest

from ingest.runs.formats.gemini_cli import GEMINI_CLI
from ingest.runs.trajectory import FileSpan, Trajectory
from tests.ingest.runs.formats.recorded_sessions import Json, one, rows

recognise, trajectories = GEMINI_CLI.recognise, GEMINI_CLI.trajectories

PATCH = b"--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x\n+y\n"


def called(tool: str, output: object = "x", /, *, status: object = "success", **args: object) -> Json:
    """A call with its result as a session's file has it; without one where the output is None."""
    response = {"error": output} if status == "error" else {"output": output}
    result = None if output is None else [{"functionResponse": {"id": "c", "name": tool, "response": response}}]
    return {"id": f"{tool}-{json.dumps(args)}", "name": tool, "args": args, "status": status, "result": result}


def session(*calls: Json, said: str = "") -> Json:
    message = {"id": "m1", "type": "gemini", "content": said, "toolCalls": list(calls)}
    asked = {"id": "m0", "type": "user", "content": "Find it."}
    return {"sessionId": "s", "projectHash": "h", "messages": [asked, message]}


def found(folder: Path, *calls: Json) -> Trajectory:
    return one(trajectories, folder, rows(session(*calls)))


def shown(folder: Path, *calls: Json) -> tuple[tuple[FileSpan, ...], ...]:
    return found(folder, *calls).steps


def streamed(*pairs: tuple[str, Json, Json | None]) -> bytes:
    """What is printed with `stream-json`: calls, each with what its result's row has."""
    events: list[Json] = [{"type": "init", "session_id": "s", "model": "m"}]
    for n, (tool, given, result) in enumerate(pairs):
        events.append({"type": "tool_use", "tool_name": tool, "tool_id": f"c{n}", "parameters": given})
        if result is not None:
            events.append({"type": "tool_result", "tool_id": f"c{n}", "status": "success", **result})
    return rows(*events)


CUT = "\nIMPORTANT: The file content has been truncated.\nStatus: Showing lines 11-20 of 90 total lines.\n\n1\tx"


@pytest.mark.parametrize(
    ("given", "output", "lines"),
    [
        ({"file_path": "a.py"}, "1. x\n2. y", (1, None)),
        ({"absolute_path": "a.py"}, "1\tx\n2\ty", (1, None)),
        ({"file_path": "a.py", "offset": 10, "limit": 5}, "x", (11, 15)),
        ({"file_path": "a.py", "offset": 10}, "x", (11, None)),
        ({"file_path": "a.py", "limit": 5}, "x", (1, 5)),
        ({"file_path": "a.py", "start_line": 4, "end_line": 6}, "x", (4, 6)),
        ({"file_path": "a.py", "offset": 10, "limit": 50}, CUT, (11, 20)),
        ({"path": "a.py"}, "[File content truncated: showing lines 1-2000 of 3000 total lines.]\nx", (1, 2000)),
    ],
)
def test_a_read_shows_the_lines_it_says_or_was_asked_for(
    tmp_path: Path, given: Json, output: str, lines: tuple[int, int | None]
) -> None:
    assert shown(tmp_path, called("read_file", output, **given)) == ((FileSpan("a.py", *lines),),)


def test_reading_many_files_shows_each_that_is_named_before_its_text(tmp_path: Path) -> None:
    text = "--- src/a.py ---\n\nx\n\n--- src/b.py ---\n\ny\n\n--- End of content ---"
    call = called("read_many_files", text, include=["src/*.py"])
    parts: Json = {**call, "result": [{"functionResponse": {"response": {"output": "Done."}}}, {"text": text}]}
    expected = ((FileSpan("src/a.py", 1), FileSpan("src/b.py", 1)),)
    assert shown(tmp_path, call) == shown(tmp_path, parts) == expected
    summary: Json = {"output": "**Processed Files:**\n- `src/a.py`\n- `src/b.py`\n"}
    stream = streamed(("read_many_files", {"include": ["src/*.py"]}, summary))
    assert one(trajectories, tmp_path, stream).steps == expected
    assert shown(tmp_path, called("read_many_files", "", paths=["a.py", "lib/", "*.md"])) == ((FileSpan("a.py", 1),),)


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ({}, "a.py"), ({"path": "src"}, "src/a.py"), ({"path": "src/Web.Api"}, "src/Web.Api/a.py"),
        ({"dir_path": "/w/src/"}, "/w/src/a.py"), ({"dir_path": "."}, "a.py"), ({"dir_path": "src/a.py"}, "src/a.py"),
    ],
)  # fmt: skip
def test_a_search_names_files_from_the_folder_that_was_searched(tmp_path: Path, given: Json, path: str) -> None:
    listed = 'Found 2 matches for pattern "x":\n---\nFile: a.py\nL3: x\nL9: x\n---'
    call = called("search_file_content", listed, pattern="x", **given)
    assert shown(tmp_path, call) == ((FileSpan(path, 3, 3), FileSpan(path, 9, 9)),)


@pytest.mark.parametrize(
    ("output", "n_shown"),
    [
        ("x = 1", 1),
        ("Command: cat a.py\nDirectory: (root)\nStdout: x = 1\nStderr: (empty)\nError: (none)\nExit Code: 0", 1),
        ("Output: x = 1\nProcess Group PGID: 9", 1),
        ("Output: cat: a.py: No such file or directory\nExit Code: 1", 0),
        ("Output: (empty)\nExit Code: 1", 0),
        ("Command exited with code: 1", 0),
    ],
)
def test_a_command_shows_what_it_printed_unless_it_failed(tmp_path: Path, output: str, n_shown: int) -> None:
    views = ((FileSpan("src/a.py", 1),),) * n_shown
    assert shown(tmp_path, called("run_shell_command", output, command="cat a.py", dir_path="src")) == views


def test_a_stream_leaves_out_what_a_read_gave(tmp_path: Path) -> None:
    data = streamed(
        ("read_file", {"file_path": "a.py"}, {"output": ""}),
        ("read_file", {"file_path": "b.py"}, {"output": "Read lines 1-20 of 90 from b.py"}),
        ("read_file", {"file_path": "c.py"}, {"status": "error", "output": "File not found."}),
        ("run_shell_command", {"command": "cat d.py"}, {"output": "x"}),
        ("write_file", {"file_path": "e.py"}, {}),
        ("read_file", {"file_path": "f.py"}, None),
    )
    trajectory = one(trajectories, tmp_path, data, patch=PATCH)
    assert trajectory.steps == ((FileSpan("a.py", 1),), (FileSpan("b.py", 1, 20),), (FileSpan("d.py", 1),))
    assert trajectory.patch == PATCH.decode()
    assert trajectory.unread == {"call without a result": 1}


def test_the_answer_may_come_in_pieces(tmp_path: Path) -> None:
    context = "<PATCH_CONTEXT>\nFile: src/a.py\nLines: 3-5\n</PATCH_CONTEXT>"
    assert one(trajectories, tmp_path, rows(session(said=context))).final == (FileSpan("src/a.py", 3, 5),)
    pieces = [{"type": "message", "role": "assistant", "content": part, "delta": True} for part in context]
    data = rows({"type": "init", "session_id": "s", "model": "m"}, *pieces)
    assert one(trajectories, tmp_path, data).final == (FileSpan("src/a.py", 3, 5),)


def test_a_message_that_is_written_again_counts_as_it_was_last(tmp_path: Path) -> None:
    message: Json = {"id": "m1", "type": "gemini", "content": "", "toolCalls": []}
    begun, ended = (
        {**message, "toolCalls": [one]}
        for one in (
            called("read_file", None, file_path="a.py", status="executing"),
            called("read_file", file_path="a.py"),
        )
    )
    data = rows({"sessionId": "s", "projectHash": "h"}, message, begun, {"$set": {"messages": [ended]}})
    assert recognise(data, "session-1.jsonl")
    for again in (data, rows({"sessionId": "s", "projectHash": "h"}, begun, ended)):
        trajectory = one(trajectories, tmp_path, again)
        assert (trajectory.steps, dict(trajectory.unread)) == (((FileSpan("a.py", 1),),), {})


def test_a_subagents_session_is_part_of_another() -> None:
    assert recognise(rows(session()), "session-1.json")
    assert not recognise(rows({"kind": "subagent", **session()}), "session-1.json")
