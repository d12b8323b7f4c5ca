"""Cosine of tf-idf vectors: the vector space model, with weights ltc."""

from __future__ import annotations

import numpy as np
import scipy

from evaluate.retrievers import Index, Pool, Retriever
from evaluate.retrievers._shared_tokens import n_holding, token_index
from evaluate.texts.tokens import WORDS


def index(pool: Pool) -> Index:
    """The pool's chunks as vectors of length one, of (1 + ln tf) × idf."""
    chunks = pool.counted(WORDS)
    # As if one more chunk held every word.
    idf = np.log((1 + len(pool)) / (1 + n_holding(chunks))) + 1

    def vectors(counts: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
        weight = (1 + np.log(counts.data)) * idf[counts.indices]
        row = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
        length = np.sqrt(np.bincount(row, weight**2, minlength=counts.shape[0]))
        return scipy.sparse.csr_array((weight / length[row], counts.indices, counts.indptr), shape=counts.shape)

    return token_index(pool, WORDS, vectors(chunks.counts).data, vectors)


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
