import io
import json
import stat
import struct
import zipfile
from pathlib import Path

import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]  # ships no types
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.rejects import Rejects
from ingest.sources import folder
from ingest.sources.folder import open_archive
from ingest.sources.rows import JsonObject, read_rows
from ingest.sources.tree import Entry, UnreadableFileError
from lake.errors import Exit
from tests.tiny import refused


def _zip(folder: Path, entries: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> Path:
    file = folder / "made.zip"
    with zipfile.ZipFile(file, "w", compression) as made:
        for name, data in entries.items():
            made.writestr(name, data)
    return file


def _with_mode(name: str, mode: int, data: bytes = b"x") -> tuple[zipfile.ZipInfo, bytes]:
    info = zipfile.ZipInfo(name)
    info.create_system = 3
    info.external_attr = mode << 16
    return info, data


def test_entries_are_sorted_by_path_and_read_when_asked(tmp_path: Path) -> None:
    tree = open_archive(_zip(tmp_path, {"b/2.py": b"two", "a.py": b"one\r\n", "b/": b""}), "x.zip")
    entries = [(entry.path, entry.read()) for entry in tree.entries]
    assert entries == [("a.py", b"one\r\n"), ("b/2.py", b"two")]
    assert tree.location == "x.zip"
    assert tree.refused == {}


@pytest.mark.parametrize("name", ["../evil.py", "a/..", "/etc/passwd", "C:/evil.py", "a\\..\\evil.py"])
def test_an_entry_that_climbs_out_is_refused(tmp_path: Path, name: str) -> None:
    tree = open_archive(_zip(tmp_path, {name: b"x", "fine.py": b"y"}), "x.zip")
    assert [entry.path for entry in tree.entries] == ["fine.py"]
    assert tree.refused == {name: "not a regular file at a path inside the archive"}


def test_links_and_devices_are_refused_and_plain_files_are_not(tmp_path: Path) -> None:
    file = tmp_path / "made.zip"
    with zipfile.ZipFile(file, "w") as made:
        made.writestr(*_with_mode("link", stat.S_IFLNK | 0o777, b"/etc/passwd"))
        made.writestr(*_with_mode("pipe", stat.S_IFIFO | 0o644))
        made.writestr(*_with_mode("file", stat.S_IFREG | 0o644))
    tree = open_archive(file, "x.zip")
    assert [entry.path for entry in tree.entries] == ["file"]
    assert tree.refused == dict.fromkeys(("link", "pipe"), "not a regular file at a path inside the archive")


def test_an_encrypted_entry_cannot_be_read(tmp_path: Path) -> None:
    file = _zip(tmp_path, {"secret.py": b"x"})
    data = bytearray(file.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.index(signature) + offset
        data[at] |= 1
    file.write_bytes(data)
    (entry,) = open_archive(file, "x.zip").entries
    with pytest.raises(UnreadableFileError, match="is encrypted"):
        entry.read()


def test_the_first_of_two_entries_with_one_path_is_read_and_the_other_refused(tmp_path: Path) -> None:
    tree = open_archive(_zip(tmp_path, {"a/b.py": b"first", "./a//b.py": b"second"}), "x.zip")
    assert [(entry.path, entry.read()) for entry in tree.entries] == [("a/b.py", b"first")]
    assert tree.refused == {"./a//b.py": "occurs more than once in the archive; the first is read"}


def test_an_entry_that_declares_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder, "MAX_DOCUMENT_BYTES", 1000)
    tree = open_archive(_zip(tmp_path, {"bomb": bytes(1001), "fine": bytes(1000)}), "x.zip")
    assert [entry.path for entry in tree.entries] == ["fine"]
    assert tree.refused == {"bomb": "declares 1,001 bytes; at most 1,000 are read"}


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_an_entry_that_holds_more_than_it_declares_is_unreadable(tmp_path: Path, compression: int) -> None:
    file = _zip(tmp_path, {"liar": bytes(100), "fine": b"y"}, compression)
    data = bytearray(file.read_bytes())
    struct.pack_into("<I", data, data.index(b"PK\x01\x02") + 24, 10)
    file.write_bytes(data)
    tree = open_archive(file, "x.zip")
    fine, liar = tree.entries
    with pytest.raises(UnreadableFileError, match="Bad CRC-32"):
        liar.read()
    assert fine.read() == b"y"


@pytest.mark.parametrize("damage", ["cut short", "no archive", "empty"])
def test_a_file_that_is_no_whole_archive_is_an_error_that_says_what_to_do(tmp_path: Path, damage: str) -> None:
    file = _zip(tmp_path, {"a": b"x" * 999})
    whole = file.read_bytes()
    file.write_bytes({"cut short": whole[:-30], "no archive": b"<html>not found</html>", "empty": b""}[damage])
    with refused(r"made\.zip cannot be opened", Exit.INVALID) as caught:
        open_archive(file, "x.zip")
    assert "fetch it again" in str(caught.value)


def test_names_in_cp437_and_utf8_are_read(tmp_path: Path) -> None:
    file = _zip(tmp_path, {"umlaut_XX.py": b"1", "grüße.py": b"2"})
    # zipfile itself would not write them.
    file.write_bytes(file.read_bytes().replace(b"umlaut_XX.py", b"umlaut_\x81\xe1.py"))
    tree = open_archive(file, "x.zip")
    assert {entry.path: entry.read() for entry in tree.entries} == {"umlaut_üß.py": b"1", "grüße.py": b"2"}


VALUES = st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner, max_size=3))
OBJECTS = st.lists(st.dictionaries(st.text(max_size=5), VALUES, max_size=3), max_size=5)


