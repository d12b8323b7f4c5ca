"""Repositories at a commit: their files, checked, from clones or from Parquet files that hold them."""

import hashlib
from collections.abc import Collection, Iterable, Iterator

import polars as pl

from ingest.rejects import Rejects
from ingest.sources.rows import read_frames
from ingest.sources.tree import Entry, TreeFile, UnreadableFileError
from lake.errors import GoldspanError
from lake.limits import MAX_FILE_BYTES, MAX_REPOSITORY_BYTES
from lake.text import language_of

MAX_SEARCHED_BYTES = 1_000_000


class RepositoryError(GoldspanError):
    """One repository or commit is not available; others may be."""


def is_searched(path: str, data: bytes) -> bool:
    """Whether retrievers search a file of a repository: its language is known, and it is not too large."""
    return language_of(path) != "" and len(data) <= MAX_SEARCHED_BYTES


_Row = tuple[str | None, str | None, bytes | None]  # path, git's id of the content, content
_KINDS = {"path": (pl.String,), "content": (pl.String, pl.Binary), "blob_sha": (pl.String, pl.Null)}
"""Column → its allowed types; a file may lack `blob_sha`."""


def parquet_files(
    entry: Entry, location: str, rejects: Rejects, only: Collection[str] | None = None
) -> Iterator[TreeFile]:
    """A `Repository` as a Parquet file of `path`, `content` and, optionally, `blob_sha` (git's id of the content)."""
    where = f"{location}/{entry.path}"

    def rows() -> Iterator[_Row]:
        for frame in read_frames(entry, lambda names: [*filter(_KINDS.get, names)], MAX_REPOSITORY_BYTES):
            is_right = all(kind in _KINDS[name] for name, kind in frame.schema.items())
            if not is_right or not {"path", "content"} <= {*frame.columns}:
                has = ", ".join(f"{name} ({kind})" for name, kind in frame.schema.items()) or "none of them"
                raise RepositoryError(f"{where} needs the columns path, blob_sha, content; it has {has}")
            known = frame if "blob_sha" in frame.columns else frame.with_columns(blob_sha=None)
            known = known.select("path", pl.col("blob_sha").cast(pl.String), pl.col("content").cast(pl.Binary))
            yield from (row for row in known.iter_rows() if only is None or row[0] in only)

    try:
        yield from checked_files(rows(), where, rejects)
    except UnreadableFileError as error:
        raise RepositoryError(f"{where}: {error.reason}") from error


def checked_files(rows: Iterable[_Row], where: str, rejects: Rejects) -> Iterator[TreeFile]:
    """The files of a repository from rows of path, git's id of the content (or None) and content, as `Repository`."""
    seen = set[str]()
    for path, blob_id, data in rows:
        reason, is_replaced, parts = "", False, (path or "").split("/")
        if path is None or data is None:
            reason = "its path or its content is missing"
        elif not {"", ".", ".."}.isdisjoint(parts) or "\0" in path:
            reason = "not a path inside a repository"
        elif len(data) > MAX_FILE_BYTES:
            reason = f"it has {len(data):,} bytes; at most {MAX_FILE_BYTES:,} are read of a file"
        elif blob_id is not None and blob_id.lower() != git_blob_id(data, len(blob_id)):
            is_replaced = "\ufffd".encode() in data
            reason = "" if is_replaced else "its content is not what blob_sha says"
        elif path in seen:
            reason = "occurs more than once; the first is read"
        if path is None or data is None or reason:
            rejects.add(where, f"path {path}", reason)
        else:
            seen.add(path)
            yield TreeFile(path, data, is_replaced)


def git_blob_id(data: bytes, n_digits: int = 40) -> str:
    r"""The id git gives a content: the hash, sha1 or with 64 digits sha256, of `blob <length>\0` and the bytes."""
    sha = hashlib.sha256 if n_digits == 64 else hashlib.sha1
    digest = sha(b"blob %d\0" % len(data), usedforsecurity=False)
    digest.update(data)
    return digest.hexdigest()
