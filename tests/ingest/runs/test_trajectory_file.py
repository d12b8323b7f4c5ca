import io
import json
from pathlib import Path

import polars as pl
import pytest

from ingest.runs.formats.claude_code import CLAUDE_CODE
from ingest.runs.importer import TrajectoryFile, item_in
from ingest.runs.sessions import paired
from ingest.runs.trajectory import most_often
from ingest.runs.values import LAST_LINE, line_of
from ingest.sources.tree import UnreadableFileError, entry_on_disk
from tests.ingest.runs.formats import recorded_sessions
from tests.tiny import put

ROWS = [{"a": 1}, {"a": 2}]


def a_file(folder: Path, data: bytes, name: str = "a.json") -> TrajectoryFile:
    return TrajectoryFile(entry_on_disk(put(folder / name, data), name))


def damages(file: TrajectoryFile) -> list[tuple[str, str, str]]:
    return [(damage.position, damage.reason, item_in(damage)) for damage in file.damages]


@pytest.mark.parametrize(
    ("data", "positions"),
    [
        (b'{"a": 1}\n\n {"a": 2}', ["line 1", "line 3"]),
        (b'\xef\xbb\xbf{"a": 1}\r\n{"a": 2}\r\n', ["line 1", "line 2"]),
        (json.dumps(ROWS).encode(), ["row 1", "row 2"]),
        (b"\n" + json.dumps(ROWS, indent=1).encode(), ["row 1", "row 2"]),
        (b'{"a": \n{"a": 1}\n{"a": 2}', ["line 2", "line 3"]),
    ],
)
def test_objects_stand_on_lines_or_in_a_list(tmp_path: Path, data: bytes, positions: list[str]) -> None:
    assert list(a_file(tmp_path, data).objects()) == list(zip(positions, ROWS, strict=True))


def test_damage_names_its_line_and_its_item(tmp_path: Path) -> None:
    file = a_file(tmp_path, b'{"a": 1}\n{"instance_id": "x", "a": "\n[]\n')
    assert [position for position, _ in file.objects()] == ["line 1"]
    assert damages(file) == [
        ("line 2", "not JSON (Unterminated string starting at: line 1 column 27 (char 26)); is it cut off?", "x"),
        ("line 3", "it is no object", ""),
    ]


@pytest.mark.parametrize(
    ("value", "line"),
    [
        (3, 3), (-3, -3), (3.0, 3), ("3", 3), (" -3 ", -3), (LAST_LINE, LAST_LINE), (LAST_LINE + 1, None), (True, None),
        (3.5, None), (float("inf"), None), (float("nan"), None), ("3a", None), ("²", None), ("--3", None), ("", None),
        ("9" * 99, None), (None, None), ([3], None),
    ],
)  # fmt: skip
def test_a_line_number_is_a_whole_number_however_written(value: object, line: int | None) -> None:
    assert line_of(value) == line


def result(name: str, of: str = "") -> dict[str, object]:
    return {"name": name, "of": of}


@pytest.mark.parametrize(
    ("calls", "results", "wanted"),
    [
        (["a", "b"], [result("2", "b"), result("1", "a")], ["1", "2"]),
        (["a", "b"], [result("1"), result("2")], ["1", "2"]), (["", ""], [result("1"), result("2")], ["1", "2"]),
        (["a", "b", "c"], [result("2", "b"), result("1"), result("3")], ["1", "2", "3"]),
        (["a", "b"], [result("screen")], ["screen", "screen"]),
        (["a", "b", "c"], [result("2", "b"), result("screen")], ["screen", "2", "screen"]),
        (["a"], [result("1"), result("2")], ["12"]), (["a"], [result("1", "a"), result("2", "a")], ["12"]),
        (["a", "b"], [result("1", "a")], ["1", ""]), (["a", "b"], [], ["", ""]),
    ],
)  # fmt: skip
def test_calls_and_results_are_paired(calls: list[str], results: list[dict[str, object]], wanted: list[str]) -> None:
    pairs = paired(calls, results, ["of"])
    assert ["".join(str(part["name"]) for part in each) for each in pairs] == wanted


def test_what_is_unread_is_told_the_most_frequent_first() -> None:
    unread = {"tool b": 2, "tool a": 2, "file x": 1200}
    assert most_often(unread) == "file x (1,200), tool a (2), tool b (2)"
    assert most_often(unread, most=1) == "file x (1,200) and 2 more"


def test_subagents_far_down_in_one_another_are_counted_and_not_read(tmp_path: Path) -> None:
    def begun(number: int) -> bytes:
        answer = recorded_sessions.gave("Done.", f"t{number}", agentId=f"a{number + 1}")
        return recorded_sessions.rows(recorded_sessions.used("Task", f"t{number}"), answer)

    files = {f"s/subagents/agent-a{number}.jsonl": begun(number) for number in range(1, 400)}
    session = recorded_sessions.opened(tmp_path, "s.jsonl", {"s.jsonl": begun(0), **files})
    (trajectory,) = CLAUDE_CODE.trajectories(session)
    assert len(trajectory.calls) == 1 + 50
    assert "file agent-a399.jsonl" in trajectory.unread


def test_the_rows_of_parquet_are_objects(tmp_path: Path) -> None:
    held = io.BytesIO()
    pl.DataFrame({"instance_id": ["a", "b"], "messages": [[{"role": "user"}], None]}).write_parquet(held)
    assert list(a_file(tmp_path, held.getvalue()).objects()) == [
        ("row 1", {"instance_id": "a", "messages": [{"role": "user"}]}),
        ("row 2", {"instance_id": "b", "messages": None}),
    ]
    with pytest.raises(UnreadableFileError):
        list(a_file(tmp_path, held.getvalue()[:-20]).objects())
