import json
from pathlib import Path

import pytest

from ingest.runs.formats.codex import CODEX
from ingest.runs.importer import DamagedFileError
from ingest.runs.trajectory import FileSpan
from tests.ingest.runs.formats.recorded_sessions import META, Json, one, opened, read, rollout, rows, shell


def printed(command: str, output: str = "x", exit_code: int | None = 0) -> dict[str, object]:
    item = {
        "id": "item_1",
        "type": "command_execution",
        "command": f"bash -lc {command!r}",
        "aggregated_output": output,
    }
    return {"type": "item.completed", "item": {**item, "exit_code": exit_code, "status": "completed"}}


def test_a_call_with_a_folder_of_its_own_does_not_start_where_the_one_before_went(tmp_path: Path) -> None:
    calls = [*shell('cd "$tmpdir" && cat README.md', "x"), *shell("cat a.py", "x", "c2")]
    assert one(CODEX.trajectories, tmp_path, rows(META, *calls)).steps == ((FileSpan("a.py", 1, None),),)


def test_events_as_they_are_printed_say_the_same(tmp_path: Path) -> None:
    started = {"type": "item.started", "item": {**printed("cat a.py")["item"], "status": "in_progress"}}  # type: ignore[dict-item]  # an object
    events = [{"type": "thread.started", "thread_id": "t"}, started, printed("cat a.py"), printed("cat b.py", "", 1)]
    assert one(CODEX.trajectories, tmp_path, rows(*events)).steps == ((FileSpan("a.py", 1, None),),)


def given(output: object, name: str = "exec_command", call: str = "c", **arguments: object) -> list[Json]:
    """A call of a rollout, by default `cat a.py`, and what it gave."""
    said = json.dumps(arguments or {"cmd": "cat a.py"})
    return [
        rollout(type="function_call", name=name, arguments=said, call_id=call),
        rollout(type="function_call_output", call_id=call, output=output),
    ]


HEAD = "Command: /bin/zsh -lc 'cat\n a.py'\nChunk ID: 1\nWall time: 0 seconds\n"


@pytest.mark.parametrize(
    ("output", "n_steps"),
    [
        ("x = 1", 1), (json.dumps({"output": "x", "metadata": {"exit_code": 0}}), 1),
        (json.dumps({"output": "cat: a.py: No such file", "metadata": {"exit_code": 1}}), 0),
        ({"content": "x", "success": True}, 1), ({"content": "x", "success": False}, 0),
        ("Exit code: 0\nWall time: 0 seconds\nOutput:\nx", 1),
        ("Exit code: 1\nWall time: 0 seconds\nOutput:\ncat: a.py: No such file", 0),
        ("Chunk ID: 1\nProcess exited with code 2\nOutput:\n", 0),
        ([{"type": "output_text", "text": "x"}], 1), (None, 1), ("", 0),
        ("failed in sandbox LinuxSeccomp with execution error: denied, exit code: 1, stdout: , stderr: no", 0),
        ("execution error: Io(Os { code: 2 })", 0), ("aborted by user after 3.1s", 0),
        (f"{HEAD}Process exited with code 0\nOutput:\nx", 1), (f"{HEAD}Process exited with code 1\nOutput:\nx", 0),
        ("Chunk ID: 1\nProcess exited with code 0\nOutput:\nTotal output lines: 1\n\n", 0),
    ],
)  # fmt: skip
def test_what_failed_shows_nothing_and_the_head_of_an_output_is_none_of_it(
    tmp_path: Path, output: object, n_steps: int
) -> None:
    assert len(one(CODEX.trajectories, tmp_path, rows(META, *given(output, cmd="head -3 a.py"))).steps) == n_steps


def test_an_output_that_was_cut_off_in_its_head_shows_what_was_asked_for_but_no_hits(tmp_path: Path) -> None:
    cut = "Command: /bin/zsh -lc 'rg -n a.py:3: src'\nChunk ID: 1\nWall ti"
    events = [*given(cut), *given(cut, call="d", cmd="rg -n a.py:3: src")]
    assert one(CODEX.trajectories, tmp_path, rows(META, *events)).steps == ((FileSpan("a.py", 1, None),),)


def test_what_still_runs_is_told_by_the_calls_that_name_its_session(tmp_path: Path) -> None:
    def part(text: str, code: str) -> str:
        return f"Chunk ID: 1\nWall time: 1 seconds\n{code}\nOutput:\n{text}"

    goes_on = "Process running with session ID 7"
    events = [
        *given(part("src/a.py:3:x\n", goes_on), call="c", cmd="rg -n x src"),
        *given(part("", "Process running with session ID 8"), call="d", cmd="cat b.py"),
        *given(part("src/b.py:4:x\n", goes_on), "write_stdin", "e", session_id=7, chars=""),
        *given(part("src/c.py:5:x\n", "Process exited with code 0"), "write_stdin", "f", session_id=7),
        *given(part("cat: b.py: No such file", "Process exited with code 1"), "write_stdin", "g", session_id=8),
    ]
    found = one(CODEX.trajectories, tmp_path, rows(META, *events))
    assert found.steps == ((FileSpan("src/a.py", 3, 3), FileSpan("src/b.py", 4, 4), FileSpan("src/c.py", 5, 5)),)
    assert found.unread == {}


