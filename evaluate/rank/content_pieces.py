"""The pieces of contents: each is cut once, line by line, and a chunk's are counted from those of its lines.

What was cut last stays in memory for the next chunker, retriever and part of the items.
"""

from collections import OrderedDict
from collections.abc import Iterator
from typing import NamedTuple

import polars as pl

from evaluate.rank.blobs import contents_of
from evaluate.texts.pieces import Pieces, cut_lines
from lake.store import Lake

BYTES_AT_ONCE = 8_000_000
"""About how many bytes of text are cut at a time: what memory must hold."""

BYTES_KEPT = 256_000_000
"""So many bytes of pieces stay in memory, beside those that are asked for."""


class Block(NamedTuple):
    """Contents that were cut together: sha256 and `first_line` of each, and their pieces."""

    contents: pl.DataFrame
    pieces: Pieces

    @property
    def n_bytes(self) -> int:
        """What memory it takes."""
        lines = self.pieces.of_lines
        arrays = sum(array.nbytes for array in (lines.data, lines.indices, lines.indptr))
        return arrays + int(self.pieces.vocabulary.estimated_size())


_kept = OrderedDict[str, Block]()


def pieces_of(lake: Lake, sha256: pl.Series) -> list[Block]:
    """The pieces of some contents, each of which is in one of the blocks."""
    missing, blocks = set(sha256), list[Block]()
    for key, block in list(_kept.items()):
        if known := missing.intersection(block.contents["sha256"]):
            _kept.move_to_end(key)
            blocks.append(block)
            missing -= known
    contents = contents_of(lake, pl.Series("sha256", sorted(missing), pl.String), ["text"])
    for some in in_batches(contents):
        cut = cut_lines(some["text"])
        block = Block(some.select("sha256", first_line=pl.Series(cut.first_line[:-1])), cut)
        _kept[some["sha256"][0]] = block
        blocks.append(block)
    while len(_kept) > 1 and sum(block.n_bytes for block in _kept.values()) > BYTES_KEPT:
        _kept.popitem(last=False)
    return blocks


def in_batches(frame: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Rows with a `text`, as many at a time as are cut together."""
    size = pl.col("text").str.len_bytes().cast(pl.Int64)
    numbered = frame.with_columns(batch=size.cum_sum() // BYTES_AT_ONCE)
    yield from numbered.partition_by("batch", maintain_order=True, include_key=False)
