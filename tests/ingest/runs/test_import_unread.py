"""Whatever an import met and did not read is counted by name, shown call by call, and warned of where it is much."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from ingest.commands import app
from ingest.runs.imported_runs import Imported
from ingest.runs.values import object_at
from lake.errors import GoldspanError
from lake.store import Lake
from tests.ingest.runs.agents import ROCKETS, counts, imported, issues_once, lake, zipped
from tests.ingest.runs.formats.recorded_sessions import gave, rows, said_by_claude, used
from tests.tiny import put

__all__ = ["issues_once", "lake"]

RUN = CliRunner()


def calls(n_read: int, n_refused: int) -> bytes:
    """A session of so many reads that show something, so many that do not, and two calls of a tool nobody knows."""
    events = []
    for number in range(n_read + n_refused):
        events += [
            used("Read", f"c{number}", file_path="/testbed/src/engine.py"),
            gave("1\tx\n2\ty", f"c{number}", error=number >= n_read),
        ]
    events += [used("mcp__look", "x1"), gave("?", "x1"), used("mcp__look", "x2"), gave("?", "x2")]
    return rows(*events, said_by_claude("done"))


def notes(result: Imported) -> list[str]:
    return result.outcome("here", "").warnings


def test_what_was_not_read_is_in_the_last_block_by_name_and_stored_with_the_run(lake: Lake) -> None:
    entries = {f"{ROCKETS}.jsonl": calls(2, 0), "notes/a.txt": b"x", "notes/b.txt": b"x", "result.bin": b"x"}
    data = zipped(entries)
    result = imported(lake, data, name="a.zip")
    assert "not read: file *.txt (2), tool mcp__look (2), file *.bin (1)" in notes(result)
    (unread,) = lake.read("runs").filter(run_id=result.run_id)["unread"].to_list()
    assert {one["name"]: one["n"] for one in unread} == {"file *.txt": 2, "file *.bin": 1, "tool mcp__look": 2}
    again = imported(lake, data, name="a.zip")
    assert again.is_current
    assert notes(again) == notes(result)


@pytest.mark.parametrize(("n_read", "n_refused", "is_warned"), [(2, 3, True), (3, 3, False), (1, 0, False)])
def test_fewer_views_than_half_of_the_reading_calls_is_a_warning(
    lake: Lake, n_read: int, n_refused: int, is_warned: bool
) -> None:
    result = imported(lake, calls(n_read, n_refused), name=f"{ROCKETS}.jsonl")
    warned = [note for note in notes(result) if note.startswith("warning: ")]
    assert bool(warned) == is_warned
    assert (counts(result)["n_showing"], counts(result)["n_reading"]) == (n_read, n_read + n_refused)
    assert not is_warned or f"only {n_read} of {n_read + n_refused} calls" in warned[0]


def test_show_prints_every_call_with_its_step_and_what_was_not_understood(tmp_path: Path) -> None:
    file = put(tmp_path / "a.jsonl", calls(2, 1))
    lines = RUN.invoke(app, ["show", str(file)], catch_exceptions=False).stdout.splitlines()
    assert lines[0] == "a.jsonl: claude-code, 2 steps, no patch"
    assert [line.split()[0] for line in lines[1:]].count("-") == 3
    assert lines[1].startswith("    step 1  Read(file_path=")
    assert lines[2].strip() == "src/engine.py#L1-L2"
    assert sum("was to show a file: it failed" in line for line in lines) == 1
    assert sum("not understood: tool mcp__look" in line for line in lines) == 2
    assert lines[-1] == "  not read: tool mcp__look (2)"
    assert "  final context: all that the steps showed" in lines


def test_show_says_the_turn_and_the_tool_call_of_each_step(tmp_path: Path) -> None:
    # One answer of two rows looks for nothing and reads once; the next reads once more.
    asked = [
        used("TodoWrite", "c0"), used("Read", "c1", file_path="/testbed/a.py"),
        gave("done", "c0"), gave("1\tx", "c1"),
        used("Read", "c2", file_path="/testbed/b.py"), gave("1\ty", "c2"),
    ]  # fmt: skip
    for event, answer in ((asked[0], "m1"), (asked[1], "m1"), (asked[4], "m2")):
        event["message"] = {**object_at(event, "message"), "id": answer, "usage": {"output_tokens": 5}}
    file = put(tmp_path / "a.jsonl", rows(*asked))
    lines = RUN.invoke(app, ["show", str(file)], catch_exceptions=False).stdout.splitlines()
    told = [line.rpartition("  (")[2] for line in lines if line.strip().startswith("step")]
    assert told == ["turn 1, tool call 2)", "turn 2, tool call 3)"]


def test_show_prints_no_escape_sequence_of_a_file(tmp_path: Path) -> None:
    file = put(tmp_path / "a.jsonl", rows(used("mcp\x1b[2J", "c1"), gave("x", "c1")))
    shown = RUN.invoke(app, ["show", str(file)], catch_exceptions=False).stdout
    assert "\x1b" not in shown
    assert "mcp\\x1b[2J" in shown


def test_show_is_of_agents_files_alone(tmp_path: Path) -> None:
    file = put(tmp_path / "a.trec", b"q 0 a.py 1 1.0 x\n")
    with pytest.raises(GoldspanError, match="holds a ranking, no trajectories"):
        RUN.invoke(app, ["show", str(file)], catch_exceptions=False)


LOG = b"--- BEGIN CONTEXT ---\nFile: src/engine.py\nLine number range: 1 - 2\nContent:\nx\n--- END CONTEXT ---\n"


def test_a_format_of_which_no_real_file_was_seen_says_so(lake: Lake) -> None:
    for data, name in ((LOG, f"{ROCKETS}.log"), (zipped({f"{ROCKETS}.log": LOG}), "a.zip")):
        result = imported(lake, data, name=name)
        assert (counts(result)["n_done"], "experimental: no real file" in result.read_as) == (1, True)
