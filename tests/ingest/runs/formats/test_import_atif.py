from pathlib import Path

import pytest

from ingest.runs.formats.atif import companions, recognise, trajectories
from ingest.runs.trajectory import FileSpan
from tests.ingest.runs.formats.recorded_sessions import Json, atif, one, opened, rows, turn


def test_a_step_is_a_call_that_showed_something(tmp_path: Path) -> None:
    steps = [
        {"step_id": 1, "source": "user", "message": "Fix it", "tool_calls": [{"function_name": "bash"}]},
        turn("Read", "    7→x\n    8→y", file_path="/testbed/src/a.py"),
        turn("execute_bash", "x", command="cat src/b.py"),
        turn("str_replace_editor", "     1\tx\n     2\ty", command="view", path="/testbed/c.py", view_range=[1, 500]),
        turn("str_replace_editor", "The file was edited", command="str_replace", path="/testbed/c.py"),
        turn("bash_command", "x", keystrokes="head -3 d.py\n"),
        turn(message="I think."),
    ]
    found = one(trajectories, tmp_path, rows(atif(*steps)), "trajectory.json")
    assert found.steps == (
        (FileSpan("/testbed/src/a.py", 7, 8),),
        (FileSpan("src/b.py", 1, None),),
        (FileSpan("/testbed/c.py", 1, 2),),
        (FileSpan("d.py", 1, 3),),
    )
    assert found.final == tuple(view for step in found.steps for view in step)
    assert found.notes == ()


def test_a_terminal_that_went_where_only_the_shell_knew_shows_no_relative_path_until_it_is_back(tmp_path: Path) -> None:
    commands = ('cd "$(mktemp -d)" && cat README.md', "cat a.py; sed -i s/x/y/ a.py", "cat /testbed/b.py")
    steps = [turn("bash", "x", command=command) for command in (*commands, "cd /testbed && cat c.py", "cat d.py")]
    found = one(trajectories, tmp_path, rows(atif(*steps)), "trajectory.json")
    assert [step[0].path for step in found.steps] == ["/testbed/b.py", "/testbed/c.py", "/testbed/d.py"]
    assert found.unread["command cat in a folder that only the shell knew"] == 2


def test_a_step_without_an_observation_shows_what_was_asked_for(tmp_path: Path) -> None:
    steps = [turn("view", path="a.py", view_range=[5, -1]), turn("bash", command="cat b.py"), turn("grep", pattern="x")]
    found = one(trajectories, tmp_path, rows(atif(*steps)))
    assert found.steps == ((FileSpan("a.py", 5, None),), (FileSpan("b.py", 1, None),))


@pytest.mark.parametrize(
    ("path", "extra", "item"),
    [
        ("trajectory.json", {"instance_id": "x"}, "x"),
        ("trajectory.json", {"task_id": "y"}, "y"),
        ("jobs/acme__rockets-1__AbC123x/agent/trajectory.json", {}, "acme__rockets-1"),
        ("acme__rockets-1/trajectory.json", {}, ""),
    ],
)
def test_the_item_is_named_inside_or_by_a_trials_folder(
    tmp_path: Path, path: str, extra: dict[str, object], item: str
) -> None:
    assert one(trajectories, tmp_path, rows(atif(extra=extra)), path).item == item


def typed(*keystrokes: str, screen: str) -> Json:
    """A step of terminus: keys typed into a terminal, and one screen."""
    step = turn()
    step["tool_calls"] = [
        {"tool_call_id": f"c{n}", "function_name": "bash_command", "arguments": {"keystrokes": one}}
        for n, one in enumerate(keystrokes)
    ]
    step["observation"] = {"results": [{"content": f"New Terminal Output:\n{screen}"}]}
    return step


AT = "root@0a1b:/srv/repo"


