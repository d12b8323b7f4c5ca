import json
from pathlib import Path

import polars as pl

from ingest.runs.formats.swe_agent import trajectories
from ingest.runs.trajectory import Context, FileSpan, Trajectory
from lake.store import Lake
from tests.ingest.runs.agents import CATS, PATCH, ROCKETS, counts, hits, imported, issues_once, lake, of_item, zipped
from tests.ingest.runs.formats.recorded_sessions import one
from tests.ingest.runs.formats.recorded_sessions import rows as jsonl

__all__ = ["issues_once", "lake"]


def row(action: str, **more: object) -> dict[str, object]:
    return {"tool": "x", "action": action, "state": {}, "observation": "", "step": 1, **more}


def viewed(path: str, *lines: int) -> dict[str, object]:
    asked = f" --view_range {' '.join(map(str, lines))}" if lines else ""
    return row(f"str_replace_editor view {path} {asked}\n")


def traj(*rows: object, submission: object = PATCH) -> bytes:
    return json.dumps({"trajectory": rows, "history": [], "info": {"submission": submission}}).encode()


def read(folder: Path, data: bytes, name: str = "a.checkpoints.jsonl") -> Trajectory:
    return one(trajectories, folder, data, name)


def test_views_are_steps_and_the_published_reading_has_those_with_a_range(tmp_path: Path) -> None:
    rows = [
        viewed("/testbed"), viewed("/testbed/a.py"), viewed("/testbed/a.py", 3, 9), viewed("/testbed/a.py", 3, -1),
        row("str_replace_editor view a.py [3, 9]"),
        row("str_replace_editor view a.py --view_range 3 9", observation="usage: str_replace_editor [-h]"),
        row("str_replace_editor create b.py --file_text x"), row("bash cat a.py"), viewed("a.py", 9, 3),
    ]  # fmt: skip
    rows[0]["observation"] = "Here's the files and directories up to 2 levels deep in /testbed:\n/testbed/a.py"
    found = read(tmp_path, jsonl(*rows))
    assert found.steps == tuple((FileSpan("a.py", *lines),) for lines in ((1,), (3, 9), (3,), (9, 3)))
    asked = ((FileSpan("a.py", 3, 9),), (FileSpan("a.py", 3, 9),), (FileSpan("a.py", 9, 3),))
    assert found.published == Context(asked, asked[-1])
    whole = read(tmp_path, traj(*rows), "a.traj")
    assert (whole.steps, whole.published) == (found.steps, Context((), None))


def window(path: str, first: int, last: int, n_lines: int = 400) -> str:
    numbered = "".join(f"{line}:text {line}: x\r\n" for line in range(first, last + 1))
    return f"[File: {path} ({n_lines} lines total)]\r\n({first - 1} more lines above)\r\n{numbered}(7 more lines below)"


