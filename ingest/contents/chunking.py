"""Cut many contents at once: a chunker's cuts are checked, measured and turned into rows of the table `chunks`."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, get_args

import dataframely as dy
import numpy as np
import polars as pl

from ingest.contents.chunkers import Cut, Document, LineRange, NamedChunker, Unit
from ingest.programs.command import JsonCommand
from ingest.rejects import Rejects
from lake.errors import file_of, located
from lake.exact import Integers
from lake.offsets import Offsets
from lake.tables import table
from lake.tables.ingested import Chunks, ChunkStatus, RejectRows
from lake.text import is_encodable, listed

_KEYS: Mapping[Unit, tuple[str, str]] = {"lines": ("start", "end"), "bytes": ("start_byte", "end_byte")}
_NO_PAIRS = np.zeros((0, 2), np.int64)


class Chunked(NamedTuple):
    """Rows of `chunks` (`n_nws` is 0 for chunks of only whitespace), of `rejects` and of `chunk_status`."""

    frame: dy.DataFrame[Chunks]
    rejects: dy.DataFrame[RejectRows]
    status: dy.DataFrame[ChunkStatus]


def cut_document(chunker: NamedChunker, document: Document) -> Cut:
    """A chunker's cut of a document, not yet checked; an exception becomes the cut's `failed`."""
    try:
        cut = chunker.declaration.chunk(document, **chunker.parameters)
        return chunker.declaration.text(document, cut) if chunker.declaration.text else cut
    except Exception as error:
        # One odd file must not cost the others their chunks.
        return Cut([], failed=located(error, file_of(chunker.declaration.chunk)))


def chunk_blobs(chunker: NamedChunker, blobs: pl.DataFrame) -> Chunked:
    """Cut contents, each on its own, and measure the chunks."""
    documents = [Document(text, language) for text, language in blobs.select("text", "language").iter_rows()]
    if command := chunker.declaration.command:
        cuts = cut_by_command(command, documents, blobs["sha256"].to_list())
    else:
        cuts = [cut_document(chunker, document) for document in documents]
    return measure_cuts(chunker.name, blobs, list(zip(cuts, Offsets.of_blobs(blobs), strict=True)))


def measure_cuts(name: str, blobs: pl.DataFrame, answers: Sequence[tuple[object, Offsets]]) -> Chunked:
    """The chunks of a chunker's answers, each with its content's line offsets; an answer that is no cut has failed."""
    sha256, cuts, n_nws, columns = blobs["sha256"], list[Cut](), list[int](), list[tuple[Integers, ...]]()
    for text, (answer, in_lines) in zip(blobs["text"], answers, strict=True):
        try:
            cut, points, pairs = _checked(answer, text, in_lines)
        except ValueError as error:
            cut, points, pairs = Cut([], failed=str(error)), in_lines, _NO_PAIRS
        cuts.append(cut)
        n_nws.append(int(points.nws[-1]))
        first, last = pairs.T
        lines, at_bytes = (points.line[first], points.line[last - 1] + 1), (points.byte[first], points.byte[last])
        columns.append((*lines, *at_bytes, points.nws[first], points.nws[last]))
    n_chunks = np.array([len(column) for column, *_ in columns], np.int64)
    blob_no = np.repeat(np.arange(blobs.height), n_chunks)
    none = np.zeros(0, np.int64)
    line_start, line_end, byte_start, byte_end, start, end = map(np.concatenate, zip([none] * 6, *columns, strict=True))
    frame = pl.DataFrame(
        {
            "chunker": pl.repeat(name, len(blob_no), dtype=pl.String, eager=True),
            "sha256": sha256.gather(blob_no),
            "chunk_no": np.arange(len(blob_no)) - np.repeat(np.cumsum(n_chunks) - n_chunks, n_chunks),
            "line_start": line_start,
            "line_end": line_end,
            "byte_start": byte_start,
            "byte_end": byte_end,
            "n_nws": end - start,
            "text": [text for cut in cuts for text in cut.texts or [None] * len(cut.ranges)],
        },
        schema=table("chunks").columns,
    )
    # Chunks are sorted by start. Positions continue from one content to the next, so one running maximum does for all.
    before = (np.cumsum(n_nws) - n_nws)[blob_no]
    covered_to = np.maximum.accumulate(np.append(0, before + end))[:-1] - before
    status = {
        "chunker": [name] * blobs.height,
        "sha256": sha256,
        "n_chunks": n_chunks,
        "fell_back": [cut.fell_back or None for cut in cuts],
        "failed": [cut.failed or None for cut in cuts],
        "n_nws": n_nws,
        "n_covered": np.bincount(blob_no, np.maximum(0, end - np.maximum(start, covered_to)), blobs.height),
    }
    rejects = Rejects()
    for content, cut in zip(sha256, cuts, strict=True):
        if cut.failed:
            rejects.add(f"blob {content}", f"chunker {name}", f"it could not be cut: {cut.failed}")
    of_contents = ChunkStatus.cast(pl.DataFrame(status, schema=table("chunk_status").columns))
    return Chunked(Chunks.cast(frame), rejects.frame("ingest"), of_contents)


def _checked(answer: object, text: str, in_lines: Offsets) -> tuple[Cut, Offsets, Integers]:
    """An answer as a cut, the offsets where its unit allows to cut, and each chunk's first and last index in them."""
    cut = Cut(answer) if isinstance(answer, list) else answer
    ranges: object = cut.ranges if isinstance(cut, Cut) else None
    if not isinstance(cut, Cut) or not isinstance(ranges, list) or cut.unit not in get_args(Unit):
        raise ValueError(f"answered {answer!r:.80}, not a Cut with a list of ranges of {listed(get_args(Unit))}")
    texts: Sequence[object] = cut.texts
    are_texts = all(own is None or (isinstance(own, str) and is_encodable(own)) for own in texts)
    if not are_texts or len(texts) not in (0, len(cut.ranges)):
        raise ValueError(f"answered {texts!r:.80}, not a text or None for each of {len(cut.ranges):,} chunks")
    places = in_lines if cut.unit == "lines" else Offsets.between_characters(text)
    try:
        pairs = np.array(cut.ranges) if cut.ranges else _NO_PAIRS
    except ValueError:
        # The ranges have different lengths.
        pairs = np.array([])
    if pairs.dtype.kind != "i" or pairs.shape[1:] != (2,):
        raise ValueError(f"answered {cut.ranges!r:.80}, not pairs of whole numbers")
    n = len(places.byte) - 1 if cut.unit != "bytes" else places.byte[-1]
    before = (-1, -1)
    for start, end in pairs.tolist():
        if not 0 <= start < end <= n or (start, end) <= before:
            given = f"{start + 1} to {end} (counted from 1)" if cut.unit == "lines" else f"[{start}, {end})"
            raise ValueError(f"answered the {cut.unit} {given} of {n}: empty, outside the file, twice or out of order")
        before = (start, end)
    if cut.unit != "bytes":
        return cut, places, pairs.astype(np.int64, copy=False)
    characters = np.searchsorted(places.byte, pairs)
    inside = (places.byte[characters] != pairs).any(axis=1)
    if inside.any():
        start, end = pairs[inside.argmax()]
        raise ValueError(f"answered the bytes [{start}, {end}): inside a character")
    return cut, places, characters


