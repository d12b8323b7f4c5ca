"""Tokens of contents: each is cut once per tokenizer, line by line, and a chunk's are counted from those of its lines.

What was cut last stays in memory for the next chunker, retriever and part of the items.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
import scipy

from evaluate.rank.blobs import contents_of
from evaluate.texts.tokens import Tokenizer
from lake.arrays import Integers
from lake.store import Lake
from lake.text import regex_tokens, words

_BYTES_AT_ONCE = 8_000_000
"""About how many bytes of text are cut at a time: what memory must hold."""

BYTES_KEPT = 256_000_000
"""So many bytes of tokens stay in memory, beside those that are asked for."""

LINE_TOKENIZERS: Mapping[Tokenizer, Callable[[pl.Expr], pl.Expr]] = {
    words: lambda text: text.str.to_lowercase().str.extract_all(r"[0-9A-Za-z_]+|\n"),
    # White space is also U+001C to U+001F, as in Python.
    regex_tokens: lambda text: text.str.extract_all(r"[A-Za-z_][0-9A-Za-z_]*|[0-9]+|[^0-9A-Za-z_\t-\r\x1c-\x20]|\n"),
}
"""Tokenizers none of whose tokens reaches over the end of a line; every other one is given whole texts.

Each with an expression that does the same, and keeps line ends, for text of ASCII alone. Of all other text Python
decides what a letter is: the tables of another library may be of another version of Unicode.
"""


class CutTokens(NamedTuple):
    """The tokens of some texts, whose lines lie end to end.

    Attributes:
        vocabulary: Every token once, sorted.
        of_lines: (lines, tokens): ones, where a line says a token several times as many.
        first_line: Where the lines of each text begin, and how many all have at the end.
    """

    vocabulary: pl.Series
    of_lines: scipy.sparse.csr_array
    first_line: Integers

    def counts(self, start: Integers, end: Integers) -> scipy.sparse.csr_array:
        """How often ranges of the lines say each token: (ranges, tokens), columns ascending within a row."""
        ends = np.append(0, np.cumsum(end - start))
        lines = np.arange(ends[-1]) + np.repeat(start - ends[:-1], end - start)
        ranges = scipy.sparse.csr_array(
            (np.ones(len(lines), np.int32), lines, ends), shape=(len(start), self.of_lines.shape[0])
        )
        counts = scipy.sparse.csr_array(ranges @ self.of_lines)
        counts.sort_indices()
        return counts


class Block(NamedTuple):
    """Contents that were cut together: sha256 and `first_line` of each, and their tokens."""

    contents: pl.DataFrame
    tokens: CutTokens

    @property
    def n_bytes(self) -> int:
        """What memory it takes."""
        lines = self.tokens.of_lines
        arrays = sum(array.nbytes for array in (lines.data, lines.indices, lines.indptr))
        return arrays + int(self.tokens.vocabulary.estimated_size())


_kept = OrderedDict[tuple[Tokenizer, str], Block]()


def tokens_of(lake: Lake, sha256: pl.Series, tokens: Tokenizer) -> list[Block]:
    """The tokens of some contents, each of which is in one of the blocks."""
    missing, blocks = set(sha256), list[Block]()
    for key, block in list(_kept.items()):
        known = missing.intersection(block.contents["sha256"]) if key[0] == tokens else set()
        if known:
            _kept.move_to_end(key)
            blocks.append(block)
            missing -= known
    contents = contents_of(lake, pl.Series("sha256", sorted(missing), pl.String), ["text"])
    for some in in_batches(contents):
        cut = cut_tokens(some["text"], tokens)
        block = Block(some.select("sha256", first_line=pl.Series(cut.first_line[:-1])), cut)
        _kept[tokens, some["sha256"][0]] = block
        blocks.append(block)
    while len(_kept) > 1 and sum(block.n_bytes for block in _kept.values()) > BYTES_KEPT:
        _kept.popitem(last=False)
    return blocks


def in_batches(frame: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Rows with a `text`, as many at a time as are cut together."""
    size = pl.col("text").str.len_bytes().cast(pl.Int64)
    numbered = frame.with_columns(batch=size.cum_sum() // _BYTES_AT_ONCE)
    yield from numbered.partition_by("batch", maintain_order=True, include_key=False)


def cut_tokens(texts: pl.Series, tokens: Tokenizer) -> CutTokens:
    """Cut texts into tokens."""
    frame = pl.LazyFrame({"text": texts.rename("text")}).with_columns(
        first=pl.col("text").str.count_matches("\n", literal=True).cast(pl.Int64) + 1
    )
    frame = frame.with_columns(first=pl.col("first").cum_sum() - pl.col("first"))
    is_ascii = pl.col("text").str.len_bytes() == pl.col("text").str.len_chars()
    # A text with other characters is taken line by line: few of its lines have any.
    lines = frame.filter(~is_ascii).with_columns(pl.col("text").str.split("\n")).explode("text")
    lines = lines.with_columns(first=pl.col("first") + pl.int_range(pl.len()).over("first"))
    plain = pl.concat([frame.filter(is_ascii), lines.filter(is_ascii)])
    plain = plain.select("first", tokens=LINE_TOKENIZERS[tokens](pl.col("text"))).with_columns(
        n=pl.col("tokens").list.len()
    )
    rest, easy = pl.collect_all([lines.filter(~is_ascii), plain])
    cut = list(map(tokens, rest["text"]))
    hard = pl.Series(list(chain.from_iterable(cut)), dtype=pl.String)
    token = easy["tokens"].explode(empty_as_null=False).extend(hard)
    length = np.concatenate([easy["n"].to_numpy().astype(np.int64), np.array([*map(len, cut)], np.int64)])
    line = np.repeat(np.concatenate([easy["first"].to_numpy(), rest["first"].to_numpy()]), length)
    is_end = (token == "\n").to_numpy()
    before = np.append(0, np.cumsum(is_end))
    line += before[:-1] - np.repeat(before[np.cumsum(length) - length], length)
    vocabulary, spelt = _places(token.filter(~is_end))
    line = line[~is_end]
    if rest.height:
        order = np.argsort(line, kind="stable")
        line, spelt = line[order], spelt[order]
    n_lines = texts.str.count_matches("\n", literal=True).to_numpy().astype(np.int64) + 1
    first_line = np.append(0, np.cumsum(n_lines))
    n_tokens = np.bincount(line, minlength=first_line[-1])
    of_lines = (np.ones(len(spelt), np.int32), spelt, np.append(0, np.cumsum(n_tokens)))
    return CutTokens(vocabulary, scipy.sparse.csr_array(of_lines, shape=(len(n_tokens), len(vocabulary))), first_line)


def _places(token: pl.Series) -> tuple[pl.Series, npt.NDArray[np.int32]]:
    """Every token once, sorted, and the place of each among them."""
    coded = token.cast(pl.Categorical)
    known = coded.unique()
    spelling = known.cast(pl.String)
    order = spelling.arg_sort().to_numpy()
    number = np.zeros(int(known.to_physical().max() or 0) + 1, np.int32)  # type: ignore[arg-type] # numbers of categories
    number[known.to_physical().to_numpy()[order]] = np.arange(len(order))
    return spelling[order], number[coded.to_physical().to_numpy()]
