"""Raw bytes: of the bundled sample, a local folder, the publishers. One shape for all of them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, NamedTuple, Protocol

from lake.errors import Exit, GoldspanError
from lake.fingerprint import sha256_of_stream
from lake.limits import MAX_DOCUMENT_BYTES
from lake.rejects import Rejects

HUB = "hub"
"""The source that fetches: there nothing is read that was not asked for or is the default."""

CACHE = "cache"
"""The folder of a lake that holds downloads and clones."""

UNKNOWN_SIZE = -1
"""The size of an entry whose bytes are made only when they are asked for."""

_BLOCK_BYTES = 1 << 20


class UnreadableEntryError(GoldspanError):
    """One entry's bytes cannot be had while the rest of its tree can: a reader rejects it and goes on."""

    def __init__(self, location: str, path: str, reason: str) -> None:
        self.reason = reason
        super().__init__(f"{path} cannot be read: {reason}", where=location, code=Exit.INVALID)


def unusable(cache: Path, error: OSError) -> GoldspanError:
    """The error where a cache cannot be read or written."""
    what = f"the cache cannot be used: {error.strerror or error}"
    return GoldspanError(what, where=str(cache), hint="Check space and permissions.")


@dataclass(frozen=True)
class Entry:
    """A regular file inside a tree, by its path from the tree's root, which stays inside it.

    Attributes:
        size: In bytes, or `UNKNOWN_SIZE`.
        open: Its bytes as a file that can be sought in; using it raises `UnreadableEntryError`.
        made_from: A digest of all that its bytes depend on, where that is known without having them; else empty.
    """

    path: str
    size: int
    open: Callable[[], AbstractContextManager[IO[bytes]]]
    made_from: str = ""

    def read(self) -> bytes:
        """Its bytes, held whole; raises `UnreadableEntryError`."""
        data = b""
        if self.size <= MAX_DOCUMENT_BYTES:
            with self.open() as stream:
                data = read_whole(stream, MAX_DOCUMENT_BYTES + 1)
        if max(self.size, len(data)) > MAX_DOCUMENT_BYTES:
            reason = f"it has more bytes than are read: at most {MAX_DOCUMENT_BYTES:,} are read whole"
            raise UnreadableEntryError("", self.path, reason)
        return data

    def sha256(self) -> str:
        """The sha256 of its bytes, in hex; else why they cannot be had."""
        try:
            with self.open() as stream:
                return sha256_of_stream(stream)
        except UnreadableEntryError as error:
            return error.reason


@dataclass(frozen=True)
class Refused:
    """An entry that is not read: its path as given, and why."""

    path: str
    reason: str


@dataclass(frozen=True)
class Tree:
    """The regular files of a folder or an archive, sorted by path, and what was left out; `location` is for people."""

    location: str
    entries: Sequence[Entry]
    refused: Sequence[Refused] = ()

    def reject_refused(self, rejects: Rejects, location: str = "") -> None:
        """Reject what was left out."""
        for refused in self.refused:
            rejects.add(location or self.location, f"entry {refused.path}", refused.reason)


class Checkout(NamedTuple):
    """A commit's regular files up to a size, none of which is ever written under its path.

    `read(only)` gives paths with their contents, byte for byte, with `only` of those paths; two may read alike, with
    U+FFFD. `noted` has by reason the paths that are not read for it.
    """

    read: Callable[..., Iterator[tuple[str, bytes]]]
    noted: Mapping[str, list[str]]


class CommitFiles(Protocol):
    """Whatever has the files of repositories at commits."""

    def files(self, repo: str, commit: str) -> Checkout: ...  # noqa: D102


@dataclass(frozen=True)
class RawFiles:
    """The raw files one subset is made of; `notes`, sentences for the last block, are whole when all is read."""

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
    """A benchmark's raw files in upstream layout: of `sample`, `hub`, or the folder as the user gave it.

    `label` is shown wherever the numbers are (empty for the published data), `pinned` its revision where that is known
    beforehand, `licences` by repository what applies to the content; `repositories` have the commits that rows name.
    """

    name: str
    label: str = ""
    pinned: str = ""
    licences: Mapping[str, str] = field(default_factory=dict)
    repositories: CommitFiles | None = None

    @property
    def revision(self) -> str:
        """The exact revision: package pins, a commit, or an empty string for a folder."""
        return self.pinned

    def find(self, path: str) -> Tree | None:
        """A folder of the layout: `<path>/` or an archive `<path>.zip`."""
        raise NotImplementedError

    def recorded(self) -> Sequence[tuple[str, Path]]:
        """The runs that lie beside the data, a file, archive or folder each, in the order of their systems."""
        return ()


@dataclass(frozen=True)
class TreesSource(Source):
    """A layout whose folders are trees at hand, by path; see `Source`."""

    trees: Mapping[str, Tree]

    def find(self, path: str) -> Tree | None:
        """As of `Source`."""
        return self.trees.get(path)


def entry_on_disk(file: Path, path: str, location: str, size: int) -> Entry:
    """A regular file as an entry of a tree, with the size that it had when it was listed."""

    @contextmanager
    def opened() -> Iterator[IO[bytes]]:
        try:
            stream = file.open("rb")
        except OSError as error:
            raise UnreadableEntryError(location, path, error.strerror or type(error).__name__) from error
        with stream:
            yield stream

    return Entry(path, size, opened)


def read_whole(stream: IO[bytes], most: int) -> bytes:
    """The bytes of a stream, at most so many, block by block: what is asked for at once is held at once."""
    blocks = []
    while most > 0 and (block := stream.read(min(_BLOCK_BYTES, most))):
        blocks.append(block)
        most -= len(block)
    return b"".join(blocks)
