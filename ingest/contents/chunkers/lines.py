"""Whole lines: packed up to a size, which is also what other chunkers fall back on, or all of a file's at once."""

from __future__ import annotations

from bisect import bisect_right

import numpy as np
import numpy.typing as npt

from ingest.contents.chunkers import Chunker, Cut, Document, LineRange


def cumulative(n_nws: npt.NDArray[np.int64]) -> list[int]:
    """Non-whitespace characters before each line and, last, in all: one more number than there are lines."""
    totals: list[int] = np.cumsum(n_nws).tolist()
    return [0, *totals]


def fixed_nws(document: Document, n: int, why: str = "") -> Cut:
    """Packs lines greedily until one more would exceed `n` non-whitespace characters (UTF-16 units above U+0020).

    Blank lines weigh nothing and so end the chunk before them; a single line over `n` is a chunk of its own.
    """
    before, start = cumulative(document.n_nws), 0
    n_lines = len(before) - 1
    ranges: list[LineRange] = []
    while start < n_lines:
        end = max(bisect_right(before, before[start] + n) - 1, start + 1)
        ranges.append((start, end))
        start = end
    return Cut(ranges, why)


def whole_file(document: Document) -> Cut:
    """The file as one chunk; an empty file has none."""
    n_lines = document.n_lines
    return Cut([(0, n_lines)] if n_lines else [])


FIXED_NWS = Chunker(
    name="fixed-nws-<n>",
    title="Fixed size, n characters",
    meaning="Packs whole lines until one more would exceed n non-whitespace characters.",
    chunk=fixed_nws,
    source="The `fixed` chunker of the published code-chunk evaluation; its n there is 1,800.",
    defaults=("fixed-nws-1500", "fixed-nws-800"),
)
WHOLE_FILE = Chunker(
    name="whole-file",
    title="Whole file",
    meaning="Leaves each file whole: what retrieval by file gives.",
    chunk=whole_file,
    defaults=("whole-file",),
)
