"""Cutting many contents at once: chunkers by name, and their answers, checked, as rows of the table `chunks`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import get_args

import numpy as np
import polars as pl

import ingest.contents.chunkers
from ingest.contents.chunkers import Chunker, Cut, Document, LineRange, Unit
from ingest.contents.chunks_by_command import cut_by_command
from ingest.contents.offsets import Integers, Lines, Offsets
from lake.declarations import CHUNKER_ALIASES, CHUNKER_SETS, Resolved, discover, resolve
from lake.errors import Exit, GoldspanError, unknown_name
from lake.rejects import Rejects
from lake.tables import table
from lake.text import listed


@cache
def chunkers() -> dict[str, Chunker]:
    """Every declared chunker by name, in the order of the names."""
    return discover(ingest.contents.chunkers, Chunker)


def default_chunkers() -> list[str]:
    """The concrete names that run when none are asked for."""
    return [name for chunker in chunkers().values() for name in chunker.defaults]


def resolve_chunkers(names: Sequence[str]) -> list[Resolved[Chunker]]:
    """The chunkers that concrete names, their aliases or sets of them mean, each once, in the order first asked for.

    Raises:
        GoldspanError: A name is unknown ("did you mean"), or its numbers make no sense.
    """
    each = [one for name in names for one in CHUNKER_SETS.get(name, (name,))]
    wanted = dict.fromkeys(CHUNKER_ALIASES.get(name, name) for name in each)
    return [_resolve(name) for name in wanted]


def _resolve(name: str) -> Resolved[Chunker]:
    kind, known = "chunker", chunkers()
    try:
        found = resolve(kind, name, known)
    except GoldspanError:
        raise unknown_name(kind, name, [*known, *default_chunkers(), *CHUNKER_ALIASES, *CHUNKER_SETS]) from None
    if why := absence(found.declaration):
        message = f"chunker {name!r} cannot cut here: {why}"
        raise GoldspanError(message, hint=INSTALL, code=Exit.MISSING)
    check = found.declaration.check
    wrong = check(**found.parameters) if check else ""
    if wrong:
        message = f"chunker {name!r}: {wrong}"
        raise GoldspanError(message, code=Exit.USAGE)
    return found


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")


def name_fault(name: str) -> str:
    """Why a chunker made elsewhere cannot be called so, or an empty string."""
    if _NAME.fullmatch(name) is None:
        return "is to be letters, digits, dots, dashes and underscores, at most 80"
    with suppress(GoldspanError):
        if name not in CHUNKER_SETS:
            resolve("chunker", CHUNKER_ALIASES.get(name, name), chunkers())
        return "is a chunker of Goldspan's own"
    return ""


INSTALL = "First: make chunkers (or: pip install -c constraints.txt -r requirements-chunkers.txt)"


@cache
def absence(chunker: Chunker) -> str:
    """What a chunker wants that is not installed, or an empty string."""
    for package in (chunker.library, *chunker.also):
        try:
            _ = package and version(package)
        except PackageNotFoundError:
            return f"{package} is not installed"
    return ""


@dataclass(frozen=True)
class Chunked:
    """How a chunker cut some contents.

    Attributes:
        frame: Rows of the table `chunks`. Chunks of nothing but whitespace are among them, with `n_nws` 0.
        status: Rows of the table `chunk_status`, one per content.
    """

    frame: pl.DataFrame
    status: pl.DataFrame

    @property
    def rejects(self) -> pl.DataFrame:
        """The contents that could not be cut, as rows of the table `rejects`."""
        rejects = Rejects()
        failed = self.status.filter(pl.col("failed").is_not_null()).select("sha256", "chunker", "failed")
        for sha256, chunker, why in failed.iter_rows():
            rejects.add(f"blob {sha256}", f"chunker {chunker}", f"it could not be cut: {why}")
        return rejects.frame("ingest")


def chunk_blobs(chunker: Resolved[Chunker], blobs: pl.DataFrame) -> Chunked:
    """Cuts contents and measures the chunks.

    Each content is cut on its own, so any split of `blobs` gives the same rows.

    Args:
        chunker: As `resolve_chunkers` gives it.
        blobs: Rows of the table `blobs`.

    Raises:
        GoldspanError: The chunker's answer is not what `Cut` asks for, or a blob's lines are not those of its text.
    """
    name, sha256 = chunker.name, blobs["sha256"]
    cuts: list[Cut] = []
    n_nws: list[Integers] = []
    inside: dict[int, Offsets] = {}
    texts = blobs.select("text", "language").iter_rows()
    documents = (Document(text, language) for text, language in texts)
    for number, (document, cut) in enumerate(_cut_all(chunker, documents, sha256)):
        cuts.append(_checked(cut, name, sha256[number]))
        n_nws.append(document.n_nws)
        if cuts[-1].unit != "lines":
            inside[number] = Offsets.of(document.text)
    lines = Lines.of(blobs, n_nws)
    n_chunks = np.array([len(cut.ranges) for cut in cuts], np.int64)
    blob_no = np.repeat(np.arange(blobs.height), n_chunks)
    first_row = np.cumsum(n_chunks) - n_chunks
    given = _pairs(name, sha256, blob_no, [one for cut in cuts for one in cut.ranges])
    rows_of = {number: slice(first_row[number], first_row[number] + n_chunks[number]) for number in inside}
    n_units = lines.n.copy()
    for number, offsets in inside.items():
        n_units[number] = len(offsets.byte) - 1
        if cuts[number].unit == "bytes":
            given[rows_of[number]] = _at_bytes(offsets, given[rows_of[number]], name, sha256[number])
    _check_ranges(name, sha256, n_units, [cut.unit for cut in cuts], blob_no, *given.T)
    spans = lines.spans(blob_no, given, {number: (rows_of[number], inside[number]) for number in inside})
    nws_start, nws_end = spans.pop("nws_start"), spans.pop("nws_end")
    frame = pl.DataFrame(
        {
            "chunker": pl.repeat(name, len(blob_no), dtype=pl.String, eager=True),
            "sha256": sha256.gather(blob_no),
            "chunk_no": np.arange(len(blob_no)) - np.repeat(first_row, n_chunks),
            **spans,
            "n_nws": nws_end - nws_start,
        },
        schema=table("chunks").columns,
    )
    # Chunks come in the order of their starts, and what the texts hold is counted on from one to the next.
    covered_to = np.maximum.accumulate(np.concatenate((np.zeros(1, np.int64), nws_end)))[:-1]
    added = np.maximum(0, nws_end - np.maximum(nws_start, covered_to))
    status = {
        "chunker": [name] * blobs.height,
        "sha256": sha256,
        "n_chunks": n_chunks,
        "fell_back": [cut.fell_back or None for cut in cuts],
        "failed": [cut.failed or None for cut in cuts],
        "n_nws": [int(counts.sum()) for counts in n_nws],
        "n_covered": np.bincount(blob_no, added, blobs.height).astype(np.int64),
    }
    return Chunked(frame, pl.DataFrame(status, schema=table("chunk_status").columns))


def _cut_all(
    chunker: Resolved[Chunker], documents: Iterator[Document], sha256: pl.Series
) -> Iterator[tuple[Document, object]]:
    """Each document with the chunker's answer to it."""
    command = chunker.declaration.command
    if command is not None:
        every = list(documents)
        yield from zip(every, cut_by_command(command, every, sha256.to_list()), strict=True)
    for document in documents:
        yield document, cut_document(chunker, document)


