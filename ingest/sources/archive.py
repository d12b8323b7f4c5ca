"""Zip archives as trees: what would climb out, mislead or explode never becomes an entry."""

from __future__ import annotations

import lzma
import re
import stat
import zipfile
import zlib
from functools import partial
from pathlib import Path

from ingest.sources.tree import Entry, Refused, Tree, UnreadableEntryError, read_whole
from lake.errors import Exit, GoldspanError
from lake.limits import MAX_DEPTH, MAX_DOCUMENT_BYTES, MAX_FILES, MAX_STREAMED_BYTES

_DRIVE = re.compile(r"[A-Za-z]:")
_ENCRYPTED = 0x1
_READ_ERRORS = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, RuntimeError, OSError,
                MemoryError)  # fmt: skip


def is_junk(path: str) -> bool:
    """Whether a path is what macOS leaves behind, passed over unsaid: `__MACOSX/`, `._*`, `.DS_Store`."""
    parts = path.split("/")
    return "__MACOSX" in parts or parts[-1] == ".DS_Store" or parts[-1].startswith("._")


def open_archive(file: Path, location: str) -> Tree:
    """The regular files of a zip archive, opened once and read entry by entry when asked, in one thread.

    Refused, each with its reason: paths that climb out or mislead, links and devices, encrypted entries, a path that
    stands there again (the first is read), and what is beyond the limits. `.` and empty parts of a path are dropped.
    Names that are not marked as UTF-8 are taken as cp437, as the format has it.

    Raises:
        GoldspanError: It is no zip archive, is cut short, or its table of contents is damaged.
    """
    try:
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, UnicodeDecodeError, NotImplementedError, EOFError, OSError, MemoryError) as error:
        what = f"{file.name} cannot be opened as a zip archive: {str(error) or type(error).__name__}"
        hint = "It may be cut short: fetch it again, or unpack it into a folder of the same name without .zip."
        raise GoldspanError(what, where=str(file), hint=hint, code=Exit.INVALID) from error
    entries: dict[str, Entry] = {}
    refused: list[Refused] = []
    total = 0
    for number, info in enumerate(archive.infolist()):
        if number == MAX_FILES:
            refused.append(Refused("", f"it holds more than {MAX_FILES:,} entries; the others are not read"))
            break
        path = "/".join(part for part in info.filename.split("/") if part not in ("", "."))
        if is_junk(path):
            continue
        reason = _why_not(info)
        if reason is None and info.is_dir():
            continue
        if reason is None and path in entries:
            reason = "stands in the archive more than once; the first is read"
        if reason is None and total + info.file_size > MAX_STREAMED_BYTES:
            reason = f"the archive unpacks to more than {MAX_STREAMED_BYTES:,} bytes"
        if reason is not None:
            refused.append(Refused(info.orig_filename, reason))
            continue
        total += info.file_size
        entries[path] = Entry(path, info.file_size, partial(_read, archive, info, location, path))
    return Tree(location, [entries[path] for path in sorted(entries)], refused)


def _why_not(info: zipfile.ZipInfo) -> str | None:
    name = info.orig_filename
    kind = stat.S_IFMT(info.external_attr >> 16)
    problems = {
        "the path holds a zero byte": "\0" in name,
        "the path has backslashes": "\\" in name,
        "the path names a drive": _DRIVE.match(name) is not None,
        "the path is absolute": name.startswith("/"),
        "the path climbs out with ..": ".." in name.split("/"),
        "the path is empty": not name.strip("./"),
        "a link": kind == stat.S_IFLNK,
        "not a regular file": kind not in (0, stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK),
        "encrypted": bool(info.flag_bits & _ENCRYPTED),
        f"more than {MAX_DEPTH} folders inside one another": name.count("/") > MAX_DEPTH,
        f"declares {info.file_size:,} bytes; at most {MAX_DOCUMENT_BYTES:,} are read": info.file_size
        > MAX_DOCUMENT_BYTES,
    }
    return next((reason for reason, holds in problems.items() if holds), None)


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo, location: str, path: str) -> bytes:
    try:
        with archive.open(info) as stream:
            # One byte beyond what is declared: the checksum is tested, and nothing inflates much further.
            data = read_whole(stream, info.file_size + 1)
    except _READ_ERRORS as error:
        raise UnreadableEntryError(location, path, str(error) or type(error).__name__) from error
    if len(data) != info.file_size:
        raise UnreadableEntryError(location, path, f"declares {info.file_size:,} bytes and holds {len(data):,}")
    return data
