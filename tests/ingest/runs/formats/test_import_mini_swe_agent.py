import json
from pathlib import Path

import pytest

from ingest.runs.formats.mini_swe_agent import MINI_SWE_AGENT, trajectories, views_of_command
from ingest.runs.importer import TrajectoryFile
from ingest.runs.trajectory import FileSpan, Trajectory, in_repository, spans_named
from ingest.sources.input_file import InputFile
from tests.ingest.runs.formats.recorded_sessions import opened
from tests.tiny import put


def read(folder: Path, *messages: object, **changes: object) -> Trajectory:
    document = {"info": {"submission": "diff"}, "messages": messages, "instance_id": "acme__rockets-1", **changes}
    file = put(folder / "a.traj.json", json.dumps(document).encode())
    (one,) = trajectories(TrajectoryFile("a.traj.json", InputFile(file).opened))
    return one


def said(role: str, content: object) -> dict[str, object]:
    return {"role": role, "content": content}


def shown(*pairs: str) -> str:
    return "<explore_context>\n" + "\n".join(pairs) + "\n</explore_context>"


def answer(*pairs: str) -> str:
    return "<PATCH_CONTEXT>\n" + "\n".join(pairs) + "\n</PATCH_CONTEXT>"


A = ("File: /testbed/src/a.py", "Lines: 3-9")


def test_steps_are_the_blocks_of_messages_of_any_role(tmp_path: Path) -> None:
    two = f"{shown(*A)} and {shown('File: b.py', 'Lines: 1-2')}"
    one = read(
        tmp_path, said("user", two), said("tool", shown(*A)), said("user", [{"type": "text", "text": shown(*A)}])
    )
    first = (FileSpan("src/a.py", 3, 9),)
    assert one.steps == (first, (FileSpan("b.py", 1, 2),), first, first)


def test_several_lines_may_follow_one_file_and_reversed_ones_are_swapped() -> None:
    text = (
        "File: a.py\nLines: 9-3\nLines: 5 - 6\n\nFile: b.py\nFile: c.py\r\n  Lines: 1-1 (all)\r\nLines: x-y\nLines: 4"
    )
    assert spans_named(text) == [FileSpan("a.py", 3, 9), FileSpan("a.py", 5, 6), FileSpan("c.py", 1, 1)]


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ("/testbed/a.py", "a.py"), ("./a.py", "a.py"), ("/a/b.py", "a/b.py"), ("'a.py'", "a.py"),
        ("/home/rockets/src/a.py", "src/a.py"), ("/home/other/src/a.py", "other/src/a.py"), ("/home/rockets/", ""),
        ("/home/fix.patch", ""), ("../a.py", "../a.py"), ("a/./b.py", "a/./b.py"),
    ],
)  # fmt: skip
def test_a_path_loses_where_the_repository_lay(given: str, path: str) -> None:
    assert in_repository(given, "rockets") == path


def test_the_folder_is_the_one_of_the_image_where_that_is_known(tmp_path: Path) -> None:
    config = {"environment": {"image": "mswebench/acme_m_engine:pr-1"}}
    message = said("user", shown("File: /home/engine/a.py", "Lines: 1-2"))
    assert read(tmp_path, message, info={"config": config}).steps == ((FileSpan("a.py", 1, 2),),)


def test_the_final_context_is_the_assistants_last(tmp_path: Path) -> None:
    later = answer("File: b.py", "Lines: 1-2")
    messages = [said("assistant", answer(*A)), said("assistant", later), said("user", answer(*A))]
    one = read(tmp_path, *messages)
    assert one.final == (FileSpan("b.py", 1, 2),)
    # The published converter takes it from any message.
    assert one.published is not None
    assert one.published.final == (FileSpan("src/a.py", 3, 9),)


def test_where_blocks_were_asked_for_commands_are_read_only_if_there_is_none(tmp_path: Path) -> None:
    asked = said("user", "Say what you look at in <EXPLORE_CONTEXT>.")
    commands = [
        said("assistant", f"```bash\n{text}\n```") for text in ("cat a.py", "ls", "echo COMPLETE_TASK; cat b.py")
    ]
    one = read(tmp_path, asked, *commands, said("user", "```bash\ncat c.py\n```"))
    assert (one.steps, one.published) == (((FileSpan("a.py"),),), None)
    assert read(tmp_path, asked, *commands, said("user", shown(*A))).steps == ((FileSpan("src/a.py", 3, 9),),)


