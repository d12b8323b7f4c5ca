"""Raw bytes as rows of the tables `files` (pool and path) and `blobs` (each content once, by sha256)."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

import dataframely as dy
import polars as pl

from lake.fingerprint import fingerprint, sha256_of
from lake.make import BuildTarget, target_of
from lake.offsets import line_columns
from lake.store import Lake, Part
from lake.tables import table
from lake.tables.ingested import Blobs, Files
from lake.text import decode, language_of

BATCH_BYTES = 32_000_000
"""The number of bytes read, decoded and measured at a time; each line counts as 64 more, the cost of finding it."""

_File = tuple[str, str, bytes]  # pool id, path, raw bytes
RawContent = tuple[str, bytes]  # language, raw bytes


class SharedContent(bytes):
    """A content that occurs in many pools; its hash is computed once."""

    @cached_property
    def sha256(self) -> str:
        """The sha256, in hex."""
        return sha256_of(self)


def pool_frames(files: Iterable[_File]) -> tuple[dy.DataFrame[Files], dy.DataFrame[Blobs]]:
    r"""The rows of some files and of their contents; `position` in a pool follows the given order.

    Text is UTF-8; bytes that cannot be decoded become U+FFFD. Flags of a blob: `not-utf8` if bytes were replaced,
    `crlf` if it contains `\r\n`, `empty` without bytes, `no-final-newline` if the last line has no line end.
    """
    stored, blobs = zip(*pool_batches(files), strict=True)
    position = pl.int_range(pl.len()).over("pool_id")
    return Files.cast(pl.concat(stored).with_columns(position=position)), Blobs.cast(pl.concat(blobs))


def pool_batches(
    files: Iterable[_File], seen: set[str] | None = None
) -> Iterator[tuple[dy.DataFrame[Files], dy.DataFrame[Blobs]]]:
    """The rows of :func:`pool_frames` in batches, with position 0; contents in `seen` are skipped, and others added."""
    columns = table("files").columns
    seen = set() if seen is None else seen
    rows, contents, weight = list[tuple[str, str, str, int]](), dict[str, RawContent](), 0
    for pool_id, path, data in files:
        sha256 = data.sha256 if isinstance(data, SharedContent) else sha256_of(data)
        rows.append((pool_id, path, sha256, 0))
        if sha256 not in seen:
            seen.add(sha256)
            contents[sha256] = (language_of(path), data)
            weight += len(data) + 64 * data.count(b"\n")
        if weight > BATCH_BYTES:
            yield Files.cast(pl.DataFrame(rows, columns, orient="row")), _blobs(contents)
            rows, contents, weight = [], {}, 0
    yield Files.cast(pl.DataFrame(rows, columns, orient="row")), _blobs(contents)


def concat_files(batches: Iterable[pl.DataFrame]) -> dy.DataFrame[Files]:
    """The files of pools that came in batches, with positions in the order of paths."""
    position = pl.int_range(pl.len()).over("pool_id")
    return Files.cast(pl.concat(batches).sort("pool_id", "path").with_columns(position=position))


def _blobs(contents: Mapping[str, RawContent]) -> dy.DataFrame[Blobs]:
    decoded = [decode(data) for _, data in contents.values()]
    lines = line_columns([text.encode() for text, _ in decoded])
    by_flag = {
        "not-utf8": [n_replaced > 0 for _, n_replaced in decoded],
        "crlf": [b"\r\n" in data for _, data in contents.values()],
        "empty": [not data for _, data in contents.values()],
        "no-final-newline": [bool(data) and not data.endswith(b"\n") for _, data in contents.values()],
    }
    flags = [pl.when(pl.Series(holds, dtype=pl.Boolean)).then(pl.lit(flag)) for flag, holds in by_flag.items()]
    columns = {
        "sha256": list(contents),
        "text": [text for text, _ in decoded],
        "n_bytes": [len(data) for _, data in contents.values()],
        "n_lines": lines["line_starts"].list.len().cast(pl.Int64),
        **lines.to_dict(),
        "language": [language for language, _ in contents.values()],
        "flags": pl.select(flags=pl.concat_list(flags).list.drop_nulls())["flags"],
    }
    return Blobs.cast(pl.DataFrame(columns, schema=table("blobs").columns))


class Contents:
    """The blobs of a lake; the stored sha256 are read once."""

    def __init__(self, lake: Lake) -> None:
        self._lake = lake
        self._stale: list[Part] = []  # written by another version of the code

    @cached_property
    def _known(self) -> set[str]:
        parts = self._lake.parts("blobs")
        current = [part for part in parts if _target(self._lake, part.name).is_current]
        self._stale = [part for part in parts if part not in current]
        return set(self._lake.scan_parts(current, "blobs").select("sha256").collect()["sha256"])

    def write(self, blobs: pl.DataFrame, contents: Mapping[str, RawContent]) -> None:
        """Store the blobs, and the contents by sha256, that are new or were stored by another version of the code."""
        is_new = pl.Series([sha256 not in self._known for sha256 in blobs["sha256"]], dtype=pl.Boolean)
        # Other contents are not even decoded.
        decoded = _blobs({sha256: content for sha256, content in contents.items() if sha256 not in self._known})
        new = pl.concat([blobs.filter(is_new), decoded])
        if new.is_empty():
            return
        for stale in [part for part in self._stale if part.path.is_file()]:
            rows = self._lake.scan_parts([stale], "blobs").collect()
            left = rows.join(new.select("sha256"), on="sha256", how="anti")
            if left.is_empty():
                self._lake.remove(stale)
            elif left.height < rows.height:
                self._lake.write("blobs", left, part=stale.name, fingerprint=stale.fingerprint)
        # Contents are only added, in a part named after its contents: other parts do not depend on when it was written.
        _target(self._lake, fingerprint(new["sha256"].sort().to_list())[:16]).write(new)
        self._known.update(new["sha256"])


def _target(lake: Lake, name: str) -> BuildTarget:
    return target_of(lake, "blobs", part=name, parameters=name, code=[pool_frames])
