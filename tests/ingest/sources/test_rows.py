"""Rows of every format: what cannot be read costs its own row alone, and says where it stands."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]  # ships no types
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.sources.rows import JsonObject, is_json_lines, read_rows
from ingest.sources.tree import Entry
from lake.rejects import Rejects

VALUES = st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner, max_size=3))
OBJECTS = st.lists(st.dictionaries(st.text(max_size=5), VALUES, max_size=3), max_size=5)


def _read(data: bytes, name: str = "a.jsonl") -> tuple[list[tuple[str, JsonObject]], list[tuple[str, str]]]:
    rejects = Rejects()
    found = list(read_rows(Entry(name, len(data), lambda: data), rejects))
    return found, [(reject.position, reject.reason) for reject in rejects]


@given(OBJECTS, st.sampled_from([b"\n", b"\r\n", b"\n\n", b"\r\n \r\n"]), st.booleans(), st.booleans(), st.booleans())
def test_objects_are_read_back_whatever_the_line_ends(
    objects: list[JsonObject], end: bytes, mark: bool, last_end: bool, escaped: bool
) -> None:
    lines = [json.dumps(one, ensure_ascii=escaped).encode("utf-8", "surrogatepass") for one in objects]
    data = (b"\xef\xbb\xbf" if mark else b"") + end.join(lines) + (end if last_end else b"")
    found, refused = _read(data)
    assert [one for _, one in found] == objects
    assert refused == []


def test_lines_are_counted_from_1_with_the_blank_ones() -> None:
    found, _ = _read(b'{"a":1}\n\n{"a":2}\r\n')
    assert found == [("line 1", {"a": 1}), ("line 3", {"a": 2})]


def test_a_bad_line_is_refused_with_its_number_and_the_rest_is_read() -> None:
    found, refused = _read(b'{"a":1}\n[1]\n{"a":\n\xff\n{"a":2}')
    assert [position for position, _ in found] == ["line 1", "line 5"]
    assert [position for position, _ in refused] == ["line 2", "line 3", "line 4"]
    assert refused[0][1] == "a list, not an object"
    assert refused[1][1].startswith("not JSON (Expecting value")
    assert refused[2][1] == "not UTF-8: invalid start byte at byte 0"


@pytest.mark.parametrize(("name", "packing"), [("a.JSONL.gz", "gzip"), ("a.jsonl.zst", "zstd"), ("a.tsv.gz", "gzip")])
def test_packed_files_are_unpacked_as_they_are_read(name: str, packing: str) -> None:
    rows = b"a\n1\n" if ".tsv" in name else b'{"a": "1"}\n'
    packed: bytes = pa.Codec(packing).compress(rows, asbytes=True)
    assert [row for _, row in _read(packed, name)[0]] == [{"a": "1"}]
    cut, refused = _read(packed[:-3], name)
    assert "cannot be read to its end" in refused[0][1], cut


@pytest.mark.parametrize(
    ("data", "positions", "refused"),
    [
        (b'[{"a": 1}, 2, {"a": 2}]', ["row 1", "row 3"], [("row 2", "a int, not an object")]),
        (b'{"a": 1}', ["line 1"], []),
        (b'{\n"a": 1}', ["row 1"], []),
        (b'{"a": 1}\n{"a": 2}\n', ["line 1", "line 2"], []),
        (b"[1, 2]", [], []),
        (b'[{"a": 1},', [], [("the whole file", "is the file cut off?")]),
    ],
)
def test_json_is_a_list_one_object_or_lines(data: bytes, positions: list[str], refused: list[tuple[str, str]]) -> None:
    found, faults = _read(data, "a.json")
    assert [position for position, _ in found] == positions
    assert [position for position, _ in faults] == [position for position, _ in refused]
    assert all(part in reason for (_, reason), (_, part) in zip(faults, refused, strict=True))


@pytest.mark.parametrize(
    ("head", "are_lines"),
    [
        (b'[]\n{"a": 1}\n', True),
        (b'\n[1, 2]\n\n{"a": 1}', True),
        (b"[1]\n[2]\n", True),
        (b'{"a": \n{"a": 1}', True),
        (b"[]", False),
        (b'[{"a": 1}]\n', False),
        (b'[\n{"a": 1},\n{"a": 2}]', False),
        (b'[{"a": 1},\n{"a": 2}]', False),
        (b'{"a": [\n{"b": 1}]}', False),
    ],
)
def test_json_lines_are_told_from_one_value_by_what_follows_the_first_line(head: bytes, are_lines: bool) -> None:
    assert is_json_lines(head) is are_lines


def test_a_table_without_its_header_is_read_by_the_keys_asked_for() -> None:
    data = b"q1\td1\t1\nq2\td2\n"
    rejects = Rejects()
    rows = list(read_rows(Entry("a.tsv", len(data), lambda: data), rejects, ["query", "document", "grade"]))
    assert rows == [("line 1", {"query": "q1", "document": "d1", "grade": "1"})]
    assert [(one.position, one.reason) for one in rejects] == [("line 2", "2 values, not 3: query, document, grade")]


def test_parquet_gives_the_columns_that_are_asked_for(tmp_path: Path) -> None:
    pl.DataFrame({"a": [1, 2], "b": [3, 4]}).write_parquet(tmp_path / "a.parquet")
    data = (tmp_path / "a.parquet").read_bytes()
    rows = read_rows(Entry("a.parquet", len(data), lambda: data), Rejects(), ["a"])
    assert list(rows) == [("row 1", {"a": 1}), ("row 2", {"a": 2})]
    assert _read(data[:-9], "a.parquet")[1][0][0] == "the whole file"
