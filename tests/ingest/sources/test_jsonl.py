"""JSON Lines: one bad line costs that line alone."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.sources.jsonl import JsonObject, json_lines
from ingest.sources.tree import Entry, UnreadableEntryError
from lake.rejects import Rejects

VALUES = st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner, max_size=3))
OBJECTS = st.lists(st.dictionaries(st.text(max_size=5), VALUES, max_size=3), max_size=5)


def _read(data: bytes) -> tuple[list[tuple[int, JsonObject]], list[tuple[str, str]]]:
    rejects = Rejects()
    found = list(json_lines(Entry("a.jsonl", len(data), lambda: data), rejects))
    return found, [(reject.position, reject.reason) for reject in rejects]


@settings(max_examples=40)
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
    assert found == [(1, {"a": 1}), (3, {"a": 2})]


def test_a_line_break_inside_a_text_is_none_of_the_files() -> None:
    found, refused = _read('{"a":"x\\ny\u2028z\u0085"}\n'.encode())
    assert (found, refused) == ([(1, {"a": "x\ny\u2028z\u0085"})], [])


def test_a_bad_line_is_refused_with_its_number_and_the_rest_is_read() -> None:
    found, refused = _read(b'{"a":1}\n[1]\n{"a":\n\xff\n{"a":2}')
    assert [number for number, _ in found] == [1, 5]
    assert [position for position, _ in refused] == ["line 2", "line 3", "line 4"]
    assert refused[0][1] == "a list, not an object"
    assert refused[1][1].startswith("not JSON (Expecting value")
    assert refused[2][1] == "not UTF-8: invalid start byte at byte 0"


def test_a_file_that_cannot_be_read_is_refused_whole() -> None:
    def gone() -> bytes:
        raise UnreadableEntryError(location="datasets", path="a.jsonl", reason="No such file or directory")

    rejects = Rejects()
    assert list(json_lines(Entry("a.jsonl", 3, gone), rejects)) == []
    assert [(one.source, one.position, one.reason) for one in rejects] == [
        ("a.jsonl", "file", "cannot be read: No such file or directory")
    ]
