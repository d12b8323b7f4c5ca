"""A file that may hold trajectories: its values, lines and neighbours; damage is told with its place and item."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

import pytest

from ingest.runs.trajectories import trajectory_file
from ingest.runs.trajectories.trajectory_file import DamagedFileError, TrajectoryFile
from ingest.runs.values import LAST_LINE, content_of, line_of
from ingest.sources import rows
from ingest.sources.input_file import InputFile
from tests.tiny import put

NOISE = random.Random(1).randbytes(9000).hex()
ROWS = [{"a": 1}, {"a": 2}]


def a_file(folder: Path, data: bytes, name: str = "a.json") -> TrajectoryFile:
    return TrajectoryFile(name, InputFile(put(folder / name, data)).opened)


def damages(file: TrajectoryFile) -> list[tuple[str, str, str]]:
    return [(one.position, one.reason, one.item) for one in file.damages]


@pytest.mark.parametrize(
    ("data", "positions"),
    [
        (b'{"a": 1}\n\n {"a": 2}', ["line 1", "line 3"]),
        (b'\xef\xbb\xbf{"a": 1}\r\n{"a": 2}\r\n', ["line 1", "line 2"]),
        (json.dumps(ROWS).encode(), ["entry 1", "entry 2"]),
        (b"\n" + json.dumps(ROWS, indent=1).encode(), ["entry 1", "entry 2"]),
        (b'{"a": \n{"a": 1}\n{"a": 2}', ["line 2", "line 3"]),
    ],
)
def test_objects_stand_on_lines_or_in_a_list(tmp_path: Path, data: bytes, positions: list[str]) -> None:
    assert list(a_file(tmp_path, data).objects()) == list(zip(positions, ROWS, strict=True))


def test_damage_names_its_line_and_its_item(tmp_path: Path) -> None:
    file = a_file(tmp_path, b'{"a": 1}\n{"instance_id": "x", "a": "\n[]\n')
    assert [position for position, _ in file.objects()] == ["line 1"]
    assert damages(file) == [
        ("line 2", "not JSON at line 1, column 27: Unterminated string starting at; is it cut off?", "x"),
        ("line 3", "it is a list, not an object", ""),
    ]


def test_rows_are_whole_or_none(tmp_path: Path) -> None:
    assert a_file(tmp_path, b'{"a": 1}\n{"a": 2}').rows() == ROWS
    with pytest.raises(DamagedFileError, match="line 2: it is null, not an object; line 3: it is a number"):
        a_file(tmp_path, b'{"a": 1}\nnull\n3').rows()


def test_a_packed_file_that_is_cut_off_names_the_item_it_was_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lake.limits._UNPACKED_AT_ONCE", 64)
    monkeypatch.setattr(rows, "_BLOCK_BYTES", 64)
    data = gzip.compress(json.dumps({"instance_id": "x", "a": NOISE}).encode())[:-20]
    with pytest.raises(DamagedFileError, match="cannot be read to its end") as caught:
        list(a_file(tmp_path, data).objects())
    assert caught.value.item == "x"


def test_a_line_longer_than_is_read_is_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trajectory_file, "MAX_LINE_BYTES", 50)
    monkeypatch.setattr(trajectory_file, "Lines", lambda stream: rows.Lines(stream, 50))
    file = a_file(tmp_path, b'{}\n{"instance_id": "x", "pad": "' + b"x" * 99 + b'"}\n{"a": 1}')
    assert [position for position, _ in file.objects()] == ["line 1", "line 3"]
    assert damages(file) == [("line 2", "line 2 has more than 50 bytes, which are read at most", "x")]


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("b.json", "x/b.json"), ("../a.json", "a.json"), ("./b.json", "x/b.json"), ("../../a.json", None),
        ("/a.json", None),
    ],
)  # fmt: skip
def test_a_file_beside_is_one_that_was_given(tmp_path: Path, path: str, found: str | None) -> None:
    every: dict[str, TrajectoryFile] = {}
    for name in ("a.json", "x/a.json", "x/b.json"):
        every[name] = TrajectoryFile(name, InputFile(put(tmp_path / name, b"")).opened, every)
    beside = every["x/a.json"].beside(path)
    assert (beside.path if beside else None) == found


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


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"content": "a"}, "a"),
        ({"content": [{"type": "text", "text": "a"}, "b", {"type": "image"}, 7, None]}, "a\nb"),
        ({"content": None}, ""),
        ({"content": {"text": "a"}}, ""),
        ("a", ""),
    ],
)
def test_a_message_is_a_text_or_parts(message: object, text: str) -> None:
    assert content_of(message) == text
