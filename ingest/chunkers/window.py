"""Sliding windows of lines, as RepoCoder cuts its repositories."""

from __future__ import annotations

from ingest.chunkers import Chunker, Cut, Document
from ingest.chunkers._lines import cumulative


def window(document: Document, size: int, step: int) -> Cut:
    """`size` lines around every `step`-th line `i`: `[i - size // 2, i - size // 2 + size)`, clipped to the file.

    Windows of blank lines are left out and a window that clipping makes equal to the one before it stands once, so this
    is not a partition: neighbours overlap where `step` is smaller than `size`.
    """
    n_lines, before = len(document.lines), cumulative(document.n_nws)
    ranges: list[tuple[int, int]] = []
    for middle in range(0, n_lines, step):
        start = max(0, middle - size // 2)
        end = min(n_lines, middle - size // 2 + size)
        # Both ends only ever grow, so equal windows are neighbours.
        if before[end] > before[start] and (not ranges or ranges[-1] != (start, end)):
            ranges.append((start, end))
    return Cut(ranges)


def _check(size: int, step: int) -> str:
    return f"step {step} is larger than size {size}: lines between the windows would be lost" if step > size else ""


WINDOW = Chunker(
    name="window-<size>-<step>",
    title="Sliding window",
    meaning="Takes a window of `size` lines around every `step`-th line; RepoCoder's own is window-20-10.",
    chunk=window,
    source="RepoCoder (Zhang et al., 2023), arXiv:2303.12570.",
    check=_check,
)
