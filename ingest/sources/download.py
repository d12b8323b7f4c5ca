"""Downloads into a content-addressed cache: resumed where they broke off, checked before they count."""

from __future__ import annotations

import http.client
import re
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ingest.sources.repository import git_blob_id
from ingest.sources.tree import Progress
from lake.errors import Exit, GoldspanError

TIMEOUT_SECONDS = 30
ATTEMPTS = 5
_BLOCK = 1 << 16
_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+)")
_RANGE_NOT_SATISFIABLE = 416
_PARTIAL_CONTENT = 206


@dataclass(frozen=True)
class Remote:
    """A file at its publisher's.

    Attributes:
        url: Where it is.
        name: What a person calls it.
        blob_id: Its git blob id: 40 hex digits.
    """

    url: str
    name: str
    blob_id: str


class UnreachableError(Exception):
    """The file cannot be had from there now; what has arrived is kept for the next time."""


class _BrokenOffError(Exception):
    """The connection ended before the file did."""


def blob_id_of(file: Path) -> str:
    """The id git gives a file's content."""
    with file.open("rb") as stream:
        return git_blob_id(stream, file.stat().st_size)


def fetch(remote: Remote, cache: Path, progress: Progress | None = None) -> Path:
    """The file as `<cache>/<blob id>`, downloaded where it is not there or is not what it should be.

    It arrives as `<blob id>.part`, which a later call goes on with, and is moved into place once its id is right. One
    process at a time: two that write one part spoil it, and both say so.

    Raises:
        UnreachableError: The server cannot be reached, refuses, or breaks off again and again.
        GoldspanError: What it sends is not the pinned file, or the cache cannot be written.
    """
    target, part = cache / remote.blob_id, cache / f"{remote.blob_id}.part"
    try:
        if target.is_file() and blob_id_of(target) == remote.blob_id:
            return target
        cache.mkdir(parents=True, exist_ok=True)
        return _fetch(remote, target, part, progress)
    except OSError as error:
        what = f"the cache cannot be used: {error.strerror or error}"
        raise GoldspanError(what, where=str(cache), hint="Check space and permissions.", code=Exit.ERROR) from error


def _fetch(remote: Remote, target: Path, part: Path, progress: Progress | None) -> Path:
    reason = ""
    for _ in range(ATTEMPTS):
        resumed = part.is_file() and part.stat().st_size > 0
        try:
            _receive(remote, part, progress)
        except _BrokenOffError as error:
            reason = str(error)
            continue
        if blob_id_of(part) == remote.blob_id:
            part.replace(target)
            return target
        found, size = blob_id_of(part), part.stat().st_size
        part.unlink()
        if resumed:
            # What lay there may have been the beginning of something else: once more, from the start.
            continue
        what = f"{remote.name} is not the pinned file: git blob {found} ({size:,} bytes) instead of {remote.blob_id}"
        hint = (
            "It was removed. Something on the way (a proxy's page?) answers in its place, or the publisher changed it."
        )
        raise GoldspanError(what, where=remote.url, hint=hint, code=Exit.INVALID)
    raise UnreachableError(reason)


def _receive(remote: Remote, part: Path, progress: Progress | None) -> None:
    """Append what is still missing; return when the server says that the file is whole."""
    have = part.stat().st_size if part.is_file() else 0
    request = urllib.request.Request(remote.url, headers={"Range": f"bytes={have}-"} if have else {})
    try:
        response: http.client.HTTPResponse = urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == _RANGE_NOT_SATISFIABLE and have:
            return  # There is no more of it; the check says whether what is there is right.
        message = f"the server answers {error.code} {error.reason}"
        raise UnreachableError(message) from error
    except (urllib.error.URLError, http.client.HTTPException, OSError) as error:
        raise UnreachableError(str(getattr(error, "reason", error))) from error
    with response:
        total = response.length or 0
        if response.status == _PARTIAL_CONTENT:
            stated = _RANGE.fullmatch(response.headers.get("Content-Range", ""))
            if stated is None or int(stated[1]) != have:
                part.unlink()
                message = "the server sent another part than was asked for"
                raise _BrokenOffError(message)
            total = int(stated[2])
        else:
            have = 0
        with part.open("ab" if have else "wb") as file:
            for block in _blocks(response):
                file.write(block)
                have += len(block)
                if progress is not None:
                    progress(have, total, remote.name)
    if have < total:
        message = f"the connection broke off after {have:,} of {total:,} bytes"
        raise _BrokenOffError(message)


def _blocks(response: http.client.HTTPResponse) -> Iterator[bytes]:
    """What arrives, until it ends; that it may have ended early, only the length can say."""
    while True:
        try:
            block = response.read1(_BLOCK)
        except (http.client.HTTPException, OSError) as error:
            message = f"the connection broke off: {error}"
            raise _BrokenOffError(message) from error
        if not block:
            return
        yield block
