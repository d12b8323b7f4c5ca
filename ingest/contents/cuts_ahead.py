"""What needs a content's syntax tree is done while the tree is at hand: one parse for all chunkers and definitions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from ingest.contents.chunkers import Chunker, Cut, Document
from ingest.contents.chunkers_by_name import resolve_chunkers
from ingest.contents.chunking import cut_document
from ingest.contents.syntax_trees import GRAMMARS
from lake.declarations import Resolved

CRASHED = "the parser crashed"


def reads_trees(chunker: Resolved[Chunker]) -> bool:
    """Whether a chunker cuts along the syntax trees of :mod:`ingest.contents.syntax_trees`."""
    return chunker.declaration.grammars == GRAMMARS


def cut_by_each(document: Document, chunkers: Sequence[str]) -> list[Cut]:
    """How some chunkers cut a file; one that fails says so in its cut."""
    return [cut_document(one, document) for one in resolve_chunkers(chunkers)]


class CutsAhead:
    """Cuts that were made before their chunker's turn came, until it takes them.

    Args:
        done: Chunker that reads trees → the contents that it has cut in an earlier run.
    """

    def __init__(self, done: Mapping[str, Collection[str]]) -> None:
        self._done = done
        self._cuts: dict[str, dict[str, Cut]] = {name: {} for name in done}

    def wanted(self, sha256: str) -> tuple[str, ...]:
        """The chunkers that have not cut a content yet."""
        return tuple(name for name, done in self._done.items() if sha256 not in done and sha256 not in self._cuts[name])

    def keep(self, sha256: str, chunkers: Sequence[str], cuts: Sequence[Cut]) -> None:
        """Keep how chunkers cut a content."""
        for name, cut in zip(chunkers, cuts, strict=True):
            # Whole numbers in a row: lists of pairs would take ten times the memory.
            packed = np.array(cut.ranges, np.int32).reshape(-1, 2)
            self._cuts[name][sha256] = cut._replace(ranges=packed)  # type: ignore[arg-type] # unpacked when taken

    def of(self, chunker: Resolved[Chunker], blobs: pl.DataFrame) -> Resolved[Chunker]:
        """The same chunker, which answers for these contents, in their order, what is kept; the others are cut first.

        Args:
            chunker: Whose turn it is.
            blobs: Rows of the table `blobs`.
        """
        if chunker.name not in self._done:
            return chunker
        kept = self._cuts[chunker.name]
        for sha256, text, language in blobs.select("sha256", "text", "language").iter_rows():
            if sha256 not in kept:
                names = tuple({chunker.name: None, **dict.fromkeys(self.wanted(sha256))})
                self.keep(sha256, names, cut_by_each(Document(text, language), names))
        left = iter(blobs["sha256"])

        def answer(_: Document, **_numbers: int) -> Cut:
            cut = kept.pop(next(left))
            return cut._replace(ranges=[(start, end) for start, end in cut.ranges])

        return replace(chunker, declaration=replace(chunker.declaration, chunk=answer))