def test_a_script_calls_tools_whose_texts_are_theirs_in_order(tmp_path: Path) -> None:
    script = """
    const a = await tools.exec_command({cmd: 'rg -n x src', workdir: '/testbed'});
    await tools.update_plan({plan: []});
    const f = 'b.py';
    text((await tools.exec_command({cmd: `sed -n '2,3p' ${f}`})).output);
    text((await tools.exec_command({cmd: "sed -n '2,3p' c.py"})).output);
    """
    head = "Script completed\nWall time 0.1 seconds\nOutput:\n"
    texts = [head, "src/a.py:3:x", json.dumps({"output": "y", "exit_code": 0}), "sed: c.py: No such file"]
    call = rollout(type="custom_tool_call", name="exec", input=script, call_id="c")
    output = [{"type": "input_text", "text": text} for text in texts]
    events = [META, call, rollout(type="custom_tool_call_output", call_id="c", output=output)]
    found = one(CODEX.trajectories, tmp_path, rows(*events))
    assert found.steps == ((FileSpan("src/a.py", 3, 3),), (FileSpan("b.py", 2, 3),))
    assert [event.reads for event in found.calls] == [True, False, True, True]
    failed = [{"type": "input_text", "text": head.replace("completed", "failed")}, {"type": "input_text", "text": "no"}]
    events[-1] = rollout(type="custom_tool_call_output", call_id="c", output=failed)
    assert one(CODEX.trajectories, tmp_path, rows(*events)).steps == ()


def test_a_command_that_a_scripts_loop_makes_is_counted(tmp_path: Path) -> None:
    script = "for (const f of ['b.py', 'c.py']) text((await tools.exec_command({cmd: `cat ${f}`})).output);"
    call = rollout(type="custom_tool_call", name="exec", input=script, call_id="c")
    found = one(
        CODEX.trajectories, tmp_path, rows(META, call, rollout(type="custom_tool_call_output", call_id="c", output="x"))
    )
    assert (found.steps, found.unread) == ((), {"command that only a script knew": 1})


CHILD = "019f713d-a26a-7520-87c7-bd499a71f76f"


def test_a_subagents_rollout_is_read_where_the_call_stands_that_began_it(tmp_path: Path) -> None:
    meta = {"id": CHILD, "cwd": "/testbed/src", "source": {"subagent": {"thread_spawn": {"depth": 1}}}}
    said = rollout(type="message", role="assistant", content=[{"type": "output_text", "text": FINAL}])
    child = rows(
        {"type": "session_meta", "payload": meta}, *shell("cat b.py", "x", "c2", workdir="/testbed/src"), said, 7
    )
    answer = rollout(type="message", role="assistant", content=[{"type": "output_text", "text": "Done."}])
    session = [META, *given("x"), *given(json.dumps({"agent_id": CHILD}), "spawn_agent", "s", message="Look."),
               *given("x", call="e", cmd="cat c.py"), answer]  # fmt: skip
    files = {"rollout-1.jsonl": rows(*session), f"rollout-2-{CHILD}.jsonl": child}
    (found,) = CODEX.trajectories(opened(tmp_path, "rollout-1.jsonl", files))
    assert found.steps == ((FileSpan("a.py", 1, None),), (FileSpan("src/b.py", 1, None),), (FileSpan("c.py", 1, None),))
    assert found.final == tuple(view for (view,) in found.steps)
    assert found.notes == (f"rollout-2-{CHILD}.jsonl, line 5 is lost: it is a number, not an object",)
    assert not CODEX.recognise(child, f"rollout-2-{CHILD}.jsonl")
    (alone,) = read(CODEX.trajectories, tmp_path, rows(*session))
    assert alone.unread == {"subagent whose file is not there": 1}


FINAL = "<PATCH_CONTEXT>File: no.py\nLines: 1-2</PATCH_CONTEXT>"


def test_what_of_a_rollout_is_not_read_is_counted(tmp_path: Path) -> None:
    events = [
        rollout(type="web_search_call", action={"type": "search"}), rollout(type="look_call", id="x"),
        {"type": "item.completed", "item": {"type": "mcp_tool_call", "server": "serena", "tool": "find_symbol"}},
    ]  # fmt: skip
    found = one(CODEX.trajectories, tmp_path, rows(META, *events))
    assert found.unread == {"item look_call": 1, "tool serena.find_symbol": 1}


def test_objects_that_hold_events_of_an_instance_are_one_session_each(tmp_path: Path) -> None:
    held = [{"instance_id": name, "model_patch": "diff", "events": [printed("cat a.py"), 7]} for name in ("x", "y")]
    first, second = read(CODEX.trajectories, tmp_path, rows(*held))
    assert (first.item, first.position, first.patch, first.notes) == (
        "x",
        "line 1",
        "diff",
        ("1 events that are no objects",),
    )
    assert (second.item, second.position, second.steps) == ("y", "line 2", ((FileSpan("a.py", 1, None),),))


def test_a_rollout_that_is_cut_off_is_damaged(tmp_path: Path) -> None:
    with pytest.raises(DamagedFileError, match="line 3: not JSON"):
        read(CODEX.trajectories, tmp_path, rows(META, *shell("cat a.py", "x"))[:-9])
