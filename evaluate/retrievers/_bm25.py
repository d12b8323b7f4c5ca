"""BM25 in its variants, for one pool as a sparse product, and for many small ones side by side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from evaluate.retrievers import Floats, Integers, Pairs, Pool, Retriever
from evaluate.retrievers._arguments import numbers_in
from evaluate.retrievers._weights import TokenWeights, n_holding
from evaluate.tokens import Met, Tokenizer, meetings
from lake.errors import Exit, GoldspanError

EPSILON = 0.25
ARGUMENTS = ":k1=NUMBER:b=NUMBER"


def okapi_idf(n_documents: int, n_words: Integers) -> Floats:
    """ln(N - df + 0.5) - ln(df + 0.5) for df = 0 to N; where it is negative, 0.25 × the mean idf of all words.

    Args:
        n_documents: N.
        n_words: How many words so many documents hold.
    """
    holding = np.arange(n_documents + 1)
    idf: Floats = np.log(n_documents - holding + 0.5) - np.log(holding + 0.5)
    # Added up one by one, so that the sum is the same wherever the numbers stand.
    total = np.cumsum(idf[1:] * n_words[1:])[-1]
    return np.where(idf < 0, EPSILON * total / n_words[1:].sum(), idf)


def lucene_idf(n_documents: int, _: Integers) -> Floats:
    """ln(1 + (N - df + 0.5) / (df + 0.5)) for df = 0 to N, which is never negative."""
    holding = np.arange(n_documents + 1)
    idf: Floats = np.log(1 + (n_documents - holding + 0.5) / (holding + 0.5))
    return idf


@dataclass(frozen=True)
class Weighting:
    """A variant of BM25: a word weighs in a chunk idf × tf × gain / (tf + k1 (1 - b + b × length / mean length)).

    Attributes:
        tokens: What cuts a text into words.
        idf: `idf(n_documents, n_words)` → the idf of a word that 0, 1, … documents hold.
        k1: How slowly a word's frequency saturates.
        b: How much a chunk's length counts.
        has_gain: Whether the gain is k1 + 1; otherwise it is 1, which orders chunks alike.
    """

    tokens: Tokenizer
    idf: Callable[[int, Integers], Floats]
    k1: float = 1.5
    b: float = 0.75
    has_gain: bool = False

    def slope(self, length: Floats, mean: Floats | np.float64) -> Floats:
        """What the length of a chunk adds to a word's frequency in it."""
        return self.k1 * (1 - self.b + self.b * length / mean)

    def weight(self, idf: Floats, tf: Floats, slope: Floats) -> Floats:
        """What words weigh."""
        gain = self.k1 + 1 if self.has_gain else 1.0
        return idf * (tf * gain / (tf + slope))


def index(pool: Pool, weighting: Weighting) -> TokenWeights:
    """The pool's chunks as words, weighed."""
    found = pool.counted(weighting.tokens)
    tf = found.counts
    if not found.vocabulary:
        return TokenWeights.of(found, tf.data, weighting.tokens)
    holding = n_holding(found)
    idf = weighting.idf(len(pool), np.bincount(holding, minlength=len(pool) + 1))
    length = found.n_tokens
    slope = np.repeat(weighting.slope(length, length.mean()), np.diff(tf.indptr))
    return TokenWeights.of(found, weighting.weight(idf[holding[tf.indices]], tf.data, slope), weighting.tokens)


def score_pairs(pairs: Pairs, weighting: Weighting) -> Floats:
    """The chunks of many small pools, each for its one query, with the weights that its index would have."""
    held = pairs.texts.counted(weighting.tokens)
    asked = held.asked(pairs.queries.text, weighting.tokens)
    n_pools = len(pairs.queries)
    length = held.n_tokens[pairs.text]
    size = np.bincount(pairs.owner, minlength=n_pools)
    total = np.bincount(pairs.owner, length, minlength=n_pools)
    # A pool of no word at all has no token that would need its mean.
    mean = np.divide(total, size, out=np.ones(n_pools), where=total > 0)
    slope = weighting.slope(length, mean[pairs.owner])
    scores = np.zeros(len(pairs))
    for met in meetings(held.counts, pairs.text, pairs.owner, asked.counts):
        idf = _idf_of(met, size[met.pools], weighting)
        scores[met.chunks] = met.per_chunk(met.asked * weighting.weight(idf, met.n, slope[met.chunks][met.chunk]))
    return scores


def _idf_of(met: Met, size: Integers, weighting: Weighting) -> Floats:
    """The idf of every token, by the chunks of its own pool alone."""
    n_holding, width = met.n_holding(), int(size.max(initial=0)) + 1
    place = met.pool * width + n_holding
    # A word that d chunks hold stands here d times.
    n_tokens = np.bincount(place, minlength=len(size) * width).reshape(len(size), width)
    n_words = n_tokens // np.maximum(np.arange(width), 1)
    idf = np.zeros((len(size), width))
    for pool in np.flatnonzero(n_words.any(axis=1)):
        idf[pool, : size[pool] + 1] = weighting.idf(int(size[pool]), n_words[pool, : size[pool] + 1])
    return np.take(idf, place)


def with_numbers(retriever: Retriever, weighting: Weighting, arguments: str) -> Retriever:
    """The retriever with another k1 and b, written as `k1=1.2:b=0.75`, and called so.

    Args:
        retriever: What it is without arguments.
        weighting: How that weighs; what the arguments leave out stays.
        arguments: What is behind its name and colon.

    Raises:
        GoldspanError: They are no such numbers, or b is above 1.
    """
    numbers = numbers_in(retriever.name, arguments, k1=weighting.k1, b=weighting.b)
    if numbers["b"] > 1:
        message = f"retriever {retriever.name!r}: b is a share of the length, from 0 to 1, and not {numbers['b']:g}"
        raise GoldspanError(message, hint=f"Write {retriever.name}:b=0.75, for example.", code=Exit.USAGE)
    other = replace(weighting, k1=numbers["k1"], b=numbers["b"])
    return replace(
        retriever,
        name=f"{retriever.name}:{arguments}",
        title=f"{retriever.title}, {arguments.replace(':', ' ')}",
        index=partial(index, weighting=other),
        pairs=partial(score_pairs, weighting=other),
        parameters={**retriever.parameters, **numbers},
    )
