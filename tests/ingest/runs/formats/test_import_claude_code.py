from pathlib import Path

import pytest

from ingest.runs.formats.claude_code import CLAUDE_CODE
from ingest.runs.trajectory import FileSpan
from lake.store import Lake
from tests.ingest.runs.agents import ROCKETS, counts, imported, issues_once, lake, zipped
from tests.ingest.runs.formats.recorded_sessions import Json, gave, one, opened, rows, said_by_claude, used
from tests.tiny import put

__all__ = ["issues_once", "lake"]


def steps(folder: Path, *events: object) -> tuple[tuple[FileSpan, ...], ...]:
    return one(CLAUDE_CODE.trajectories, folder, rows(*events)).steps


def test_what_stands_beside_the_result_says_it_more_exactly(tmp_path: Path) -> None:
    events = [
        used("Read", file_path="/testbed/a.py"),
        gave("text", file={"startLine": 5, "numLines": 3, "totalLines": 9}),
    ]
    assert steps(tmp_path, *events) == ((FileSpan("a.py", 5, 7),),)


@pytest.mark.parametrize(
    ("asked", "view"),
    [
        ({}, FileSpan("a.py", 1, None)),
        ({"offset": 7}, FileSpan("a.py", 7, None)),
        ({"offset": 7, "limit": 3}, FileSpan("a.py", 7, 9)),
        ({"limit": 3}, FileSpan("a.py", 1, 3)),
        ({"offset": "7", "limit": None}, FileSpan("a.py", 7, None)),
    ],
)
def test_without_numbers_it_is_what_was_asked_for(tmp_path: Path, asked: dict[str, object], view: FileSpan) -> None:
    assert steps(tmp_path, used("Read", "c1", file_path="/testbed/a.py", **asked), gave("no numbers")) == ((view,),)


def test_a_final_context_that_the_assistant_names_is_taken_in_its_place(tmp_path: Path) -> None:
    template = {"type": "user", "sessionId": "s", "message": {"role": "user", "content": "<PATCH_CONTEXT>File: t.py\nLines: 1-2</PATCH_CONTEXT>"}}  # fmt: skip  # noqa: E501  # one event
    answer = said_by_claude("Done.\n<PATCH_CONTEXT>\nFile: /testbed/src/a.py\nLines: 10-30\n</PATCH_CONTEXT>")
    seen = [used("Bash", command="cat b.py"), gave("x")]
    found = one(CLAUDE_CODE.trajectories, tmp_path, rows(template, *seen, answer))
    assert (found.steps, found.final) == (((FileSpan("b.py", 1, None),),), (FileSpan("src/a.py", 10, 30),))
    assert one(CLAUDE_CODE.trajectories, tmp_path, rows(template, *seen)).final == (FileSpan("b.py", 1, None),)


def test_calls_that_cannot_be_read_are_counted(tmp_path: Path) -> None:
    events = [
        used("mcp__serena__find_symbol", "c1"), gave("x", "c1"), used("mcp__serena__find_symbol", "c2"),
        gave("x", "c2"), used("Bash", "c3", command="cat a.py"),
    ]  # fmt: skip
    found = one(CLAUDE_CODE.trajectories, tmp_path, rows(*events))
    assert found.steps == ()
    assert found.unread == {"tool mcp__serena__find_symbol": 2, "call without a result": 1}


def subagent(prompt: str, *events: Json) -> bytes:
    """What a subagent's own file records: its task, then its events."""
    task: Json = {"type": "user", "sessionId": "s", "message": {"role": "user", "content": prompt}}
    return rows(*({**event, "isSidechain": True, "agentId": "a1f"} for event in (task, *events)))


SEEN = used("Read", "r1", file_path="a.py"), gave("1\tx", "r1")
FINAL = "<PATCH_CONTEXT>File: no.py\nLines: 1-2</PATCH_CONTEXT>"
"""What a subagent says is no answer of the session."""


def test_a_subagent_whose_file_is_not_there_is_counted_unless_it_is_recorded_here(tmp_path: Path) -> None:
    events = [used("Task", "t1", prompt="Look."), gave("Done.", "t1", agentId="a1f")]
    assert one(CLAUDE_CODE.trajectories, tmp_path, rows(*events)).unread == {"subagent whose file is not there": 1}
    seen = [{**event, "isSidechain": True, "agentId": "a1f"} for event in SEEN]
    found = one(CLAUDE_CODE.trajectories, tmp_path, rows(*events[:1], *seen, *events[1:]))
    assert (found.steps, found.unread) == (((FileSpan("a.py", 1, 1),),), {})


