"""Archives as trees: what is read, what is refused and what it says."""

from __future__ import annotations

import stat
import struct
import zipfile
from pathlib import Path

import pytest

from ingest.sources import folder
from ingest.sources.folder import open_archive
from ingest.sources.tree import UnreadableEntryError
from lake.errors import Exit, GoldspanError


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


def _raw_name(file: Path, old: bytes, new: bytes) -> None:
    """Put other bytes where a name stands: zipfile itself would not write them."""
    assert len(old) == len(new)
    file.write_bytes(file.read_bytes().replace(old, new))


def test_entries_are_sorted_by_path_and_read_when_asked(tmp_path: Path) -> None:
    tree = open_archive(_zip(tmp_path, {"b/2.py": b"two", "a.py": b"one\r\n", "b/": b""}), "x.zip")
    assert [(entry.path, entry.size, entry.read()) for entry in tree.entries] == [
        ("a.py", 5, b"one\r\n"),
        ("b/2.py", 3, b"two"),
    ]
    assert tree.location == "x.zip"
    assert tree.refused == []


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("../evil.py", "climbs out"),
        ("a/..", "climbs out"),
        ("/etc/passwd", "absolute"),
        ("C:/evil.py", "drive"),
        ("a\\..\\evil.py", "backslash"),
    ],
)
def test_an_entry_that_climbs_out_is_refused_with_its_reason(tmp_path: Path, name: str, reason: str) -> None:
    tree = open_archive(_zip(tmp_path, {name: b"x", "fine.py": b"y"}), "x.zip")
    assert [entry.path for entry in tree.entries] == ["fine.py"]
    assert [(entry.path, reason in entry.reason) for entry in tree.refused] == [(name, True)]


def test_links_and_devices_are_refused_and_plain_files_are_not(tmp_path: Path) -> None:
    file = tmp_path / "made.zip"
    with zipfile.ZipFile(file, "w") as made:
        made.writestr(*_with_mode("link", stat.S_IFLNK | 0o777, b"/etc/passwd"))
        made.writestr(*_with_mode("pipe", stat.S_IFIFO | 0o644))
        made.writestr(*_with_mode("file", stat.S_IFREG | 0o644))
    tree = open_archive(file, "x.zip")
    assert [entry.path for entry in tree.entries] == ["file"]
    assert {entry.path: entry.reason for entry in tree.refused} == {"link": "a link", "pipe": "not a regular file"}


def test_an_encrypted_entry_is_refused(tmp_path: Path) -> None:
    file = _zip(tmp_path, {"secret.py": b"x"})
    data = bytearray(file.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.index(signature) + offset
        data[at] |= 1
    file.write_bytes(data)
    tree = open_archive(file, "x.zip")
    assert tree.entries == []
    assert [(entry.path, entry.reason) for entry in tree.refused] == [("secret.py", "encrypted")]


def test_the_first_of_two_entries_with_one_path_is_read_and_the_other_refused(tmp_path: Path) -> None:
    tree = open_archive(_zip(tmp_path, {"a/b.py": b"first", "./a//b.py": b"second"}), "x.zip")
    assert [(entry.path, entry.read()) for entry in tree.entries] == [("a/b.py", b"first")]
    assert [entry.path for entry in tree.refused] == ["./a//b.py"]
    assert "more than once" in tree.refused[0].reason


def test_an_entry_that_declares_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder, "MAX_DOCUMENT_BYTES", 1000)
    tree = open_archive(_zip(tmp_path, {"bomb": bytes(1001), "fine": bytes(1000)}), "x.zip")
    assert [entry.path for entry in tree.entries] == ["fine"]
    assert tree.refused[0].reason == "declares 1,001 bytes; at most 1,000 are read"


def test_entries_beyond_what_an_archive_may_unpack_to_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder, "MAX_STREAMED_BYTES", 25)
    tree = open_archive(_zip(tmp_path, {"a": bytes(10), "b": bytes(10), "c": bytes(10)}), "x.zip")
    assert [entry.path for entry in tree.entries] == ["a", "b"]
    assert "25 bytes" in tree.refused[0].reason


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize(("declared", "holds"), [(10, "Bad CRC-32"), (500, "declares 500 bytes and holds 100")])
def test_an_entry_that_is_not_as_large_as_it_declares_is_unreadable(
    tmp_path: Path, compression: int, declared: int, holds: str
) -> None:
    file = _zip(tmp_path, {"liar": bytes(100), "fine": b"y"}, compression)
    data = bytearray(file.read_bytes())
    struct.pack_into("<I", data, data.index(b"PK\x01\x02") + 24, declared)
    file.write_bytes(data)
    tree = open_archive(file, "x.zip")
    fine, liar = tree.entries
    with pytest.raises(UnreadableEntryError, match=holds):
        liar.read()
    assert fine.read() == b"y"


@pytest.mark.parametrize("damage", ["cut short", "no archive", "empty"])
def test_a_file_that_is_no_whole_archive_is_an_error_that_says_what_to_do(tmp_path: Path, damage: str) -> None:
    file = _zip(tmp_path, {"a": b"x" * 999})
    whole = file.read_bytes()
    file.write_bytes({"cut short": whole[:-30], "no archive": b"<html>not found</html>", "empty": b""}[damage])
    with pytest.raises(GoldspanError, match=r"made\.zip cannot be opened") as caught:
        open_archive(file, "x.zip")
    assert caught.value.code == Exit.INVALID
    assert "fetch it again" in str(caught.value)


def test_names_in_cp437_and_utf8_are_read(tmp_path: Path) -> None:
    file = _zip(tmp_path, {"umlaut_XX.py": b"1", "grüße.py": b"2"})
    _raw_name(file, b"umlaut_XX.py", b"umlaut_\x81\xe1.py")
    tree = open_archive(file, "x.zip")
    assert {entry.path: entry.read() for entry in tree.entries} == {"umlaut_üß.py": b"1", "grüße.py": b"2"}