def _read(data: bytes, name: str = "a.jsonl") -> tuple[list[tuple[str, JsonObject]], list[tuple[str, str]]]:
    rejects = Rejects()
    rows = list(read_rows(Entry(name, lambda: io.BytesIO(data)), rejects))
    return rows, [(reject.position, reject.reason) for reject in rejects]


@given(OBJECTS, st.sampled_from([b"\n", b"\r\n", b"\n\n", b"\r\n \r\n"]), st.booleans(), st.booleans(), st.booleans())
def test_line_ends_of_objects(objects: list[JsonObject], end: bytes, mark: bool, last_end: bool, escaped: bool) -> None:
    lines = [json.dumps(row, ensure_ascii=escaped).encode("utf-8", "surrogatepass") for row in objects]
    data = (b"\xef\xbb\xbf" if mark else b"") + end.join(lines) + (end if last_end else b"")
    rows, refused = _read(data)
    assert [row for _, row in rows] == objects
    assert refused == []


def test_lines_are_counted_from_1_with_the_blank_ones() -> None:
    rows, _ = _read(b'{"a":1}\n\n{"a":2}\r\n')
    assert rows == [("line 1", {"a": 1}), ("line 3", {"a": 2})]


def test_a_bad_line_is_refused_with_its_number_and_the_rest_is_read() -> None:
    rows, refused = _read(b'{"a":1}\n[1]\n{"a":\n\xff\n{"a":2}')
    assert [position for position, _ in rows] == ["line 1", "line 5"]
    assert [position for position, _ in refused] == ["line 2", "line 3", "line 4"]
    assert refused[0][1] == "a list, not an object"
    assert refused[1][1].startswith("not JSON (Expecting value")
    assert refused[2][1].startswith("not JSON ('utf-8' codec can't decode byte 0xff")


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
        (b'[{"a": 1},', [], [("the whole file", "is it cut off?")]),
        # What follows the first line tells lines from one value.
        (b'[]\n{"a": 1}\n', ["line 2"], [("line 1", "a list, not an object")]),
        (b'\n[1, 2]\n\n{"a": 1}', ["line 4"], [("line 2", "a list, not an object")]),
        (b"[1]\n[2]\n", [], [("line 1", "a list, not an object"), ("line 2", "a list, not an object")]),
        (b'{"a": \n{"a": 1}', ["line 2"], [("line 1", "not JSON")]),
        (b"[]", [], []),
        (b'[{"a": 1}]\n', ["row 1"], []),
        (b'[\n{"a": 1},\n{"a": 2}]', ["row 1", "row 2"], []),
        (b'[{"a": 1},\n{"a": 2}]', ["row 1", "row 2"], []),
        (b'{"a": [\n{"b": 1}]}', ["row 1"], []),
    ],
)
def test_json_is_a_list_one_object_or_lines(data: bytes, positions: list[str], refused: list[tuple[str, str]]) -> None:
    rows, faults = _read(data, "a.json")
    assert [position for position, _ in rows] == positions
    assert [position for position, _ in faults] == [position for position, _ in refused]
    assert all(part in reason for (_, reason), (_, part) in zip(faults, refused, strict=True))


def test_a_table_without_its_header_is_read_by_the_keys_asked_for() -> None:
    data = b"q1\td1\t1\nq2\td2\n"
    rejects = Rejects()
    rows = list(read_rows(Entry("a.tsv", lambda: io.BytesIO(data)), rejects, ["query", "document", "grade"]))
    assert rows == [("line 1", {"query": "q1", "document": "d1", "grade": "1"})]
    assert [(row.position, row.reason) for row in rejects] == [("line 2", "2 values, not 3: query, document, grade")]


def test_parquet_gives_the_columns_that_are_asked_for(tmp_path: Path) -> None:
    pl.DataFrame({"a": [1, 2], "b": [3, 4]}).write_parquet(tmp_path / "a.parquet")
    data = (tmp_path / "a.parquet").read_bytes()
    rows = read_rows(Entry("a.parquet", lambda: io.BytesIO(data)), Rejects(), ["a"])
    assert list(rows) == [("row 1", {"a": 1}), ("row 2", {"a": 2})]
    assert _read(data[:-9], "a.parquet")[1][0][0] == "the whole file"
