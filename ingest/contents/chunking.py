"""Cutting many contents at once: chunkers by name, and their answers, checked, as rows of the table `chunks`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
import polars as pl

import ingest.contents.chunkers
from ingest.contents.chunkers import Chunker, Cut, Document, LineRange
from lake.declarations import CHUNKER_ALIASES, Resolved, discover, resolve
from lake.errors import Exit, GoldspanError, unknown_name
from lake.tables import table

Integers = npt.NDArray[np.int64]


@cache
def chunkers() -> dict[str, Chunker]:
    """Every declared chunker by name, in the order of the names."""
    return discover(ingest.contents.chunkers, Chunker)


def default_chunkers() -> list[str]:
    """The concrete names that run when none are asked for."""
    return [name for chunker in chunkers().values() for name in chunker.defaults]


def resolve_chunkers(names: Sequence[str]) -> list[Resolved[Chunker]]:
    """The chunkers that concrete names or their aliases mean, each once, in the order first asked for.

    Raises:
        GoldspanError: A name is unknown ("did you mean"), or its numbers make no sense.
    """
    wanted = dict.fromkeys(CHUNKER_ALIASES.get(name, name) for name in names)
    return [_resolve(name) for name in wanted]


def _resolve(name: str) -> Resolved[Chunker]:
    kind, known = "chunker", chunkers()
    try:
        found = resolve(kind, name, known)
    except GoldspanError:
        raise unknown_name(kind, name, [*known, *default_chunkers(), *CHUNKER_ALIASES]) from None
    check = found.declaration.check
    wrong = check(**found.parameters) if check else ""
    if wrong:
        message = f"chunker {name!r}: {wrong}"
        raise GoldspanError(message, code=Exit.USAGE)
    return found


@dataclass(frozen=True)
class Chunked:
    """How a chunker cut some contents.

    Attributes:
        frame: Rows of the table `chunks`. Chunks of nothing but whitespace are among them, with `n_nws` 0.
        status: Rows of the table `chunk_status`, one per content.
    """

    frame: pl.DataFrame
    status: pl.DataFrame


def chunk_blobs(chunker: Resolved[Chunker], blobs: pl.DataFrame) -> Chunked:
    """Cuts contents and measures the chunks.

    Each content is cut on its own, so any split of `blobs` gives the same rows.

    Args:
        chunker: As `resolve_chunkers` gives it.
        blobs: Rows of the table `blobs`.

    Raises:
        GoldspanError: The chunker's answer is not what `Cut` asks for, or a blob's lines are not those of its text.
    """
    name, cut_file, parameters = chunker.name, chunker.declaration.chunk, chunker.parameters
    ranges: list[LineRange] = []
    n_chunks: list[int] = []
    n_nws: list[Integers] = []
    fell_back: list[str | None] = []
    failed: list[str | None] = []
    for sha256, text, language in blobs.select("sha256", "text", "language").iter_rows():
        document = Document(text, language)
        n_nws.append(document.n_nws)
        why = None
        try:
            cut = cut_file(document, **parameters)
        except Exception as error:
            # One odd file must not cost the others their chunks.
            cut, why = Cut([]), f"{type(error).__name__}: {error}"
        found, reason = _read(cut, name, sha256)
        ranges += found
        n_chunks.append(len(found))
        fell_back.append(reason or None)
        failed.append(why)
    lines = _Lines.of(blobs, n_nws)
    blob_no = np.repeat(np.arange(blobs.height), n_chunks)
    line_start, line_end = _pairs(name, blobs["sha256"], blob_no, ranges).T
    _check_ranges(name, blobs["sha256"], lines, blob_no, line_start, line_end)
    first = lines.first[blob_no]
    chunk_no = np.arange(len(ranges)) - np.repeat(np.cumsum(n_chunks) - n_chunks, n_chunks)
    frame = pl.DataFrame(
        {
            "chunker": pl.repeat(name, len(ranges), dtype=pl.String, eager=True),
            "sha256": blobs["sha256"].gather(blob_no),
            "chunk_no": chunk_no,
            "line_start": line_start,
            "line_end": line_end,
            "byte_start": lines.byte[first + line_start],
            "byte_end": lines.byte[first + line_end],
            "n_nws": lines.nws[first + line_end] - lines.nws[first + line_start],
        },
        schema=table("chunks").columns,
    )
    status = {"sha256": blobs["sha256"], "n_chunks": n_chunks, "fell_back": fell_back, "failed": failed}
    columns = table("chunk_status").columns
    return Chunked(frame, pl.DataFrame({"chunker": [name] * blobs.height, **status}, schema=columns))


@dataclass(frozen=True)
class _Lines:
    """The line bounds of all blobs in a row, each blob's end among them: a blob of n lines has n + 1.

    Attributes:
        n: Lines of each blob.
        first: Where each blob's bounds begin.
        byte: The byte each bound stands at, from the start of its blob.
        nws: Non-whitespace characters up to each bound, from any fixed point before its blob.
    """

    n: Integers
    first: Integers
    byte: Integers
    nws: Integers

    @staticmethod
    def of(blobs: pl.DataFrame, n_nws: Sequence[Integers]) -> _Lines:
        n = np.array([len(counts) for counts in n_nws], np.int64)
        bounds = blobs.select(
            "sha256",
            n=pl.col("line_starts").list.len().cast(pl.Int64),
            byte=pl.concat_list("line_starts", pl.col("text").str.len_bytes().cast(pl.Int64)),
        )
        wrong = bounds.with_columns(has=pl.Series(n, dtype=pl.Int64)).filter(pl.col("n") != pl.col("has"))
        if wrong.height:
            sha256, said, _, has = wrong.row(0)
            message = f"blob {sha256} says it has {said} lines, its text has {has}"
            raise GoldspanError(message, where="blobs", hint="Ingest it again.", code=Exit.INVALID)
        zero = np.zeros(1, np.int64)
        counts = [part for counts in n_nws for part in (counts, zero)]
        nws = np.cumsum(np.concatenate([zero, *counts]))[:-1]
        byte = bounds["byte"].explode().to_numpy()
        return _Lines(n, np.cumsum(n + 1) - (n + 1), byte, nws)


def _read(cut: object, chunker: str, sha256: str) -> tuple[list[LineRange], str]:
    if not isinstance(cut, Cut):
        raise _invalid(chunker, sha256, f"answered a {type(cut).__name__}, not a Cut")
    ranges: object = cut.ranges
    if not isinstance(ranges, list):
        raise _invalid(chunker, sha256, f"answered a {type(ranges).__name__} of ranges, not a list")
    return ranges, cut.fell_back


def _pairs(chunker: str, sha256: pl.Series, blob_no: Integers, ranges: list[LineRange]) -> Integers:
    """The ranges as two columns of whole numbers; looks at them one by one only where that fails."""
    if not ranges:
        return np.zeros((0, 2), np.int64)
    try:
        pairs = np.array(ranges)
    except ValueError:
        # They are of different lengths.
        pairs = np.array([])
    if pairs.dtype.kind == "i" and pairs.shape == (len(ranges), 2):
        return pairs.astype(np.int64)
    bad = next(i for i, given in enumerate(ranges) if not _is_pair(given))
    raise _invalid(chunker, str(sha256[int(blob_no[bad])]), f"answered {ranges[bad]!r}, not a pair of whole numbers")


def _is_pair(given: object) -> bool:
    return isinstance(given, tuple) and [_is_line(line) for line in given] == [True, True]


def _is_line(line: object) -> bool:
    return isinstance(line, (int, np.integer)) and not isinstance(line, bool) and abs(int(line)) < 1 << 63


def _check_ranges(
    chunker: str, sha256: pl.Series, lines: _Lines, blob_no: Integers, start: Integers, end: Integers
) -> None:
    n_lines = lines.n[blob_no]
    outside = (start < 0) | (end > n_lines)
    empty = start >= end
    same_blob = blob_no[1:] == blob_no[:-1]
    follows = (start[1:] > start[:-1]) | ((start[1:] == start[:-1]) & (end[1:] > end[:-1]))
    disordered = np.concatenate([np.zeros(min(len(start), 1), bool), same_blob & ~follows])
    bad = np.flatnonzero(outside | empty | disordered)
    if bad.size:
        at = bad[0]
        what = "outside the file" if outside[at] else "without a line" if empty[at] else "twice or out of order"
        message = f"answered the lines [{start[at]}, {end[at]}) of {n_lines[at]}: {what}"
        raise _invalid(chunker, str(sha256[int(blob_no[at])]), message)


def _invalid(chunker: str, sha256: str, what: str) -> GoldspanError:
    return GoldspanError(
        f"chunker {chunker!r} {what}",
        where=f"content {sha256}",
        hint="Ranges are 0-based, half-open, inside the file, in its order and each there once; mend the chunker.",
        code=Exit.INVALID,
    )
