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
    """The distinct pieces of some texts, sorted; their counts in the distinct lines of the texts: (lines, pieces).

    `line` has the row of each of the texts' lines, `first_line` the place in it of each text's first line.
    """

    vocabulary: pl.Series
    of_lines: scipy.sparse.csr_array
    line: Integers
    first_line: Integers

    @property
    def n_bytes(self) -> int:
        """The memory taken, in bytes."""
        arrays = (self.of_lines.data, self.of_lines.indices, self.of_lines.indptr, self.line)
        return sum(array.nbytes for array in arrays) + int(self.vocabulary.estimated_size())

    def counts(self, start: Integers, end: Integers) -> scipy.sparse.csr_array:
        """The counts of each piece in ranges of lines: (ranges, pieces), with sorted columns in each row."""
        ends = np.append(0, np.cumsum(end - start))
        lines = self.line[np.arange(ends[-1]) + np.repeat(start - ends[:-1], end - start)]
        counts = sum_of_lines(lines, ends, self.of_lines)
        counts.sort_indices()
        return counts


def pieces(text: str) -> list[str]:
    """Runs of word characters, and single other marks, with their case: no token of another kind crosses their ends."""
    return _PIECE.findall(text)


def lines_of(texts: pl.Series) -> tuple[pl.Series, Integers, Integers]:
    """The distinct lines of texts (most occur often), sorted; each line's number; where each text's lines begin."""
    split = pl.LazyFrame({"line": texts.rename("line")}).select(pl.col("line").str.split("\n"))
    lines, sizes = pl.collect_all([split.explode("line"), split.select(pl.col("line").list.len())])
    distinct, line = numbered(lines.to_series())
    return distinct, line.astype(np.int64), np.append(0, np.cumsum(sizes.to_series().to_numpy(), dtype=np.int64))


def sum_of_lines(line: Integers, first_line: Integers, of_lines: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
    """The sums of rows of `of_lines` (lines, tokens) over texts, given their lines' rows: (texts, tokens)."""
    shape = (len(first_line) - 1, of_lines.shape[0])
    texts = scipy.sparse.csr_array((np.ones(len(line), np.int32), line, first_line), shape=shape)
    return scipy.sparse.csr_array(texts @ of_lines)


def cut_lines(texts: pl.Series) -> Pieces:
    """The pieces of texts, cut line by line: no piece spans a line end."""
    distinct, line, first_line = lines_of(texts)
    is_ascii = pl.col("line").str.len_bytes() == pl.col("line").str.len_chars()
    lines = pl.LazyFrame({"line": distinct.rename("line")}).with_row_index("number")
    cut_easily = lines.filter(is_ascii).select("number", piece=pl.col("line").str.extract_all(_ASCII_PIECE))
    easy, rest = pl.collect_all([cut_easily.with_columns(n=pl.col("piece").list.len()), lines.filter(~is_ascii)])
    cut = list(map(pieces, rest["line"]))
    of_rest = pl.Series(list(chain.from_iterable(cut)), dtype=pl.String)
    vocabulary, column = numbered(easy["piece"].explode(empty_as_null=False).extend(of_rest))
    n_pieces = np.concatenate([easy["n"].to_numpy().astype(np.int64), np.array([*map(len, cut)], np.int64)])
    of_lines = (np.ones(len(column), np.int32), column, np.append(0, np.cumsum(n_pieces)))
    row = np.zeros(len(distinct), np.int64)
    row[np.concatenate([easy["number"].to_numpy(), rest["number"].to_numpy()])] = np.arange(len(distinct))
    shape = (len(distinct), len(vocabulary))
    return Pieces(vocabulary, scipy.sparse.csr_array(of_lines, shape=shape), row[line], first_line)


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
