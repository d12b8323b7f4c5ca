"""Texts cut into pieces, from which all other tokens are made: fast for ASCII text, in Python for all other text.

For non-ASCII text Python decides what a letter is, as another library may follow another version of Unicode.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
import scipy

from lake.exact import Integers

# As in Python, white space includes U+001C to U+001F.
_PIECE = re.compile(r"\w+|[^\w\s]")
_ASCII_PIECE = r"[0-9A-Za-z_]+|[^0-9A-Za-z_\t-\r\x1c-\x20]"


class Pieces(NamedTuple):
    """The distinct pieces of some texts, sorted; ones of (lines, pieces), one per occurrence; texts' first lines."""

    vocabulary: pl.Series
    of_lines: scipy.sparse.csr_array
    first_line: Integers

    @property
    def n_bytes(self) -> int:
        """The memory taken, in bytes."""
        arrays = (self.of_lines.data, self.of_lines.indices, self.of_lines.indptr)
        return sum(array.nbytes for array in arrays) + int(self.vocabulary.estimated_size())

    def counts(self, start: Integers, end: Integers) -> scipy.sparse.csr_array:
        """The counts of each piece in ranges of lines: (ranges, pieces), with sorted columns in each row."""
        ends = np.append(0, np.cumsum(end - start))
        lines = np.arange(ends[-1]) + np.repeat(start - ends[:-1], end - start)
        ranges = scipy.sparse.csr_array(
            (np.ones(len(lines), np.int32), lines, ends), shape=(len(start), self.of_lines.shape[0])
        )
        counts = scipy.sparse.csr_array(ranges @ self.of_lines)
        counts.sort_indices()
        return counts


def pieces(text: str) -> list[str]:
    """Runs of word characters, and single other marks, with their case: no token of another kind crosses their ends."""
    return _PIECE.findall(text)


def cut_lines(texts: pl.Series) -> Pieces:
    """The pieces of texts, cut line by line: no piece spans a line end."""
    frame = pl.LazyFrame({"text": texts.rename("text")}).with_columns(
        first=pl.col("text").str.count_matches("\n", literal=True).cast(pl.Int64) + 1
    )
    frame = frame.with_columns(first=pl.col("first").cum_sum() - pl.col("first"))
    is_ascii = pl.col("text").str.len_bytes() == pl.col("text").str.len_chars()
    # Non-ASCII texts are split into lines, as few of their lines have non-ASCII characters.
    lines = frame.filter(~is_ascii).with_columns(pl.col("text").str.split("\n")).explode("text")
    lines = lines.with_columns(first=pl.col("first") + pl.int_range(pl.len()).over("first"))
    plain = pl.concat([frame.filter(is_ascii), lines.filter(is_ascii)])
    plain = plain.select("first", pieces=pl.col("text").str.extract_all(rf"{_ASCII_PIECE}|\n"))
    rest, easy = pl.collect_all([lines.filter(~is_ascii), plain.with_columns(n=pl.col("pieces").list.len())])
    cut = list(map(pieces, rest["text"]))
    of_rest = pl.Series(list(chain.from_iterable(cut)), dtype=pl.String)
    piece = easy["pieces"].explode(empty_as_null=False).extend(of_rest)
    length = np.concatenate([easy["n"].to_numpy().astype(np.int64), np.array([*map(len, cut)], np.int64)])
    line = np.repeat(np.concatenate([easy["first"].to_numpy(), rest["first"].to_numpy()]), length)
    is_end = (piece == "\n").to_numpy()
    before = np.append(0, np.cumsum(is_end))
    line += before[:-1] - np.repeat(before[np.cumsum(length) - length], length)
    vocabulary, spelt = numbered(piece.filter(~is_end))
    line = line[~is_end]
    if rest.height:
        order = np.argsort(line, kind="stable")
        line, spelt = line[order], spelt[order]
    n_lines = texts.str.count_matches("\n", literal=True).to_numpy().astype(np.int64) + 1
    first_line = np.append(0, np.cumsum(n_lines))
    n_pieces = np.bincount(line, minlength=first_line[-1])
    of_lines = (np.ones(len(spelt), np.int32), spelt, np.append(0, np.cumsum(n_pieces)))
    return Pieces(vocabulary, scipy.sparse.csr_array(of_lines, shape=(len(n_pieces), len(vocabulary))), first_line)


def count_pieces(texts: pl.Series) -> tuple[pl.Series, scipy.sparse.csr_array]:
    """All distinct pieces of some texts, sorted, and their counts: (texts, pieces), with sorted columns in each row."""
    cut = cut_lines(texts)
    return cut.vocabulary, cut.counts(cut.first_line[:-1], cut.first_line[1:])


def numbered(piece: pl.Series) -> tuple[pl.Series, npt.NDArray[np.int32]]:
    """All distinct pieces or other tokens, sorted, and for each its number among them."""
    code = piece.cast(pl.Categorical).to_physical().to_numpy()
    # Some position of each piece; -1 for codes not used here.
    position = np.full(int(code.max(initial=0)) + 1, -1, np.int64)
    position[code] = np.arange(len(code))
    known = np.flatnonzero(position >= 0)
    spelling = piece[position[known]]
    order = spelling.arg_sort().to_numpy()
    number = np.zeros(len(position), np.int32)
    number[known[order]] = np.arange(len(order))
    return spelling[order], number[code]
