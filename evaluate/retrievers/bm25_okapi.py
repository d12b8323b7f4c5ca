"""BM25 as the package rank_bm25 computes it, as one sparse product instead of a loop over every query token."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from evaluate.retrievers import Floats, Pool, Queries, Retriever
from lake.text import words

K1 = 1.5
B = 0.75
EPSILON = 0.25


@dataclass(frozen=True)
class OkapiIndex:
    """Every chunk's weight for every word it holds.

    Attributes:
        vocabulary: Word → row of the weights.
        weights: (words, chunks): idf × saturated term frequency.
    """

    vocabulary: dict[str, int]
    weights: csr_array

    @property
    def n_bytes(self) -> int:
        """Bytes of the sparse matrix's three arrays."""
        return int(self.weights.data.nbytes + self.weights.indices.nbytes + self.weights.indptr.nbytes)

    def search(self, queries: Queries) -> Floats:
        """BM25 of every chunk for every query; a word counts as often as the query says it."""
        return self.scores([words(text) for text in queries.text])

    def scores(self, queries: Sequence[Sequence[str]]) -> Floats:
        """The same for queries that are words already."""
        asked = _counts([[word for word in query if word in self.vocabulary] for query in queries], self.vocabulary)
        return np.asarray((asked @ self.weights).toarray(), dtype=np.float64)


def okapi(documents: Sequence[Sequence[str]]) -> OkapiIndex:
    """Index documents given as words, with rank_bm25's weights.

    idf = ln(N - df + 0.5) - ln(df + 0.5); one that is negative becomes 0.25 × the mean idf of all words. A word
    weighs in a document idf × tf (k1 + 1) / (tf + k1 (1 - b + b × length / mean length)).
    """
    vocabulary: dict[str, int] = {}
    for document in documents:
        for word in document:
            vocabulary.setdefault(word, len(vocabulary))
    if not vocabulary:
        return OkapiIndex({}, csr_array((0, len(documents)), dtype=np.float64))
    frequency = _counts(documents, vocabulary)
    n_holding = np.bincount(frequency.indices, minlength=len(vocabulary))
    idf = np.log(len(documents) - n_holding + 0.5) - np.log(n_holding + 0.5)
    idf[idf < 0] = EPSILON * idf.mean()
    length = np.array([len(document) for document in documents], dtype=np.float64)
    slope = K1 * (1 - B + B * length / length.mean())
    row_of = np.repeat(np.arange(len(documents)), np.diff(frequency.indptr))
    tf = frequency.data
    frequency.data = idf[frequency.indices] * (tf * (K1 + 1) / (tf + slope[row_of]))
    return OkapiIndex(vocabulary, csr_array(frequency.T.tocsr()))


def index(pool: Pool) -> OkapiIndex:
    """The pool's chunks as words, lower-cased."""
    return okapi([words(text) for text in pool.text])


def _counts(documents: Sequence[Sequence[str]], vocabulary: dict[str, int]) -> csr_array:
    """How often each document says each word: (documents, words)."""
    counts = [Counter(document) for document in documents]
    indptr = np.cumsum([0, *(len(count) for count in counts)])
    indices = np.fromiter((vocabulary[word] for count in counts for word in count), np.int64, indptr[-1])
    data = np.fromiter((n for count in counts for n in count.values()), np.float64, indptr[-1])
    return csr_array((data, indices, indptr), shape=(len(documents), len(vocabulary)))


BM25_OKAPI = Retriever(
    name="bm25-okapi",
    title="BM25 (Okapi)",
    meaning="Words the query and a chunk share, each weighed by how rare it is in the pool and damped by the chunk's "
    "length. Words are `\\w+`, lower-cased; the scores are those of rank_bm25's BM25Okapi.",
    index=index,
    source="rank_bm25 0.2.2, BM25Okapi",
    parameters={"k1": K1, "b": B, "epsilon": EPSILON, "tokens": "words"},
)
