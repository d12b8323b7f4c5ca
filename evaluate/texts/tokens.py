"""Texts as token counts, each tokenized once; small pools are scored side by side, as an index for each costs more."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import chain

import numpy as np
import polars as pl
import scipy

from evaluate.texts.pieces import count_pieces, numbered, pieces
from lake.exact import Floats, Integers, Mask
from lake.text import is_blank, regex_tokens, words

Tokenizer = Callable[[str], Sequence[str]]


class Vocabulary:
    """Distinct tokens, sorted."""

    def __init__(self, tokens: pl.Series) -> None:
        self.tokens = tokens
        self._placed: tuple[Vocabulary, Integers] | None = None

    def places_of(self, other: Vocabulary) -> Integers:
        """The position of each token of another vocabulary in this one, -1 if absent. The last result is cached."""
        if self._placed is None or self._placed[0] is not other:
            row = self.tokens.search_sorted(other.tokens).to_numpy().astype(np.int64)
            is_here = row < len(self.tokens)
            is_here[is_here] = (self.tokens[row[is_here]] == other.tokens.filter(pl.Series(is_here))).to_numpy()
            self._placed = other, np.where(is_here, row, -1)
        return self._placed[1]


@dataclass(frozen=True)
class Counted:
    """The token counts of some texts: (texts, columns), sorted in each row; `column` has each column's token.

    For several pools they are (texts, pools × columns), where a text uses only the columns of its own pool.
    """

    tokens: Vocabulary
    counts: scipy.sparse.csr_array
    column: Integers
    n_pools: int = 1

    @classmethod
    def of(cls, vocabulary: pl.Series, counts: scipy.sparse.csr_array) -> Counted:
        """Counts with a column for each token of a sorted vocabulary."""
        return cls(Vocabulary(vocabulary), counts, np.arange(len(vocabulary)))

    @property
    def vocabulary(self) -> pl.Series:
        """The token of each column."""
        return self.tokens.tokens.gather(self.column)

    @property
    def n_different(self) -> Floats:
        """The number of distinct tokens of each text."""
        return np.diff(self.counts.indptr).astype(np.float64)

    def rows(self, rows: Integers, pool: Integers | None = None) -> Counted:
        """The counts of some of the texts, restricted to their tokens; given the pool of each, with its own columns."""
        counts = self.counts[rows]
        is_said = np.zeros(len(self.column), np.bool_)
        is_said[counts.indices] = True
        kept = np.flatnonzero(is_said)
        column = (np.cumsum(is_said) - 1).astype(counts.indices.dtype)[counts.indices]
        moved = scipy.sparse.csr_array((counts.data, column, counts.indptr), shape=(len(rows), len(kept)))
        n_pools = 1 if pool is None else int(pool[-1]) + 1
        moved = moved if pool is None else _shifted(moved, pool, n_pools, len(kept))
        return Counted(self.tokens, moved, self.column[kept], n_pools)

    def of_queries(self, queries: Counted) -> Counted:
        """Counts of queries, one per pool if several, over the same columns, with others for new tokens at the end."""
        column, n_columns = self.tokens.places_of(queries.tokens)[queries.column], len(self.column)
        at = np.searchsorted(self.column, column)
        column = np.where(np.append(self.column, -2)[at] == column, at, -1)
        is_new = column < 0
        column = np.where(is_new, n_columns - 1 + np.cumsum(is_new), column).astype(np.int32)
        counts, shape = queries.counts, (queries.counts.shape[0], n_columns + int(is_new.sum()))
        moved = scipy.sparse.csr_array((counts.data, column[counts.indices], counts.indptr), shape=shape)
        if self.n_pools > 1:
            moved = _shifted(moved, np.arange(self.n_pools), self.n_pools, n_columns)
        return replace(self, counts=moved)


@dataclass(frozen=True)
class Refined:
    """A tokenizer that maps each token of another tokenizer, which is run only once, to any number of tokens."""

    tokens: Tokenizer
    rule: Callable[[str], Sequence[str]]

    def __call__(self, text: str) -> list[str]:
        """The tokens of a text."""
        return [made for token in self.tokens(text) for made in self.rule(token)]

    def of(self, texts: Counted) -> Counted:
        """The counts of texts, given their counts by the other tokenizer."""
        made = by_spelling(map(self.rule, texts.vocabulary.to_list()))
        counts = scipy.sparse.csr_array(texts.counts @ made.counts)
        counts.sort_indices()
        return Counted(made.tokens, counts, made.column)


WORDS = Refined(pieces, words)
"""Runs of letters, digits and underscores, lower-cased."""

CASED_WORDS = Refined(pieces, re.compile(r"\w+").findall)
"""Runs of letters, digits and underscores, with their case."""

REGEX_TOKENS = Refined(pieces, regex_tokens)
"""Identifiers, numbers and single punctuation marks, with their case."""


def defined_names(_: str) -> Sequence[str]:
    """A tokenizer of the names whose definitions begin in a text; implemented only for chunks of the lake."""
    raise NotImplementedError


class Texts:
    """Texts shared by several retrievers and tasks: each tokenizer runs on them once."""

    def __init__(self, text: Sequence[str] = ()) -> None:
        self._text = text
        self._counted: dict[Tokenizer, Counted] = {}

    @property
    def text(self) -> Sequence[str]:
        """The texts."""
        return self._text

    @property
    def series(self) -> pl.Series:
        """The texts as a column."""
        return pl.Series(self.text, dtype=pl.String)

    def __len__(self) -> int:
        return len(self.text)

    def __iter__(self) -> Iterator[str]:
        return iter(self.text)

    def __getitem__(self, row: int) -> str:
        return self.text[row]

    def counted(self, tokens: Tokenizer) -> Counted:
        """The token counts of the texts; shared between callers, so do not modify them."""
        if tokens not in self._counted:
            self._counted[tokens] = self._count(tokens)
        return self._counted[tokens]

    @cached_property
    def is_blank(self) -> Mask:
        """Whether each text is only white space."""
        return np.array([is_blank(text) for text in self.text], np.bool_)

    def rows(self, rows: Integers, pool: Integers | None = None) -> Texts:
        """Some of the texts, in any order, which share the counts of all; `pool`: the pool of each, if several."""
        return _Rows(self, rows, pool)

    def _count(self, tokens: Tokenizer) -> Counted:
        if isinstance(tokens, Refined):
            return tokens.of(self.counted(tokens.tokens))
        if tokens is not pieces:
            return by_spelling(map(tokens, self.text))
        return Counted.of(*count_pieces(self.series))


class _Rows(Texts):
    """Some rows of other texts."""

    def __init__(self, texts: Texts, rows: Integers, pool: Integers | None) -> None:
        super().__init__()
        self._texts, self._rows, self._pool = texts, rows, pool

    def __len__(self) -> int:
        return len(self._rows)

    @cached_property
    def text(self) -> Sequence[str]:
        return [self._texts.text[row] for row in self._rows]

    @cached_property
    def is_blank(self) -> Mask:
        return self._texts.is_blank[self._rows]

    def _count(self, tokens: Tokenizer) -> Counted:
        return self._texts.counted(tokens).rows(self._rows, self._pool)


def _shifted(counts: scipy.sparse.csr_array, pool: Integers, n_pools: int, n_tokens: int) -> scipy.sparse.csr_array:
    """Counts with the columns of each row moved to its own pool's block; additional columns stay at the end."""
    pool = np.repeat(pool, np.diff(counts.indptr))
    block = np.where(counts.indices < n_tokens, pool, n_pools - 1)
    shape = (counts.shape[0], counts.shape[1] + (n_pools - 1) * n_tokens)
    return scipy.sparse.csr_array((counts.data, counts.indices + block * n_tokens, counts.indptr), shape=shape)


@lru_cache(maxsize=4)
def query_texts(queries: tuple[str, ...]) -> Texts:
    """The queries of a part of the items, cached so that all chunkers and retrievers share their token counts."""
    return Texts(queries)


def by_spelling(documents: Iterable[Sequence[str]]) -> Counted:
    """The counts of documents given as lists of tokens; columns are sorted by token, whatever the other documents."""
    cut = list(documents)
    row = np.repeat(np.arange(len(cut), dtype=np.int32), np.array([*map(len, cut)], np.int64))
    vocabulary, column = numbered(pl.Series(list(chain.from_iterable(cut)), dtype=pl.String))
    cells = scipy.sparse.coo_array((np.ones(len(row)), (row, column)), shape=(len(cut), len(vocabulary)))
    return Counted.of(vocabulary, scipy.sparse.csr_array(cells.tocsr()))
