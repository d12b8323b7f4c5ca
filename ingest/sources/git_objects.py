"""What a commit in a bare repository holds: its tree's paths within stated limits, and contents one at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ingest.sources.git_address import RepositoryError
from ingest.sources.git_process import GitFailedError, GitProcess
from ingest.sources.tree import Refused
from lake.errors import Exit
from lake.limits import MAX_CONTENTS_BYTES, MAX_DEPTH, MAX_FILES, MAX_STREAMED_BYTES

MAX_BLOB_BYTES = 1_000_000
"""A larger content is neither fetched, where the server can filter, nor read."""

MAX_PATH_BYTES = 4_096
"""A file with a longer path is not read."""

LOCAL_SECONDS = 300.0
"""How long a command may take that asks no server."""

LISTING_SECONDS = 60.0
"""How long listing a tree may take, which is a matter of seconds."""

_FOLDER = "040000"
_KINDS = {
    "120000": "a symbolic link, which is not followed",
    "160000": "a submodule, which is not followed",
}


class DamagedError(Exception):
    """A repository in the cache does not hold what it should: it is to be made anew."""


@dataclass(frozen=True)
class GitFile:
    """A regular file in a commit's tree.

    Attributes:
        path: With `/`, as the tree has it; bytes that are no UTF-8 are replaced by U+FFFD.
        blob_id: The git id of its content.
        n_bytes: Its size; None where it is larger than `MAX_BLOB_BYTES` and was left with the server.
    """

    path: str
    blob_id: str
    n_bytes: int | None

    @property
    def is_large(self) -> bool:
        """Whether it is larger than `MAX_BLOB_BYTES`."""
        return self.n_bytes is None or self.n_bytes > MAX_BLOB_BYTES


@dataclass(frozen=True)
class Checkout:
    """A repository at a commit: its files listed, nothing written out.

    Attributes:
        url: Where it came from.
        commit: The full id of the commit.
        files: The regular files of at most `MAX_BLOB_BYTES`, sorted by path.
        large: The larger ones, which cannot be read.
        refused: What is no regular file, or has no path of its own: links, submodules, …
        renamed: The files whose names are no UTF-8, which are read by other names: their paths here.
        objects: Where contents are read.
    """

    url: str
    commit: str
    files: Sequence[GitFile]
    large: Sequence[GitFile]
    refused: Sequence[Refused]
    renamed: Sequence[str]
    objects: Objects

    def read(self, files: Sequence[GitFile] | None = None) -> Iterator[tuple[GitFile, bytes]]:
        """Files with their contents, byte for byte, in the order given; all of `files` without one.

        One is in memory at a time, whatever is asked for.

        Raises:
            DamagedError: A content that was there is not.
        """
        yield from self.objects.read(self.files if files is None else files)


@dataclass(frozen=True)
class Objects:
    """The objects of one bare repository; a missing one is missing, and never fetched unasked."""

    git: GitProcess

    def commit_of(self, name: str) -> str | None:
        """The commit that a ref or an id names; None where there is none."""
        said = self.git.run("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}", timeout=LOCAL_SECONDS)
        return said.out.decode().strip() if said.code == 0 else None

    def damage(self) -> str:
        """What is wrong with what is stored; empty where all that is here can be listed."""
        listed = self.git.run("cat-file", "--batch-all-objects", "--batch-check", timeout=LOCAL_SECONDS)
        shallow = self.git.run("rev-parse", "--is-shallow-repository", timeout=LOCAL_SECONDS)
        return next((said.reason for said in (listed, shallow) if said.code or said.err), "")

    def checkout(self, url: str, commit: str) -> Checkout:
        """The files of a commit.

        Raises:
            DamagedError: Its tree is not all there.
            RepositoryError: It is larger than the limits allow.
        """
        listing = _Listing(url)
        try:
            # Folders as well: so a tree of nothing but folders comes to its limit too.
            for record in self.git.records(
                "ls-tree", "-r", "-t", "-z", "-l", "--full-tree", commit, timeout=LISTING_SECONDS
            ):
                listing.add(record)
        except GitFailedError as error:
            raise DamagedError(str(error)) from error
        files = sorted(listing.files.values(), key=_path)
        small, large = [one for one in files if not one.is_large], [one for one in files if one.is_large]
        refused = sorted(listing.refused, key=_path)
        return Checkout(url, commit, small, large, refused, sorted(listing.renamed), self)

    def read(self, files: Sequence[GitFile]) -> Iterator[tuple[GitFile, bytes]]:
        """As :meth:`Checkout.read` has it."""
        try:
            yield from zip(files, self.git.contents(file.blob_id for file in files), strict=True)
        except GitFailedError as error:
            raise DamagedError(str(error)) from error


@dataclass
class _Listing:
    """A tree's entries as git lists them, held against the limits.

    Attributes:
        files: Path → file.
        n_entries: How many entries there are.
        n_path_bytes: What their paths come to.
        n_bytes: What the contents come to that can be read.
    """

    url: str
    files: dict[str, GitFile] = field(default_factory=dict)
    refused: list[Refused] = field(default_factory=list)
    renamed: set[str] = field(default_factory=set)
    n_entries: int = 0
    n_path_bytes: int = 0
    n_bytes: int = 0

    def add(self, record: bytes) -> None:
        """Take in `<mode> <kind> <id> <size>TAB<path>`.

        Raises:
            RepositoryError: With it the tree is beyond a limit.
        """
        described, _, name = record.partition(b"\t")
        mode, kind, blob_id, size = described.decode().split()
        self.n_entries += 1
        self.n_path_bytes += len(name)
        # A size that git cannot tell is that of a content left with the server.
        n_bytes = int(size) if size.isdigit() else None
        if n_bytes is not None and n_bytes <= MAX_BLOB_BYTES:
            self.n_bytes += n_bytes
        self._check()
        if mode == _FOLDER:
            return
        path = name.decode(errors="replace")
        reason = _why_not(path, mode, kind, len(name))
        if not reason and path in self.files:
            reason = "its name is no UTF-8, and reads like another's that is kept"
        if reason:
            self.refused.append(Refused(path, reason))
            return
        self.files[path] = GitFile(path, blob_id, n_bytes)
        if path.encode() != name:
            self.renamed.add(path)

    def _check(self) -> None:
        limits = (
            (self.n_entries, MAX_FILES, "files and folders"),
            (self.n_path_bytes, MAX_CONTENTS_BYTES, "bytes of paths"),
            (self.n_bytes, MAX_STREAMED_BYTES, "bytes of files"),
        )
        for n, limit, what in limits:
            if n > limit:
                message = f"{self.url} holds more than {limit:,} {what}, and is not read"
                raise RepositoryError(message, code=Exit.INVALID)


def _why_not(path: str, mode: str, kind: str, n_bytes: int) -> str:
    if mode in _KINDS:
        return _KINDS[mode]
    if kind != "blob":
        return f"a {kind} of mode {mode}, which is no regular file"
    if n_bytes > MAX_PATH_BYTES:
        return f"its path is longer than {MAX_PATH_BYTES:,} bytes"
    folders = path.split("/")
    if len(folders) > MAX_DEPTH + 1:
        return f"more than {MAX_DEPTH} folders inside one another"
    return "its path climbs out or is empty" if any(part in ("", ".", "..") for part in folders) else ""


def _path(one: GitFile | Refused) -> str:
    return one.path
