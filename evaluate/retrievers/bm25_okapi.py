"""BM25 as the package rank_bm25 computes it, as one sparse product instead of a loop over every query token."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from evaluate.retrievers import Floats, Integers, Pairs, Pool, Queries, Retriever
from evaluate.tokens import Counted, Met, meetings
from lake.text import words

K1 = 1.5
B = 0.75
EPSILON = 0.25


@dataclass(frozen=True)
class OkapiIndex:
    """Every chunk's weight for every word it holds.

    Attributes:
        words: How often each chunk says each word.
        weights: (words, chunks): idf × saturated term frequency.
    """

    words: Counted
    weights: csr_array

    @property
    def n_bytes(self) -> int:
        """Bytes of the sparse matrix's three arrays."""
        return int(self.weights.data.nbytes + self.weights.indices.nbytes + self.weights.indptr.nbytes)

    def search(self, queries: Queries) -> Floats:
        """BM25 of every chunk for every query; a word counts as often as the query says it."""
        asked = self.words.asked(queries.text, words).counts[:, : self.weights.shape[0]]
        # Every score is added up in the order of the words' spelling, as it is for pairs: equal to the last bit.
        asked.sort_indices()
        return np.asarray((asked @ self.weights).toarray(), dtype=np.float64)


def index(pool: Pool) -> OkapiIndex:
    """The pool's chunks as words, lower-cased, with rank_bm25's weights.

    idf = ln(N - df + 0.5) - ln(df + 0.5); one that is negative becomes 0.25 × the mean idf of all words. A word
    weighs in a document idf × tf (k1 + 1) / (tf + k1 (1 - b + b × length / mean length)).
    """
    found = pool.counted(words)
    tf = found.counts
    if not found.vocabulary:
        return OkapiIndex(found, csr_array((0, len(pool)), dtype=np.float64))
    n_holding = np.bincount(tf.indices, minlength=len(found.vocabulary))
    idf = _idf(len(pool), np.bincount(n_holding, minlength=len(pool) + 1))
    length = found.n_tokens
    slope = np.repeat(_slope(length, length.mean()), np.diff(tf.indptr))
    weights = csr_array((_weight(idf[n_holding[tf.indices]], tf.data, slope), tf.indices, tf.indptr), shape=tf.shape)
    return OkapiIndex(found, csr_array(weights.T.tocsr()))


def _idf(n_documents: int, n_words: Integers) -> Floats:
    """The idf of a word by how many documents hold it, given how many words so many hold."""
    holding = np.arange(n_documents + 1)
    idf: Floats = np.log(n_documents - holding + 0.5) - np.log(holding + 0.5)
    # Added up one by one, so that the sum is the same wherever the numbers stand.
    total = np.cumsum(idf[1:] * n_words[1:])[-1]
    return np.where(idf < 0, EPSILON * total / n_words[1:].sum(), idf)


def _slope(length: Floats, mean: Floats | np.float64) -> Floats:
    """What the length of a document adds to a word's frequency in it."""
    return K1 * (1 - B + B * length / mean)


def _weight(idf: Floats, tf: Floats, slope: Floats) -> Floats:
    return idf * (tf * (K1 + 1) / (tf + slope))


def score_pairs(pairs: Pairs) -> Floats:
    """BM25 of the chunks of many small pools, each for its one query, with the weights that its index would have."""
    held = pairs.texts.counted(words)
    asked = held.asked(pairs.queries.text, words)
    n_pools = len(pairs.queries)
    length = held.n_tokens[pairs.text]
    size = np.bincount(pairs.owner, minlength=n_pools)
    total = np.bincount(pairs.owner, length, minlength=n_pools)
    # A pool of no word at all has no token that would need its mean.
    mean = np.divide(total, size, out=np.ones(n_pools), where=total > 0)
    slope = _slope(length, mean[pairs.owner])
    scores = np.zeros(len(pairs))
    for met in meetings(held.counts, pairs.text, pairs.owner, asked.counts):
        weight = _weight(_idf_of(met, size[met.pools]), met.n, slope[met.chunks][met.chunk])
        scores[met.chunks] = met.per_chunk(met.asked * weight)
    return scores


def _idf_of(met: Met, size: Integers) -> Floats:
    """The idf of every token, by the chunks of its own pool alone."""
    n_holding, width = met.n_holding(), int(size.max(initial=0)) + 1
    place = met.pool * width + n_holding
    # A word that d chunks hold stands here d times.
    n_tokens = np.bincount(place, minlength=len(size) * width).reshape(len(size), width)
    n_words = n_tokens // np.maximum(np.arange(width), 1)
    idf = np.zeros((len(size), width))
    for pool in np.flatnonzero(n_words.any(axis=1)):
        idf[pool, : size[pool] + 1] = _idf(int(size[pool]), n_words[pool, : size[pool] + 1])
    return np.take(idf, place)


BM25_OKAPI = Retriever(
    name="bm25-okapi",
    title="BM25 (Okapi)",
    meaning="Words the query and a chunk share, each weighed by how rare it is in the pool and damped by the chunk's "
    "length. Words are `\\w+`, lower-cased; the scores are those of rank_bm25's BM25Okapi.",
    index=index,
    source="rank_bm25 0.2.2, BM25Okapi",
    parameters={"k1": K1, "b": B, "epsilon": EPSILON, "tokens": "words"},
    pairs=score_pairs,
)
