"""The form of raw files that all sources share: entries (files) in trees (folders or archives)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from os import SEEK_END
from pathlib import Path
from typing import IO, NamedTuple

from ingest.rejects import Rejects
from lake.errors import Exit, GoldspanError
from lake.fingerprint import sha256_of_stream
from lake.limits import MAX_DOCUMENT_BYTES

HUB = "hub"
"""The source that downloads: only requested or default subsets are read from it."""
CACHE = "cache"
"""The folder of a lake with downloads and clones."""
_BLOCK_BYTES = 1 << 20


class UnreadableFileError(GoldspanError):
    """A file, or the part of it at a position, cannot be read; a reader of several files rejects it and continues."""

    def __init__(self, path: str, reason: str, *, excerpt: str = "") -> None:
        self.reason, self.excerpt, self.position = reason, excerpt, ""
        super().__init__(f"{path}: {reason}", code=Exit.INVALID)


@dataclass(frozen=True)
class Entry:
    """A regular file in a tree: `open` gives its bytes as a seekable file, whose use may raise `UnreadableFileError`.

    `path` stays inside the tree; `made_from` is a digest of all that the bytes depend on, empty if it is not known.
    """

    path: str
    open: Callable[[], AbstractContextManager[IO[bytes]]]
    made_from: str = ""

    def read(self) -> bytes:
        """All its bytes; raises `UnreadableFileError`."""
        with self.open() as stream:
            return read_document(self.path, stream)

    def sha256(self) -> str:
        """The sha256 of its bytes, in hex; if they cannot be read, the reason."""
        try:
            with self.open() as stream:
                return sha256_of_stream(stream)
        except UnreadableFileError as error:
            return error.reason


@dataclass(frozen=True)
class Tree:
    """The regular files of a folder or archive, sorted by path; `refused` maps paths to why they are not read."""

    location: str
    entries: Sequence[Entry]
    refused: Mapping[str, str] = field(default_factory=dict)

    def reject_refused(self, rejects: Rejects, location: str = "") -> None:
        """Add the refused entries to the rejects."""
        for path, reason in self.refused.items():
            rejects.add(location or self.location, f"entry {path}", reason)


class TreeFile(NamedTuple):
    """A regular file of a repository; `is_replaced`: undecodable bytes had become U+FFFD before it was stored."""

    path: str
    data: bytes
    is_replaced: bool = False


Repository = Callable[..., Iterator[TreeFile]]
"""`repository(rejects, only)`: the regular files of a repository at a commit, with `only` those at these paths; those
that cannot be read are rejected. It raises a `RepositoryError` if the repository is not available or unreadable."""

CommitFiles = Callable[[str, str], Repository]
"""Gives the repository `owner/name` at a commit."""


@dataclass(frozen=True)
class RawFiles:
    """The raw files of one subset; `notes` (sentences for the summary) are complete once all is read."""

    tasks: Sequence[Entry]
    pools: Sequence[Tree]
    repositories: CommitFiles | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def entries(self) -> list[Entry]:
        """Every file that is read."""
        return [*self.tasks, *(entry for tree in self.pools for entry in tree.entries)]


@dataclass(frozen=True, kw_only=True)
class Source:
    """A benchmark's raw files in upstream layout; `name` is `sample`, `hub`, or the folder as the user gave it.

    `find` gives the folder at a path of the layout, None if there is none. `label` is shown next to all numbers (empty
    for the published data); `revision` is exact, empty for a folder; `licences` are by repository; `repositories` gives
    the files of commits that rows name; `recorded` has the system and path of each run stored with the data.
    """

    name: str
    find: Callable[[str], Tree | None] = lambda _: None
    label: str = ""
    revision: str = ""
    licences: Mapping[str, str] = field(default_factory=dict)
    repositories: CommitFiles | None = None
    recorded: Sequence[tuple[str, Path]] = ()


def entry_on_disk(file: Path, path: str) -> Entry:
    """A regular file as an entry of a tree."""

    def opened() -> IO[bytes]:
        try:
            return file.open("rb")
        except OSError as error:
            raise UnreadableFileError(path, error.strerror or type(error).__name__) from error

    return Entry(path, opened)


def read_document(path: str, stream: IO[bytes]) -> bytes:
    """All bytes of a file's stream; raises `UnreadableFileError` if they are more than `MAX_DOCUMENT_BYTES`."""
    data, n_bytes = bytearray(), 0
    if stream.seekable():
        n_bytes = stream.seek(0, SEEK_END)
        stream.seek(0)
    while max(n_bytes, len(data)) <= MAX_DOCUMENT_BYTES:
        # In blocks, so that no more memory is taken than there are bytes.
        if not (block := stream.read(_BLOCK_BYTES)):
            return bytes(data)
        data += block
    raise UnreadableFileError(path, f"it has more than the limit of {MAX_DOCUMENT_BYTES:,} bytes")
