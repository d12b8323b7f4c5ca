import json
from pathlib import Path

import pytest

from ingest.runs.formats.opencode import OPENCODE
from ingest.runs.trajectory import FileSpan, Trajectory
from tests.ingest.runs.formats.recorded_sessions import Json, one, rows

recognise, trajectories = OPENCODE.recognise, OPENCODE.trajectories


def part(
    tool: str, output: str = "", /, *, status: object = "completed", code: int | None = None, **given: object
) -> Json:
    said = {"error": output} if status == "error" else {"output": output} if status == "completed" else {}
    state = {"status": status, "input": given, "metadata": {} if code is None else {"exit": code}, **said}
    return {"type": "tool", "tool": tool, "callID": f"{tool}-{json.dumps(given)}", "state": state}


def export(*parts: Json, cwd: str = "/testbed", root: str = "/testbed") -> Json:
    asked = {"info": {"role": "user"}, "parts": [{"type": "text", "text": "Find it."}]}
    answered = {"info": {"role": "assistant", "path": {"cwd": cwd, "root": root}}, "parts": list(parts)}
    return {"info": {"id": "ses_1", "directory": cwd}, "messages": [asked, answered]}


def found(folder: Path, *parts: Json, **paths: str) -> Trajectory:
    return one(trajectories, folder, json.dumps(export(*parts, **paths), indent=1).encode(), "a.json")


def numbered(first: int, last: int, mark: str = "{}: x") -> str:
    return "\n".join(mark.format(line) for line in range(first, last + 1))


@pytest.mark.parametrize(
    ("output", "lines"),
    [
        (f"<path>a.py</path>\n<type>file</type>\n<content>\n{numbered(1, 3)}\n\n(End of file)\n</content>", (1, 3)),
        (f"<content>\n{numbered(11, 20)}\n\n(Showing lines 11-20 of 90. Use offset=21 …)\n</content>", (11, 20)),
        (f"<file>\n{numbered(11, 20, '{:05}| x')}\n\n(End of file - total 20 lines)\n</file>", (11, 20)),
        ("<content>\n7: 1: x\n8: \n9: 4: x\n</content>", (7, 9)),
        (f"<content>\n{numbered(1, 2)}\n</content>\n<system-reminder>\n1: Do this.\n</system-reminder>", (1, 2)),
    ],
)  # fmt: skip
def test_a_read_shows_the_lines_it_numbers(tmp_path: Path, output: str, lines: tuple[int, int]) -> None:
    read = part("read", output, filePath="/testbed/a.py", offset=5, limit=90)
    assert found(tmp_path, read).steps == ((FileSpan("a.py", *lines),),)


def test_a_search_shows_the_lines_it_lists_below_each_file(tmp_path: Path) -> None:
    listed = "Found 3 matches\n/testbed/a.py:\n  Line 3: def burn:\n  Line 4: x\n\n/testbed/b.py:\n  Line 9: burn:\n"
    trajectory = found(tmp_path, part("grep", listed, pattern="burn"), part("grep", "No files found", pattern="y"))
    assert trajectory.steps == ((FileSpan("a.py", 3, 4), FileSpan("b.py", 9, 9)),)


def test_a_command_runs_in_the_folder_of_the_session_or_its_own(tmp_path: Path) -> None:
    trajectory = found(
        tmp_path,
        part("bash", "x", command="cat a.py", code=0),
        part("bash", "x", command="cat b.py", workdir="/testbed/lib"),
        part("bash", "cat: c.py: No such file or directory", command="cat c.py", code=1),
        cwd="/testbed/src",
    )
    assert trajectory.steps == ((FileSpan("src/a.py", 1),), (FileSpan("lib/b.py", 1),))
    outside = found(tmp_path, part("bash", "x", command="cat a.py"), cwd="/home/me/notes", root="/")
    assert outside.steps == ((FileSpan("a.py", 1),),)


def test_printed_events_hold_a_part_each_and_the_answer_is_the_assistants(tmp_path: Path) -> None:
    context = "<PATCH_CONTEXT>\nFile: a.py\nLines: 3-5\n</PATCH_CONTEXT>"
    parts: list[Json] = [part("read", "1: x\n2: y", filePath="/testbed/a.py"), {"type": "text", "text": context}]
    data = rows(*({"type": one["type"], "sessionID": "ses_1", "part": one} for one in parts))
    assert recognise(data, "a.jsonl")
    trajectory = one(trajectories, tmp_path, data, patch=b"p")
    assert trajectory.steps == ((FileSpan("/testbed/a.py", 1, 2),),)
    assert (trajectory.final, trajectory.patch) == ((FileSpan("a.py", 3, 5),), "p")