def test_windows_are_views_of_the_lines_they_number(tmp_path: Path) -> None:
    state = {"open_file": "n/a", "working_dir": "/home/rocket"}
    refused = f"ERRORS\n{window('/home/rocket/a.py', 20, 42)}\n---\n{window('/home/rocket/a.py', 21, 40)}\n"
    rows = [
        row("open lib/a.py 50", observation=window("lib/a.py", 1, 100), state=state),
        row("goto 200", observation=window("/home/rocket/lib/a.py", 150, 249), state=json.dumps(state)),
        row("scroll_down", observation=window("/home/rocket/lib/a.py", 248, 347), state=state),
        row("edit 30:31\nx\nend_of_edit", observation=f"{refused}Your changes have NOT been applied.", state=state),
        row("edit 30:31\ny\nend_of_edit", observation=window("/home/rocket/a.py", 1, 60), state=state),
        row("create new.py", observation=window("new.py", 1, 1), state=state),
        row("insert 'x'", observation=window("/home/rocket/new.py", 1, 9), state=state),
        row("open gone.py", observation="File gone.py not found", state=state),
        row('search_file "x" a.py', observation='Found 2 matches for "x" in /home/rocket/a.py:\nLine 3:x\nLine 9:x\n'),
        row('search_dir "x"', observation='Found 3 matches for "x" in /home/rocket:\n/home/rocket/b.py (2 matches)\n'),
        row("filemap lib/c.py", observation="     1\timport x\n ... eliding lines 2-90 ...\n", state=state),
        row("filemap lib/d.py", observation="Error: File not found", state=state),
        row("str_replace_editor str_replace d.py --old_str x", observation="The file d.py has been edited."),
        row('find_file "a.py"', observation='Found 1 matches for "a.py" in /home/rocket:\n/home/rocket/a.py'),
    ]
    found = read(tmp_path, traj(*rows), "a.traj")
    places = [("lib/a.py", 1, 100), ("lib/a.py", 150, 249), ("lib/a.py", 248, 347), ("a.py", 20, 40), ("a.py", 1, 60)]
    assert [step[0] for step in found.steps[:5]] == [FileSpan(*place) for place in places]
    hits = (FileSpan("a.py", 3, 3), FileSpan("a.py", 9, 9))
    assert found.steps[5:] == (hits, (FileSpan("b.py"),), (FileSpan("lib/c.py", 1),))


def test_a_command_starts_in_the_folder_that_the_terminal_was_in_before_it(tmp_path: Path) -> None:
    after = [("cd src && cat a.py", "/rocket/src"), ("cat b.py", "/rocket/src"), ("cd .. && cat c.py", "/rocket")]
    rows = [row(action, observation="x", state={"working_dir": folder}) for action, folder in after]
    whole = ((FileSpan("src/a.py", 1),), (FileSpan("src/b.py", 1),), (FileSpan("c.py", 1),))
    assert read(tmp_path, traj(*rows), "a.traj").steps == whole
    # Before version 1.0 the state, a text, was the one before the action.
    before = zip((given["action"] for given in rows), ("/rocket", "/rocket/src", "/rocket/src"), strict=True)
    rows = [row(str(action), observation="x", state=json.dumps({"working_dir": at})) for action, at in before]
    assert read(tmp_path, traj(*rows), "a.traj").steps == whole


def test_the_final_context_is_the_last_patch_context(tmp_path: Path) -> None:
    rows = [
        viewed("a.py", 3, 9),
        row("", patch_context="File: /testbed/b.py\nLines: 1-2"),
        row("", patch_context="File: /testbed/c.py\nLines: 4-5\n\nFile: d.py\nLines: 6-7"),
        row("", patch_context=None),
        viewed("e.py", 1, 2),
    ]
    assert read(tmp_path, jsonl(*rows)).final == (FileSpan("c.py", 4, 5), FileSpan("d.py", 6, 7))


def test_the_patch_is_in_the_traj_beside_the_jsonl(lake: Lake) -> None:
    rows = [viewed("/testbed/src/engine.py", 1, 2)]
    entries = {
        f"{ROCKETS}/{ROCKETS}.checkpoints.jsonl": jsonl(*rows),
        f"{ROCKETS}/{ROCKETS}.traj": traj(*rows, *rows),
        f"{CATS}/{CATS}.traj": traj(viewed("/testbed/lib/cat.js", 1, 1), submission=None),
        f"{CATS}/{CATS}.pred": b"{}",
    }
    result = imported(lake, zipped(entries), name="a.zip")
    assert of_item(lake, "status", "n_steps", "has_patch") == ("done", 1, True)
    assert of_item(lake, "status", "n_steps", "has_patch", item=CATS) == ("done", 1, False)
    found = hits(lake, "path", "line_start", "line_end", part="final")
    assert found == [("src/engine.py", None, None), ("src/engine.py", 0, 2)]
    assert lake.read("edits").filter(pl.col("item_id") == ROCKETS).height == 2
    assert (counts(result)["n_skipped"], result.n_rejected) == (1, 0)
