"""Downloads: of pinned files, resumed where they broke off and checked before they count; of the Hugging Face hub."""

from __future__ import annotations

import errno
import http.client
import re
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ingest.sources.repository import git_blob_id
from ingest.sources.tree import Progress, unusable
from lake.errors import Exit, GoldspanError

TIMEOUT_SECONDS = 30
ATTEMPTS = 5
_BLOCK = 1 << 16
_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+)")
_DISK_FAULTS = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.ENOTDIR, errno.EEXIST)
_BROKEN_OFF = (http.client.HTTPException, ConnectionError, TimeoutError, ssl.SSLError)


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
        _fetch(remote, part, progress)
        return part.replace(target)
    except OSError as error:
        raise unusable(cache, error) from error


def _fetch(remote: Remote, part: Path, progress: Progress | None) -> None:
    broken_off = ""
    for _ in range(ATTEMPTS):
        resumed = _size(part) > 0
        if broken_off := _receive(remote, part, progress):
            continue
        blob_id, size = blob_id_of(part), _size(part)
        if blob_id == remote.blob_id:
            return
        part.unlink()
        # What lay there may have been the beginning of something else: once more, from the start.
        if not resumed:
            what = f"{remote.name} is not the pinned file: git blob {blob_id} ({size:,} bytes), not {remote.blob_id}"
            hint = "It was removed. Does a proxy's page come in its place, or did the publisher change it?"
            raise GoldspanError(what, where=remote.url, hint=hint, code=Exit.INVALID)
    raise UnreachableError(broken_off)


def _receive(remote: Remote, part: Path, progress: Progress | None) -> str:
    """Append what is still missing; how the connection broke off, empty where the server calls the file whole."""
    have = _size(part)
    request = urllib.request.Request(remote.url, headers={"Range": f"bytes={have}-"} if have else {})
    try:
        response: http.client.HTTPResponse = urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE and have:
            return ""  # There is no more of it; the check says whether what is there is right.
        message = f"the server answers {error.code} {error.reason}"
        raise UnreachableError(message) from error
    except (http.client.HTTPException, OSError) as error:
        raise UnreachableError(str(getattr(error, "reason", error))) from error
    with response:
        total = response.length or 0
        if response.status == http.HTTPStatus.PARTIAL_CONTENT:
            stated = _RANGE.fullmatch(response.headers.get("Content-Range", ""))
            if stated is None or int(stated[1]) != have:
                part.unlink()
                return "the server sent another part than was asked for"
            total = int(stated[2])
        else:
            have = 0
        try:
            with part.open("ab" if have else "wb") as file:
                while block := response.read1(_BLOCK):
                    file.write(block)
                    have += len(block)
                    if progress is not None:
                        progress(have, total, remote.name)
        except _BROKEN_OFF as error:
            return f"the connection broke off: {error}"
    return f"the connection broke off after {have:,} of {total:,} bytes" if have < total else ""


def _size(file: Path) -> int:
    return file.stat().st_size if file.is_file() else 0


class HuggingFace:
    """What is asked of the hub, by a library that is imported when it is needed: that takes long.

    HF_HUB_OFFLINE and the like hold as the user has set them. What cannot be had is an `UnreachableError`; a cache that
    cannot be written is an `OSError`.
    """

    def resolve(self, dataset: str, branch: str) -> tuple[str, dict[str, int]]:
        """The commit a branch stands at, and the sizes of its files in bytes where it says them; asked for once."""
        from huggingface_hub import HfApi

        with _mapped():
            info = HfApi().dataset_info(dataset, revision=branch, files_metadata=True, timeout=TIMEOUT_SECONDS)
        if not info.sha:
            message = f"it does not say at which commit {branch} stands"
            raise UnreachableError(message)
        return info.sha, {each.rfilename: each.size for each in info.siblings or [] if each.size is not None}

    def fetch(self, dataset: str, path: str, commit: str, cache: Path, progress: Progress | None) -> Path:
        """A file of a commit; what the cache holds is not asked for again, what has arrived of it is kept."""
        from huggingface_hub import HfApi, hf_hub_download, try_to_load_from_cache

        cached = try_to_load_from_cache(dataset, path, cache_dir=cache, revision=commit, repo_type="dataset")
        if isinstance(cached, str):
            return Path(cached)
        with _mapped():
            # A download tries for half a minute and prints as much; this says at once that nothing is to be had.
            HfApi().dataset_info(dataset, revision=commit, timeout=TIMEOUT_SECONDS)
            file = hf_hub_download(
                dataset, path, repo_type="dataset", revision=commit, cache_dir=cache, tqdm_class=_bar(path, progress)
            )
        return Path(str(file))


@contextmanager
def _mapped() -> Iterator[None]:
    """Whatever is raised when something cannot be had, as one error; faults of the disk as they are."""
    from httpx2 import HTTPError  # the connection's own errors, which huggingface_hub lets through
    from huggingface_hub.errors import EntryNotFoundError, XetDownloadError

    try:
        yield
    except (OSError, HTTPError, EntryNotFoundError, XetDownloadError) as error:
        if isinstance(error, OSError) and error.errno in _DISK_FAULTS:
            raise
        raise UnreachableError(" ".join(str(error).split()) or type(error).__name__) from error


def _bar(path: str, progress: Progress | None) -> type[object]:
    """A progress bar that prints nothing and tells `progress`."""
    from huggingface_hub.utils.tqdm import tqdm

    class Bar(tqdm):
        def __init__(self, *, initial: int | None = 0, total: int | None = None, **options: object) -> None:
            self.done, self.whole = initial or 0, total or 0
            options["disable"] = True
            super().__init__(initial=initial, total=total, **options)  # type: ignore[no-untyped-call]  # it has no types

        def update(self, n: float | None = 1) -> None:
            self.done += int(n or 0)
            if progress is not None:
                progress(self.done, self.whole, path)

    return Bar