def cut_by_command(command: JsonCommand, documents: Sequence[Document], ids: Sequence[str]) -> list[Cut]:
    """The cuts of contents by a command.

    It reads `{"id", "language", "text"}` and answers `{"id", "chunks"}` or `{"id", "error"}`. Chunks are in any order,
    all `{"start", "end"}` (lines from 1, both included) or all `{"start_byte", "end_byte"}` (of the UTF-8 text, from 0,
    half-open); an optional `text` is what the chunk is ranked by, as in :class:`Cut`.
    """
    pairs = zip(ids, documents, strict=True)
    answers = command.answers([{"id": number, "language": each.language, "text": each.text} for number, each in pairs])
    return [
        Cut([], failed=str(why)[:500]) if (why := answer.get("error")) else _read(answer.get("chunks"), document)
        for answer, document in zip(answers, documents, strict=True)
    ]


def _read(chunks: object, document: Document) -> Cut:
    """The cut of an answer's `chunks`, failed if they are malformed; whether they fit the file is checked later."""
    if not isinstance(chunks, list):
        return Cut([], failed="the answer has no list of chunks")
    unit: Unit = "bytes" if chunks and isinstance(chunks[0], dict) and "start_byte" in chunks[0] else "lines"
    n_lines, ranges = document.n_lines, list[tuple[LineRange, str | None]]()
    for chunk in chunks:
        start, end = (chunk.get(key) for key in _KEYS[unit]) if isinstance(chunk, dict) else (None, None)
        if type(start) is not int or type(end) is not int:
            return Cut([], failed=f"the chunk {chunk!r:.80} has no whole numbers {' and '.join(_KEYS[unit])}")
        if unit == "lines":
            # A program that splits text at line ends counts an empty last line.
            start, end = start - 1, n_lines if end == n_lines + 1 else end
            if start == end == n_lines:
                continue
        ranges.append(((start, end), chunk.get("text")))
    ranges.sort(key=lambda span: span[0])
    texts = [text for _, text in ranges]
    return Cut([span for span, _ in ranges], unit=unit, texts=texts if any(text is not None for text in texts) else ())