def cut_document(chunker: Resolved[Chunker], document: Document) -> Cut:
    """A chunker's answer to a document, not yet checked; where it fails, the cut says so."""
    try:
        return chunker.declaration.chunk(document, **chunker.parameters)
    except Exception as error:
        # One odd file must not cost the others their chunks.
        return Cut([], failed=f"{type(error).__name__}: {error}")


def _checked(cut: object, chunker: str, sha256: str) -> Cut:
    if not isinstance(cut, Cut):
        raise _invalid(chunker, sha256, f"answered a {type(cut).__name__}, not a Cut")
    ranges: object = cut.ranges
    if not isinstance(ranges, list):
        raise _invalid(chunker, sha256, f"answered a {type(ranges).__name__} of ranges, not a list")
    if cut.unit not in get_args(Unit):
        raise _invalid(chunker, sha256, f"answered ranges of {cut.unit!r}, not of {listed(get_args(Unit))}")
    return cut


def _at_bytes(offsets: Offsets, given: Integers, chunker: str, sha256: str) -> Integers:
    characters = offsets.at_bytes(given)
    bad = np.flatnonzero((characters < 0).any(axis=1))
    if bad.size:
        start, end = given[bad[0]]
        raise _invalid(chunker, sha256, f"answered the bytes [{start}, {end}): outside the file or inside a character")
    return characters


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
    chunker: str,
    sha256: pl.Series,
    n_units: Integers,
    units: Sequence[str],
    blob_no: Integers,
    start: Integers,
    end: Integers,
) -> None:
    n = n_units[blob_no]
    outside = (start < 0) | (end > n)
    empty = start >= end
    same_blob = blob_no[1:] == blob_no[:-1]
    follows = (start[1:] > start[:-1]) | ((start[1:] == start[:-1]) & (end[1:] > end[:-1]))
    disordered = np.concatenate([np.zeros(min(len(start), 1), bool), same_blob & ~follows])
    bad = np.flatnonzero(outside | empty | disordered)
    if bad.size:
        at = bad[0]
        number = int(blob_no[at])
        unit = "lines" if units[number] == "lines" else "characters"
        without = f"without a {unit[:-1]}"
        what = "outside the file" if outside[at] else without if empty[at] else "twice or out of order"
        message = f"answered the {unit} [{start[at]}, {end[at]}) of {n[at]}: {what}"
        raise _invalid(chunker, str(sha256[number]), message)


def _invalid(chunker: str, sha256: str, what: str) -> GoldspanError:
    return GoldspanError(
        f"chunker {chunker!r} {what}",
        where=f"content {sha256}",
        hint="Ranges are 0-based, half-open, inside the file, in its order and each there once; mend the chunker.",
        code=Exit.INVALID,
    )
