"""Downloads of pinned files, resumed where they broke off and checked before they count."""

from __future__ import annotations

import http.client
import re
import ssl
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from ingest.sources.repository import git_blob_id
from ingest.sources.tree import Progress, unusable
from lake.errors import Exit, GoldspanError

TIMEOUT_SECONDS = 30
ATTEMPTS = 5
_BLOCK = 1 << 16
_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+)")
_BROKEN_OFF = (http.client.HTTPException, ConnectionError, TimeoutError, ssl.SSLError)


@dataclass(frozen=True)
class Remote:
    """A file at its publisher's: where it is, what a person calls it, and its git blob id, 40 hex digits."""

    url: str
    name: str
    blob_id: str


class UnreachableError(Exception):
    """The file cannot be had from there now; what has arrived is kept for the next time."""


def blob_id_of(file: Path) -> str:
    """The id git gives a file's content."""
    with file.open("rb") as stream:
        return git_blob_id(stream, file.stat().st_size)


def fetch(remote: Remote, cache: Path, progress: Progress | None = None) -> Path:
    """The file as `<cache>/<blob id>`, downloaded where it is not there or is not what it should be.

    It arrives as `<blob id>.part`, which a later call goes on with, and is moved into place once its id is right.

    Raises:
        UnreachableError: The server cannot be reached, refuses, or breaks off again and again.
        GoldspanError: What it sends is not the pinned file, or the cache cannot be written.
    """
    target, part = cache / remote.blob_id, cache / f"{remote.blob_id}.part"
    try:
        if target.is_file() and blob_id_of(target) == remote.blob_id:
            return target
        cache.mkdir(parents=True, exist_ok=True)
        _fetch(remote, part, progress)
        return part.replace(target)
    except OSError as error:
        raise unusable(cache, error) from error


def _fetch(remote: Remote, part: Path, progress: Progress | None) -> None:
    broken_off = ""
    for _ in range(ATTEMPTS):
        n_had = part.stat().st_size if part.is_file() else 0
        if broken_off := _receive(remote, part, n_had, progress):
            continue
        if (blob_id := blob_id_of(part)) == remote.blob_id:
            return
        part.unlink()
        # What lay there may have been the beginning of something else: once more, from the start.
        if not n_had:
            what = f"{remote.name} is not the pinned file: git blob {blob_id}, not {remote.blob_id}"
            hint = "It was removed. Does a proxy's page come in its place, or did the publisher change it?"
            raise GoldspanError(what, where=remote.url, hint=hint, code=Exit.INVALID)
    raise UnreachableError(broken_off)


def _receive(remote: Remote, part: Path, n_had: int, progress: Progress | None) -> str:
    """Append what is still missing; how the connection broke off, empty where the server calls the file whole."""
    request = urllib.request.Request(remote.url, headers={"Range": f"bytes={n_had}-"} if n_had else {})
    try:
        response: http.client.HTTPResponse = urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE and n_had:
            return ""  # There is no more of it; the check says whether what is there is right.
        raise UnreachableError(f"the server answers {error.code} {error.reason}") from error
    except (http.client.HTTPException, OSError) as error:
        raise UnreachableError(str(getattr(error, "reason", error))) from error
    with response:
        span = _RANGE.fullmatch(response.headers.get("Content-Range", ""))
        if span is None or int(span[1]) != n_had:
            n_had = 0
        total = int(span[2]) if span else response.length or 0
        try:
            with part.open("ab" if n_had else "wb") as file:
                while block := response.read1(_BLOCK):
                    file.write(block)
                    n_had += len(block)
                    if progress is not None:
                        progress(n_had, total, remote.name)
        except _BROKEN_OFF as error:
            return f"the connection broke off: {error}"
    return f"the connection broke off after {n_had:,} of {total:,} bytes" if n_had < total else ""
