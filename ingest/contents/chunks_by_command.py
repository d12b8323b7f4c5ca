"""Files cut by a command in any language: a line of JSON for each file, and one back for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ingest.contents.chunkers import Cut, Document, LineRange, Unit
from ingest.json_command import JsonCommand

_KEYS: Mapping[Unit, tuple[str, str]] = {"lines": ("start", "end"), "bytes": ("start_byte", "end_byte")}


def cut_by_command(command: JsonCommand, documents: Sequence[Document], ids: Sequence[str]) -> list[Cut]:
    """How a command cuts files.

    It reads `{"id", "language", "text"}` and answers `{"id", "chunks"}` or `{"id", "error"}`. A chunk is
    `{"start", "end"}`, lines from 1, both included, or `{"start_byte", "end_byte"}` of the text in UTF-8, from 0, the
    second not included; those of an answer are of one kind, in any order. Where it fails, a file has a reject.
    """
    asked = zip(ids, documents, strict=True)
    answers = command.answers([{"id": one, "language": each.language, "text": each.text} for one, each in asked])
    cuts = []
    for answer, document in zip(answers, documents, strict=True):
        why = answer.error or answer.said.get("error")
        cuts.append(Cut([], failed=str(why)[:500]) if why else _read(answer.said.get("chunks"), document))
    return cuts


def _read(chunks: object, document: Document) -> Cut:
    """What an answer's chunks are in the file, or what is wrong with them."""
    if not isinstance(chunks, list):
        return Cut([], failed="its answer has no list of chunks")
    unit: Unit = "bytes" if chunks and isinstance(chunks[0], dict) and "start_byte" in chunks[0] else "lines"
    data = document.text.encode()
    n = len(data) if unit == "bytes" else len(document.lines)
    ranges: list[LineRange] = []
    for chunk in chunks:
        start, end = (chunk.get(key) for key in _KEYS[unit]) if isinstance(chunk, dict) else (None, None)
        if type(start) is not int or type(end) is not int:
            return Cut([], failed=f"the chunk {chunk!r:.80} has no whole numbers {' and '.join(_KEYS[unit])}")
        if unit == "lines":
            # Where lines are split at their ends, a last empty one stands behind the last end.
            start, end = start - 1, min(end, n) if end == n + 1 else end
            if start == end == n:
                continue
        if not 0 <= start < end <= n:
            return Cut([], failed=f"the chunk {chunk!r:.80} is empty or outside the file, which has {n:,} {unit}")
        if unit == "bytes" and any(place < n and data[place] & 0xC0 == 0x80 for place in (start, end)):
            return Cut([], failed=f"the chunk {chunk!r:.80} begins or ends inside a character")
        ranges.append((start, end))
    if len(set(ranges)) < len(ranges):
        return Cut([], failed="a chunk is there twice")
    return Cut(sorted(ranges), unit=unit)
