"""What a commit in a bare repository holds: its tree's paths within stated limits, and contents one at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ingest.sources.git_address import RepositoryError
from ingest.sources.git_process import DamagedError, GitProcess
from ingest.sources.tree import Refused
from lake.errors import MAX_EXAMPLES, Exit
from lake.limits import MAX_CONTENTS_BYTES, MAX_DEPTH, MAX_FILES, MAX_STREAMED_BYTES
from lake.rejects import Rejects
from lake.text import listed

MAX_BLOB_BYTES = 1_000_000
"""A larger content is neither fetched, where the server can filter, nor read."""
MAX_PATH_BYTES = 4_096
LISTING_SECONDS = 60.0
"""How long listing a tree may take, which is a matter of seconds."""

_FOLDER = "040000"
_KINDS = {
    "120000": "a symbolic link, which is not followed",
    "160000": "a submodule, which is not followed",
}


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


@dataclass
class Checkout:
    """A repository at a commit, its regular files listed by path and nothing written out.

    Attributes:
        files: Those of at most `MAX_BLOB_BYTES`; the larger ones, which cannot be read, are `large`.
        refused: What is no regular file, or has no path of its own: links, submodules, …
        renamed: Paths of files whose names are no UTF-8: U+FFFD stands for what cannot be decoded.
    """

    git: GitProcess
    url: str
    commit: str
    files: list[GitFile] = field(default_factory=list)
    large: list[GitFile] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    renamed: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, git: GitProcess, url: str, commit: str) -> Checkout:
        """The files of a commit.

        Raises:
            DamagedError: Its tree is not all there.
            RepositoryError: It is larger than the limits allow.
        """
        found = cls(git, url, commit)
        n_entries = n_path_bytes = n_bytes = 0
        paths: set[str] = set()
        # Folders as well: so a tree of nothing but folders comes to its limit too.
        listing = git.records("ls-tree", "-r", "-t", "-z", "-l", "--full-tree", commit, timeout=LISTING_SECONDS)
        for record in listing:
            described, _, name = record.partition(b"\t")
            mode, kind, blob_id, size = described.decode().split()
            # A size that git cannot tell is that of a content left with the server.
            file = GitFile(name.decode(errors="replace"), blob_id, int(size) if size.isdigit() else None)
            is_large = file.n_bytes is None or file.n_bytes > MAX_BLOB_BYTES
            n_entries += 1
            n_path_bytes += len(name)
            n_bytes += 0 if is_large else file.n_bytes or 0
            _check(url, n_entries, n_path_bytes, n_bytes)
            if mode == _FOLDER:
                continue
            reason = _why_not(file.path, mode, kind, len(name))
            if not reason and file.path in paths:
                reason = "its name is no UTF-8, and reads like another's that is kept"
            if reason:
                found.refused.append(Refused(file.path, reason))
                continue
            paths.add(file.path)
            (found.large if is_large else found.files).append(file)
            if file.path.encode() != name:
                found.renamed.append(file.path)
        for files in (found.files, found.large, found.refused):
            files.sort(key=_path)
        found.renamed.sort()
        return found

    def read(self, files: Sequence[GitFile] | None = None) -> Iterator[tuple[GitFile, bytes]]:
        """Files with their contents, byte for byte, in the order given; all of `files` without one.

        One is in memory at a time, whatever is asked for.

        Raises:
            DamagedError: A content that was there is not.
        """
        chosen = self.files if files is None else files
        try:
            yield from zip(chosen, self.git.contents(file.blob_id for file in chosen), strict=True)
        except DamagedError as error:
            raise RepositoryError(str(error)) from error

    def reject_refused(self, source: str, rejects: Rejects) -> None:
        """Name what is not read, or not by its own name: one reject for each reason there is."""
        by_reason: dict[str, list[str]] = {}
        for refused in self.refused:
            by_reason.setdefault(refused.reason, []).append(refused.path)
        if self.renamed:
            by_reason["its name is no UTF-8; it is read with U+FFFD for what cannot be decoded"] = self.renamed
        for reason, paths in by_reason.items():
            rejects.add(source, f"path {listed(paths, MAX_EXAMPLES)}", reason, "\n".join(paths))


def _path(file: GitFile | Refused) -> str:
    return file.path


def _check(url: str, n_entries: int, n_path_bytes: int, n_bytes: int) -> None:
    limits = (
        (n_entries, MAX_FILES, "files and folders"),
        (n_path_bytes, MAX_CONTENTS_BYTES, "bytes of paths"),
        (n_bytes, MAX_STREAMED_BYTES, "bytes of files"),
    )
    for n, limit, what in limits:
        if n > limit:
            raise RepositoryError(f"{url} holds more than {limit:,} {what}, and is not read", code=Exit.INVALID)


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