def test_a_screen_shows_each_of_its_commands_where_its_prompt_is(tmp_path: Path) -> None:
    screen = (
        f"the end of another{AT}# cd src\n{AT}/src# cat a.py\nx\n{AT}/src# cat b.py\n"
        f"cat: b.py: No such file or directory\n{AT}/src# grep -n burn c.py\n3:burn\n{AT}/src# less d.p\ny\n"
        f"bash: less: command not found\n{AT}/src#"
    )
    first = typed("cd src\n", "cat a.py\n", "cat b.py\n", "grep -n burn c.py\n", "less d.py\n", screen=screen)
    later = typed("cat e.py\n", screen="the last lines of what was too long")
    found = one(trajectories, tmp_path, rows(atif(first, later)))
    views = [FileSpan("src/a.py", 1, None), FileSpan("src/c.py", 3, 3), FileSpan("src/e.py", 1, None)]
    assert found.steps == tuple((view,) for view in views)


def test_a_terminal_without_prompts_stays_where_it_was_brought_to(tmp_path: Path) -> None:
    steps = [turn("bash", "", command="cd src"), turn("bash", "x", command="cat a.py")]
    assert one(trajectories, tmp_path, rows(atif(*steps))).steps == ((FileSpan("src/a.py", 1, None),),)
    anew = atif(*steps, agent={"name": "mini-swe-agent"})
    assert one(trajectories, tmp_path, rows(anew)).steps == ((FileSpan("a.py", 1, None),),)


def test_what_an_agent_was_refused_beside_commands_that_ended_shows_nothing(tmp_path: Path) -> None:
    ended = "<returncode>{}</returncode>\n<output>\n{}</output>"
    steps = [
        turn("bash_command", "Please always provide EXACTLY ONE action", command="cat a.py"),
        turn("bash_command", ended.format(0, "x\n"), command="cd /srv/repo && cat src/b.py"),
        turn("bash_command", ended.format(1, ""), command="cat src/b.py"),
        turn("bash_command", ended.format(0, "x\n"), command="head -3 src/b.py"),
    ]
    found = one(trajectories, tmp_path, rows(atif(*steps, agent={"name": "mini-swe-agent"})))
    assert found.steps == ((FileSpan("src/b.py", 1, None),), (FileSpan("src/b.py", 1, 3),))


@pytest.mark.parametrize("place", ["a/agent/", "a/"])
def test_the_item_is_the_task_of_a_trials_result(tmp_path: Path, place: str) -> None:
    name = f"{place}trajectory.json"
    assert "a/result.json" in companions(name)
    files = {name: rows(atif()), "a/result.json": b'{"task_name": "acme__rockets-1"}'}
    (found,) = trajectories(opened(tmp_path, name, files))
    assert found.item == "acme__rockets-1"


def test_what_continues_in_another_file_and_what_subagents_did_is_read_where_it_is_named(tmp_path: Path) -> None:
    asks = turn("Task", "Done")
    result = {"content": "Done", "subagent_trajectory_ref": [{"trajectory_path": "sub.json"}, {"session_id": "t"}]}
    asks["observation"] = {"results": [result]}
    inside = {"session_id": "t", "steps": [turn("bash", "x", command="cat c.py")]}
    start = atif(
        asks, turn("bash", "x", command="cat d.py"), continued_trajectory_ref="trajectory.cont-1.json",
        subagent_trajectories=[inside],
    )  # fmt: skip
    copied = {**turn("bash", "x", command="cat d.py"), "is_copied_context": True}
    files = {
        "trajectory.json": rows(start),
        "sub.json": rows(atif(turn("bash", "x", command="cat b.py"))),
        "trajectory.cont-1.json": rows(atif(copied, turn("bash", "x", command="cat e.py"))),
    }
    (found,) = trajectories(opened(tmp_path, "trajectory.json", files))
    assert [step[0].path for step in found.steps] == ["b.py", "c.py", "d.py", "e.py"]
    assert not recognise(files["trajectory.cont-1.json"], "trajectory.cont-1.json")
    assert "trajectory.cont-1.json" in companions("trajectory.json")
    (alone,) = trajectories(opened(tmp_path / "alone", "trajectory.json", {"trajectory.json": rows(start)}))
    assert alone.unread == {"file sub.json": 1, "file trajectory.cont-1.json": 1}


def test_a_document_without_steps_has_failed(tmp_path: Path) -> None:
    assert one(trajectories, tmp_path, rows({**atif(), "steps": "x"})).failed == "it has no list of steps"