ENDED = "<returncode>{}</returncode>\n<output>\n{}</output>"


def of_version_2(command: str, call: str, form: str) -> dict[str, object]:
    """An answer of version 2 that runs a command: as it was parsed, as a tool call, or as a response has it."""
    arguments = json.dumps({"command": command})
    if form == "parsed":
        action = {"command": command, "tool_call_id": call}
        return {"role": "assistant", "content": None, "extra": {"actions": [action]}}
    if form == "tool call":
        function = {"name": "bash", "arguments": arguments}
        return {"role": "assistant", "content": None, "tool_calls": [{"id": call, "function": function}]}
    held = {"type": "function_call", "call_id": call, "name": "bash", "arguments": arguments}
    return {"object": "response", "output": [held]}


@pytest.mark.parametrize("form", ["parsed", "tool call", "response"])
def test_version_2_calls_a_tool_and_its_results_name_the_call(tmp_path: Path, form: str) -> None:
    def gave(call: str, code: int, text: str) -> dict[str, object]:
        if form == "response":
            return {"type": "function_call_output", "call_id": call, "output": ENDED.format(code, text)}
        content = json.dumps({"returncode": code, "output": text}) if form == "parsed" else ENDED.format(code, text)
        return {"role": "tool", "tool_call_id": call, "content": content}

    messages = [
        of_version_2("nl -ba /srv/repo/src/a.py | head -9", "c1", form), gave("c1", 0, "     1\tx\n     2\ty\n"),
        of_version_2("cat src/b.py", "c2", form), gave("c2", 1, "cat: src/b.py: No such file\n"),
        {"role": "exit", "content": "", "extra": {"exit_status": "Submitted", "submission": "diff of the end"}},
    ]  # fmt: skip
    config = {"environment": {"cwd": "/srv/repo"}}
    one = read(tmp_path, *messages, info={"config": config}, trajectory_format="mini-swe-agent-1.1")
    assert one.steps == ((FileSpan("src/a.py", 1, 2),),)
    assert one.patch == "diff of the end"


@pytest.mark.parametrize(
    ("command", "views"),
    [
        ("nl -ba /testbed/a.py | sed -n '3,9p'", [FileSpan("/testbed/a.py", 3, 9)]),
        (
            "cd x && sed -n 3,9p a.py || head -n 5 b.go; cat c.rs",
            [FileSpan("a.py", 3, 9), FileSpan("b.go", 1, 5), FileSpan("c.rs")],
        ),
        ("grep -rn 'def f' a.py b.py", [FileSpan("a.py")]),
        ("grep -n x src", []),
        ("cat a.py | head -n 5", [FileSpan("a.py")]),
        ("cat notes.txt; cat 'a.py'", [FileSpan("a.py")]),
        ("cat a.py && cat a.py", [FileSpan("a.py")]),
        ("sed -i s/x/y/ a.py && cat a.py", []),
        ("cat > a.py", []),
        ("cat a.py; rm -r b", []),
        ("git add a.py; cat a.py", []),
        ("", []),
    ],
)
def test_a_command_shows_the_files_it_reads(command: str, views: list[FileSpan]) -> None:
    assert views_of_command(command) == views


def test_a_command_made_to_break_a_pattern_is_soon_read() -> None:
    for text in (
        "nl " * 50_000,
        "grep " * 50_000,
        "sed -n 1,2p " * 20_000,
        "cat " + "a" * 10**6,
        "nl a" + " |" * 10**5,
    ):
        assert views_of_command(text) == []


def test_the_item_of_a_trial_is_the_task_of_its_result(tmp_path: Path) -> None:
    name = "a__AbC123x/agent/mini-swe-agent.trajectory.json"
    files = {name: b'{"messages": []}', "a__AbC123x/result.json": b'{"task_name": "acme__rockets-1"}'}
    (found,) = trajectories(opened(tmp_path, name, files))
    assert found.item == "acme__rockets-1"
    assert "a__AbC123x/result.json" in MINI_SWE_AGENT.companions(name)
