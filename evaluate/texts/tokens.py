"""Texts as counts of tokens, each text cut into tokens once.

Where every item searches a handful of candidates of its own, an index per pool costs far more than what it saves. There
some pools lie side by side as one, in which a token of another pool is another token.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import overload

import numpy as np
import polars as pl
import scipy

from evaluate.texts.pieces import count_pieces, count_tokens, token_column
from lake.exact import Floats, Integers
from lake.text import pieces, regex_tokens, words

Tokenizer = Callable[[str], Sequence[str]]


class Vocabulary:
    """Tokens in the order of their spelling, each once."""

    def __init__(self, tokens: pl.Series) -> None:
        self.tokens = tokens
        self._placed: tuple[Vocabulary, Integers] | None = None

    def __len__(self) -> int:
        return len(self.tokens)

    def places_of(self, other: Vocabulary) -> Integers:
        """Where each token of another vocabulary stands in this one; -1 where it does not. The last are remembered."""
        if self._placed is None or self._placed[0] is not other:
            row = self.tokens.search_sorted(other.tokens).to_numpy().astype(np.int64)
            is_here = row < len(self)
            is_here[is_here] = (self.tokens[row[is_here]] == other.tokens.filter(pl.Series(is_here))).to_numpy()
            self._placed = other, np.where(is_here, row, -1)
        return self._placed[1]


@dataclass(frozen=True)
class Counted:
    """How often each text says each token.

    Attributes:
        tokens: What the columns are of; all of it without `column`.
        counts: (texts, tokens), columns ascending within a row; of several pools (texts, pools × tokens), each text
            having the columns of its own pool alone.
        column: Which of the tokens there is a column for, ascending.
        n_pools: Of how many pools the texts are, where these lie side by side.
    """

    tokens: Vocabulary
    counts: scipy.sparse.csr_array
    column: Integers | None = None
    n_pools: int = 1
    _asked: list[tuple[Counted, Counted]] = field(default_factory=list, repr=False, compare=False)

    @property
    def vocabulary(self) -> pl.Series:
        """The token of each column."""
        return self.tokens.tokens if self.column is None else self.tokens.tokens.gather(self.column)

    @property
    def n_columns(self) -> int:
        """How many tokens have a column, of several pools one in each."""
        return len(self.tokens) if self.column is None else len(self.column)

    @property
    def n_tokens(self) -> Floats:
        """How many tokens each text has."""
        return np.asarray(self.counts.sum(axis=1), np.float64)

    @property
    def n_different(self) -> Floats:
        """How many different tokens each text has."""
        return np.diff(self.counts.indptr).astype(np.float64)

    def rows(self, rows: Integers) -> Counted:
        """Some of the texts, and the tokens that they have."""
        counts = self.counts[rows]
        is_said = np.zeros(self.n_columns, np.bool_)
        is_said[counts.indices] = True
        kept = np.flatnonzero(is_said)
        column = (np.cumsum(is_said) - 1).astype(counts.indices.dtype)
        moved = scipy.sparse.csr_array(
            (counts.data, column[counts.indices], counts.indptr), shape=(len(rows), len(kept))
        )
        return Counted(self.tokens, moved, kept if self.column is None else self.column[kept])

    def beside(self, pool: Integers, n_pools: int) -> Counted:
        """The same of texts of several pools, given the pool of each."""
        return replace(self, counts=_shifted(self.counts, pool, n_pools, self.n_columns), n_pools=n_pools, _asked=[])

    def of_queries(self, queries: Counted) -> Counted:
        """Counts of queries over the same columns, one query for each of several pools; shared, so not to be changed.

        Tokens that no text has take columns behind them.
        """
        # Retrievers come one after another with the same queries: the last are enough.
        if not self._asked or self._asked[0][0] is not queries:
            column, n_columns = self.tokens.places_of(queries.tokens), self.n_columns
            if queries.column is not None:
                column = column[queries.column]
            if self.column is not None:
                at = np.searchsorted(self.column, column)
                column = np.where(np.append(self.column, -2)[at] == column, at, -1)
            is_new = column < 0
            column = np.where(is_new, n_columns - 1 + np.cumsum(is_new), column).astype(np.int32)
            counts, shape = queries.counts, (queries.counts.shape[0], n_columns + int(is_new.sum()))
            moved = scipy.sparse.csr_array((counts.data, column[counts.indices], counts.indptr), shape=shape)
            if self.n_pools > 1:
                moved = _shifted(moved, np.arange(self.n_pools), self.n_pools, n_columns)
            self._asked[:] = [(queries, replace(self, counts=moved, _asked=[]))]
        return self._asked[0][1]


@dataclass(frozen=True)
class Refined:
    """A tokenizer whose tokens are made of another's, each by itself: texts that the other has cut are not read again.

    By the rule a token becomes any number of tokens, also none.
    """

    tokens: Tokenizer
    rule: Callable[[str], Sequence[str]]

    def __call__(self, text: str) -> list[str]:
        """The tokens of a text."""
        return [made for token in self.tokens(text) for made in self.rule(token)]

    def of(self, texts: Counted) -> Counted:
        """The same of texts as the other tokenizer counts them."""
        made = by_spelling(map(self.rule, texts.vocabulary))
        counts = scipy.sparse.csr_array(texts.counts @ made.counts)
        counts.sort_indices()
        return Counted(made.tokens, counts)


WORDS = Refined(pieces, words)
"""Runs of letters, digits and underscores, lower-cased."""

CASED_WORDS = Refined(pieces, re.compile(r"\w+").findall)
"""The same, case kept."""

REGEX_TOKENS = Refined(pieces, regex_tokens)
"""Identifiers, numbers and single marks, case kept."""


def defined_names(_: str) -> Sequence[str]:
    """The names whose definitions begin in a text, counted like tokens; of chunks of the lake alone they are known."""
    raise NotImplementedError


class Texts(Sequence[str]):
    """Texts that several retrievers and tasks cut into tokens: each way of cutting is done once."""

    def __init__(self, text: Sequence[str] = ()) -> None:
        self._text = text
        self._counted: dict[Tokenizer, Counted] = {}

    @property
    def text(self) -> Sequence[str]:
        """The texts."""
        return self._text

    @property
    def own_text(self) -> Sequence[str]:
        """What is measured, where other texts are ranked."""
        return self.text

    def __len__(self) -> int:
        return len(self.text)

    @overload
    def __getitem__(self, row: int) -> str: ...

    @overload
    def __getitem__(self, row: slice) -> Sequence[str]: ...

    def __getitem__(self, row: int | slice) -> str | Sequence[str]:
        return self.text[row]

    def counted(self, tokens: Tokenizer) -> Counted:
        """The texts as counts of tokens, which whoever asks shares: they are not to be changed."""
        if tokens not in self._counted:
            self._counted[tokens] = self._count(tokens)
        return self._counted[tokens]

    def part(self, rows: Integers) -> Texts:
        """Some of them, by themselves."""
        return Texts([self.text[row] for row in rows])

    def rows(self, rows: Integers, pool: Integers | None = None) -> Texts:
        """Some of them, in any order, counted together with the others; where they are of several pools, of which."""
        return _Rows(self, rows, pool)

    def _count(self, tokens: Tokenizer) -> Counted:
        if isinstance(tokens, Refined):
            return tokens.of(self.counted(tokens.tokens))
        return count_texts(self.text, tokens)


def as_texts(texts: Sequence[str]) -> Texts:
    """Texts that keep what they were cut into."""
    return texts if isinstance(texts, Texts) else Texts(texts)


class _Rows(Texts):
    """Rows of other texts."""

    def __init__(self, texts: Texts, rows: Integers, pool: Integers | None) -> None:
        super().__init__()
        self._texts, self._rows, self._pool = texts, rows, pool

    def __len__(self) -> int:
        return len(self._rows)

    @cached_property
    def text(self) -> Sequence[str]:
        return [self._texts.text[row] for row in self._rows]

    def _count(self, tokens: Tokenizer) -> Counted:
        rows = self._texts.counted(tokens).rows(self._rows)
        return rows if self._pool is None else rows.beside(self._pool, int(self._pool[-1]) + 1)


def _shifted(counts: scipy.sparse.csr_array, pool: Integers, n_pools: int, n_tokens: int) -> scipy.sparse.csr_array:
    """Counts of rows of several pools, each in the columns of its own; columns behind the tokens stay behind all."""
    pool = np.repeat(pool, np.diff(counts.indptr))
    block = np.where(counts.indices < n_tokens, pool, n_pools - 1)
    shape = (counts.shape[0], counts.shape[1] + (n_pools - 1) * n_tokens)
    return scipy.sparse.csr_array((counts.data, counts.indices + block * n_tokens, counts.indptr), shape=shape)


@lru_cache(maxsize=4)
def query_texts(queries: tuple[str, ...]) -> Texts:
    """The queries of a part of the items: each is cut once for all chunkers and retrievers that it is put to."""
    return Texts(queries)


def count_texts(texts: Sequence[str], tokens: Tokenizer) -> Counted:
    """Texts cut into tokens and counted."""
    if tokens is not pieces:
        return by_spelling(map(tokens, texts))
    vocabulary, counts = count_pieces(pl.Series(texts, dtype=pl.String))
    return Counted(Vocabulary(vocabulary), counts)


def by_spelling(documents: Iterable[Sequence[str]]) -> Counted:
    """Documents given as tokens, counted; columns are in the order of the tokens' spelling.

    So the order in which a document's tokens are added up depends on no other document.
    """
    cut = list(documents)
    row = np.repeat(np.arange(len(cut)), np.array([*map(len, cut)], np.int64))
    vocabulary, counts = count_tokens(token_column(cut), row, len(cut))
    return Counted(Vocabulary(vocabulary), counts)
