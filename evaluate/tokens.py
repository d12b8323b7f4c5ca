"""Texts as counts of tokens, and what chunks share with the query of the pool they lie in: many small pools at once.

Where every item searches a handful of candidates of its own, an index per pool costs far more than what it saves. Here
the pools of a part lie side by side: every text is cut into tokens once, and (pool, token) is one number, so that
counting within a pool is counting whole numbers.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, compress, count
from typing import overload

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

Tokenizer = Callable[[str], Sequence[str]]
Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

POOLS_AT_ONCE = 64
"""How many pools are counted side by side: few enough for all their tokens to stay near the processor."""


@dataclass(frozen=True)
class Counted:
    """How often each text says each token.

    Attributes:
        vocabulary: Token → column, in the order of the tokens' spelling.
        counts: (texts, tokens), columns ascending within a row.
    """

    vocabulary: dict[str, int]
    counts: csr_array

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
        is_said = np.zeros(len(self.vocabulary), np.bool_)
        is_said[counts.indices] = True
        if is_said.all():
            return Counted(self.vocabulary, counts)
        words = compress(self.vocabulary, is_said)
        column = (np.cumsum(is_said) - 1).astype(counts.indices.dtype)
        shape = (len(rows), int(is_said.sum()))
        moved = csr_array((counts.data, column[counts.indices], counts.indptr), shape=shape)
        return Counted({word: place for place, word in enumerate(words)}, moved)

    def asked(self, queries: Sequence[str], tokens: Tokenizer) -> Counted:
        """Queries counted over the same columns; tokens that no text has take columns behind them."""
        counts, _ = _columns([_bag(tokens, text) for text in queries], self.vocabulary)
        return Counted(self.vocabulary, counts)


@dataclass(frozen=True)
class Refined:
    """A tokenizer whose tokens are made of another's, each by itself: texts that the other has cut are not read again.

    Attributes:
        tokens: The other tokenizer.
        rule: What one of its tokens becomes: any number of tokens, also none.
    """

    tokens: Tokenizer
    rule: Callable[[str], Sequence[str]]

    def __call__(self, text: str) -> list[str]:
        """The tokens of a text."""
        return [made for token in self.tokens(text) for made in self.rule(token)]

    def of(self, found: Counted) -> Counted:
        """The same of texts as the other tokenizer counts them."""
        made = by_spelling(map(self.rule, found.vocabulary))
        counts = csr_array(found.counts @ made.counts)
        counts.sort_indices()
        return Counted(made.vocabulary, counts)


class Texts(Sequence[str]):
    """Texts that several retrievers and tasks cut into tokens: each way of cutting is done once.

    Args:
        text: The texts.
    """

    def __init__(self, text: Sequence[str] = ()) -> None:
        self._text = text
        self._counted: dict[Tokenizer, Counted] = {}

    @property
    def text(self) -> Sequence[str]:
        """The texts."""
        return self._text

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

    def rows(self, rows: Integers) -> Texts:
        """Some of them, in any order, counted together with the others."""
        return _Rows(self, rows)

    def _count(self, tokens: Tokenizer) -> Counted:
        if isinstance(tokens, Refined):
            return tokens.of(self.counted(tokens.tokens))
        return by_spelling(map(tokens, self.text))


class _Rows(Texts):
    """Rows of other texts."""

    def __init__(self, texts: Texts, rows: Integers) -> None:
        super().__init__()
        self._texts, self._rows = texts, rows

    def __len__(self) -> int:
        return len(self._rows)

    @cached_property
    def text(self) -> Sequence[str]:
        return [self._texts.text[row] for row in self._rows]

    def _count(self, tokens: Tokenizer) -> Counted:
        return self._texts.counted(tokens).rows(self._rows)


@lru_cache(maxsize=2_000)
def _bag(tokens: Tokenizer, text: str) -> Counter[str]:
    """The tokens of a query, which is put to many chunkers and retrievers."""
    if not isinstance(tokens, Refined):
        return Counter(tokens(text))
    found = Counter[str]()
    for token, n in _bag(tokens.tokens, text).items():
        for made in tokens.rule(token):
            found[made] += n
    return found


def _columns(said: Sequence[Counter[str]], vocabulary: Mapping[str, int]) -> tuple[csr_array, Mapping[str, int]]:
    """Bags of tokens counted over a vocabulary; what it lacks takes columns behind it, which are told."""
    new: defaultdict[str, int] = defaultdict(count(len(vocabulary)).__next__)
    indptr = np.cumsum([0, *map(len, said)])
    column = np.fromiter(
        (vocabulary[token] if token in vocabulary else new[token] for token in chain.from_iterable(said)),
        np.int32,
        indptr[-1],
    )
    n = np.fromiter(chain.from_iterable(map(Counter.values, said)), np.float64, indptr[-1])
    return csr_array((n, column, indptr), shape=(len(said), len(vocabulary) + len(new))), new


def by_spelling(documents: Iterable[Sequence[str]]) -> Counted:
    """Documents given as tokens, counted; columns are in the order of the tokens' spelling.

    So the order in which a document's tokens are added up depends on no other document.
    """
    counts, found = _columns(list(map(Counter, documents)), {})
    words = sorted(found)
    column = np.empty(len(words), np.int32)
    column[np.fromiter(map(found.__getitem__, words), np.int64, len(words))] = np.arange(len(words))
    moved = csr_array((counts.data, column[counts.indices], counts.indptr), shape=counts.shape)
    moved.sort_indices()
    return Counted({word: place for place, word in enumerate(words)}, moved)


@dataclass(frozen=True)
class Met:
    """The tokens of some pools' chunks, beside what their queries ask: row i of every column is a token of a chunk.

    Attributes:
        chunks: Which chunks of all there are.
        pools: Which pools of all there are.
        pool: The pool of each token's chunk, counted from the first pool here.
        chunk: Each token's chunk, counted from the first here; ascending, tokens in the order of their spelling.
        slot: Pool and token as one number.
        n: How often the chunk says the token.
        asked: How often the pool's query says it.
    """

    chunks: slice
    pools: slice
    pool: Integers
    chunk: Integers
    slot: Integers
    n: Floats
    asked: Floats

    def per_chunk(self, values: Floats | None = None) -> Floats:
        """What a chunk shares with the query: the values of its tokens that are asked, added up; 1 each without any."""
        is_asked = self.asked > 0
        n_chunks = self.chunks.stop - self.chunks.start
        weights = None if values is None else values[is_asked]
        return np.bincount(self.chunk[is_asked], weights, minlength=n_chunks).astype(np.float64)

    def n_holding(self) -> Integers:
        """How many chunks of its pool hold each token."""
        return np.bincount(self.slot)[self.slot]


def meetings(texts: csr_array, text: Integers, owner: Integers, queries: csr_array) -> Iterator[Met]:
    """Go through pools that lie side by side, some at a time.

    Args:
        texts: (texts, tokens): how often each text says each token, columns ascending.
        text: The text of each chunk of each pool, pool by pool.
        owner: The pool of each, ascending; pool i is searched by query i.
        queries: (queries, tokens or more): how often each query says each token.
    """
    n_tokens, n_pools = texts.shape[1], queries.shape[0]
    for first_pool in range(0, n_pools, POOLS_AT_ONCE):
        pools = slice(first_pool, min(first_pool + POOLS_AT_ONCE, n_pools))
        first, last = (int(place) for place in np.searchsorted(owner, [pools.start, pools.stop]))
        held, here = texts[text[first:last]], queries[pools]
        # Only the tokens that these chunks say have a column here; the last is for all that they do not.
        is_said = np.zeros(max(n_tokens, queries.shape[1]), np.bool_)
        is_said[held.indices] = True
        column = np.where(is_said, np.cumsum(is_said) - 1, is_said.sum())
        width = int(is_said.sum()) + 1
        chunk = np.repeat(np.arange(last - first), np.diff(held.indptr))
        pool = owner[first:last][chunk] - first_pool
        slot = pool * width + column[held.indices]
        asked = np.zeros((pools.stop - pools.start) * width)
        asked[np.repeat(np.arange(pools.stop - pools.start), np.diff(here.indptr)) * width + column[here.indices]] = (
            here.data
        )
        yield Met(slice(first, last), pools, pool, chunk, slot, held.data, asked[slot])