def test_the_subagents_of_a_workflow_are_read_where_it_was_begun(tmp_path: Path) -> None:
    session = [used("Workflow", "w1"), gave("Launched.", "w1", transcriptDir="s/subagents/workflows/wf_1")]
    files = {
        "s.jsonl": rows(*session),
        "s/subagents/workflows/wf_1/agent-1.jsonl": subagent("Look.", *SEEN),
        "s/subagents/workflows/wf_2/agent-2.jsonl": subagent("Look.", *SEEN),
    }
    (found,) = CLAUDE_CODE.trajectories(opened(tmp_path, "s.jsonl", files))
    assert (found.steps, found.unread) == (((FileSpan("a.py", 1, 1),),), {"file agent-2.jsonl": 1})


def test_a_subagent_without_an_id_is_known_by_its_task_and_others_are_counted(tmp_path: Path) -> None:
    session = [used("Task", "t1", prompt="Look."), gave("Done.", "t1"), used("Agent", "t2", prompt="Stop.")]
    seen = [used("Bash", "b1", command="cat b.py"), gave("x", "b1")]
    files = {
        "s.jsonl": rows(*session),
        "s/subagents/agent-1.jsonl": subagent("Else.", *seen),
        "s/subagents/agent-2.jsonl": subagent("Look.", *seen) + b"{",
        "s/subagents/agent-3.jsonl": subagent("Stop."),
        "s/subagents/agent-2.meta.json": b"{}",
    }
    (found,) = CLAUDE_CODE.trajectories(opened(tmp_path, "s.jsonl", files))
    assert found.steps == ((FileSpan("b.py", 1, None),),)
    assert found.unread == {"file agent-1.jsonl": 1, "call without a result": 1}
    assert len(found.notes) == 1
    assert found.notes[0].startswith("s/subagents/agent-2.jsonl, line 4 is lost: not JSON")


def test_what_lies_in_a_sessions_folder_is_no_session_by_itself(lake: Lake) -> None:
    files = {
        f"{ROCKETS}.jsonl": rows(used("Task", "t1", prompt="Look."), gave("Done.", "t1")),
        f"{ROCKETS}/subagents/agent-1.jsonl": subagent(
            "Look.", used("Read", "r1", file_path="a.py"), gave("1\tx", "r1")
        ),
        f"{ROCKETS}/tool-results/r2.txt": b"x",
    }
    tally = counts(imported(lake, zipped(files), name="a.zip"))
    assert (tally["n_steps"], tally["n_skipped"], tally["n_done"]) == (1, 0, 1)


def test_a_session_given_alone_is_read_with_its_subagents_and_patch(lake: Lake, tmp_path: Path) -> None:
    put(
        tmp_path / f"{ROCKETS}/subagents/agent-1.jsonl", subagent("Look.", used("Read", file_path="a.py"), gave("1\tx"))
    )
    put(tmp_path / f"{ROCKETS}.patch", b"--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x\n+y\n")
    session = rows(used("Task", "t1", prompt="Look."), gave("Done.", "t1"))
    tally = counts(imported(lake, put(tmp_path / f"{ROCKETS}.jsonl", session)))
    assert (tally["n_steps"], tally["n_no_patch"]) == (1, 0)


@pytest.mark.parametrize(
    "text",
    [
        "No matches found", "No files found", "<system-reminder>The file is shorter.</system-reminder>",
        "File unchanged since last read. Refer to it above.", "",
        "File content (28375 tokens) exceeds maximum allowed tokens (25000).",
    ],
)  # fmt: skip
def test_what_nothing_was_found_for_or_is_not_shown_again_is_no_step(tmp_path: Path, text: str) -> None:
    tool = "Grep" if text.startswith("No ") else "Read"
    found = one(
        CLAUDE_CODE.trajectories,
        tmp_path,
        rows(used(tool, path="/testbed/a.py", file_path="/testbed/a.py"), gave(text)),
    )
    assert (found.steps, found.unread) == ((), {})
    assert [event.reads for event in found.calls] == [True]


def test_paths_of_windows_are_below_the_folder_of_the_session(tmp_path: Path) -> None:
    calls = [used("Read", "c1", file_path="E:\\r\\src\\a.py"), used("Edit", "c2", file_path="E:\\r\\b.py"),
             used("Bash", "c3", command="cat src/c.py"), used("Bash", "c4", command="cat /e/r/d.py"),
             used("PowerShell", "c5", command="Get-Content src\\e.py -TotalCount 5")]  # fmt: skip
    given = (gave("1\tx", "c1"), gave("ok", "c2"), *(gave("x", f"c{number}") for number in (3, 4, 5)))
    events = [{**event, "cwd": "E:\\r"} for event in (*calls, *given)]
    found = one(CLAUDE_CODE.trajectories, tmp_path, rows(*events))
    assert found.steps[:2] == ((FileSpan("src/a.py", 1, 1),), (FileSpan("src/c.py", 1, None),))
    assert found.steps[2:] == ((FileSpan("d.py", 1, None),),)
    assert found.unread == {"command of PowerShell": 1}
