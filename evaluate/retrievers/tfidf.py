"""Cosine of tf-idf vectors: the vector space model, with weights ltc."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from evaluate.retrievers import Floats, Integers, Pool, Retriever
from evaluate.retrievers._weights import TokenWeights, n_holding
from lake.text import words


@dataclass(frozen=True)
class Cosine:
    """What counts of words weigh: (1 + ln tf) × idf, divided by the length of the vector.

    Attributes:
        idf: Of every word.
    """

    idf: Floats

    def __call__(self, counts: csr_array) -> csr_array:
        """The weights, of the counts' own shape."""
        weight = (1 + np.log(counts.data)) * self.idf[counts.indices]
        row = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
        length = np.sqrt(np.bincount(row, weight**2, minlength=counts.shape[0]))
        return csr_array((weight / length[row], counts.indices, counts.indptr), shape=counts.shape)


def smooth_idf(n_documents: int, holding: Integers) -> Floats:
    """ln((1 + N) / (1 + df)) + 1: as if one more chunk held every word."""
    idf: Floats = np.log((1 + n_documents) / (1 + holding)) + 1
    return idf


def index(pool: Pool) -> TokenWeights:
    """The pool's chunks as vectors of length one."""
    found = pool.counted(words)
    cosine = Cosine(smooth_idf(len(pool), n_holding(found)))
    return TokenWeights.of(found, cosine(found.counts).data, words, cosine)


TFIDF = Retriever(
    name="tfidf",
    title="TF-IDF, cosine",
    meaning="The cosine of query and chunk as vectors of words, each (1 + ln tf) × (ln((1 + N) / (1 + df)) + 1). Words "
    "are `\\w+`, lower-cased; those of a query that no chunk holds count for nothing.",
    index=index,
    source="Weights ltc of Salton and Buckley (1988), the idf smoothed as scikit-learn's TfidfVectorizer(sublinear_tf="
    "True) does",
    parameters={"tokens": "words", "weights": "ltc"},
    runs="asked",
)
