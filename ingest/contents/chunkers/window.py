"""Sliding windows of lines, placed around every so-many-th line."""

from __future__ import annotations

from ingest.contents.chunkers import Chunker, Cut, Document


def window(document: Document, size: int, step: int) -> Cut:
    """Lines `[i - size // 2, i - size // 2 + size)` around every `step`-th line `i`, clipped; equal ones once."""
    n_lines = document.n_lines
    firsts = [middle - size // 2 for middle in range(0, n_lines, step)]
    # Both ends only ever grow, so equal windows are neighbours.
    return Cut(list(dict.fromkeys((max(0, first), min(n_lines, first + size)) for first in firsts)))


def _check(size: int, step: int) -> str:
    return f"step {step} is larger than size {size}: lines between the windows would be lost" if step > size else ""


WINDOW = Chunker(
    name="window-<size>-<step>",
    title="Sliding window",
    meaning="Takes a window of `size` lines around every `step`-th line, blank ones too.",
    chunk=window,
    version=2,
    source="Ours; RepoCoder (arXiv:2303.12570) places its windows so, of 20 lines every 10, but leaves out the query's "
    "own text and merges windows of equal text.",
    check=_check,
)
