"""Chunks of whole lines: packed up to a size (other chunkers fall back on this), whole files, or sliding windows."""

from bisect import bisect_right

from ingest.contents.chunkers import Chunker, Cut, Document, LineRange


def fixed_nws(document: Document, n: int, why: str = "") -> Cut:
    """Pack lines greedily until one more would exceed `n` non-whitespace characters (UTF-16 units above U+0020).

    Blank lines have no weight, so they end the chunk before them; a single line over `n` is a chunk of its own.
    """
    before, start = document.nws_before, 0
    ranges: list[LineRange] = []
    while start < len(before) - 1:
        end = max(bisect_right(before, before[start] + n) - 1, start + 1)
        ranges.append((start, end))
        start = end
    return Cut(ranges, why)


def whole_file(document: Document) -> Cut:
    """The file as one chunk; an empty file has none."""
    n_lines = document.n_lines
    return Cut([(0, n_lines)] if n_lines else [])


def window(document: Document, size: int, step: int) -> Cut:
    """Lines `[i - size // 2, i - size // 2 + size)` around every `step`-th line `i`, clipped; equal windows once."""
    n_lines = document.n_lines
    firsts = [middle - size // 2 for middle in range(0, n_lines, step)]
    # Both ends only grow, so equal windows are neighbours.
    return Cut(list(dict.fromkeys((max(0, first), min(n_lines, first + size)) for first in firsts)))


FIXED_NWS = Chunker(
    name="fixed-nws-<n>",
    title="Fixed size, n characters",
    meaning="Packs whole lines until one more would exceed n non-whitespace characters.",
    chunk=fixed_nws,
    source="The `fixed` chunker of the published code-chunk evaluation; there n is 1,800.",
    defaults=("fixed-nws-1500", "fixed-nws-800"),
)
WHOLE_FILE = Chunker(
    name="whole-file",
    title="Whole file",
    meaning="Leaves each file whole, as in retrieval of files.",
    chunk=whole_file,
    defaults=("whole-file",),
)
WINDOW = Chunker(
    name="window-<size>-<step>",
    title="Sliding window",
    meaning="Takes a window of `size` lines around every `step`-th line; blank lines count.",
    chunk=window,
    source="Ours. RepoCoder (arXiv:2303.12570) places windows of 20 lines every 10 lines in the same way, but leaves "
    "out the query's own text and merges windows of equal text.",
)
