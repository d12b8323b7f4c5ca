"""What queries and chunks have in common: the tokens of both, each with the weight that it has in either."""

from collections.abc import Callable

import numpy as np
import scipy

from evaluate.retrievers import Floats, Index, Integers, Pool, Queries
from evaluate.texts.tokens import Counted, Tokenizer


def lucene_idf(n_documents: int, *_: Integers) -> Floats:
    """ln(1 + (N - df + 0.5) / (df + 0.5)) for df = 0 to N, which is never negative."""
    holding = np.arange(n_documents + 1)
    idf: Floats = np.log(1 + (n_documents - holding + 0.5) / (holding + 0.5))
    return idf


def n_holding(chunks: Counted) -> Integers:
    """How many chunks hold each token."""
    return np.bincount(chunks.counts.indices, minlength=chunks.counts.shape[1])


def once(counts: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
    """A token counts once, however often it is said."""
    return scipy.sparse.csr_array((np.ones(counts.nnz), counts.indices, counts.indptr), shape=counts.shape)


def token_index(
    pool: Pool,
    tokens: Tokenizer,
    weights: Floats,
    asking: Callable[[scipy.sparse.csr_array], scipy.sparse.csr_array] = lambda counts: counts,
    *,
    chunks: Counted | None = None,
    score: Callable[[Floats, Counted], Floats] = lambda shared, _: shared,
) -> Index:
    """A score is the sum over the tokens of query and chunk of the weight of each in both, one times the other.

    Args:
        pool: The chunks.
        tokens: What cuts a query into tokens.
        weights: One for every stored count, in the counts' own order.
        asking: What a query's counts of the pool's tokens, of shape (queries, tokens), weigh.
        chunks: The counts; those of the pool's tokens without it.
        score: What becomes of the sums, given the queries' counts.
    """
    chunks = pool.counted(tokens) if chunks is None else chunks
    counts = chunks.counts
    weighed = scipy.sparse.csr_array((weights, counts.indices, counts.indptr), shape=counts.shape)

    def search(queries: Queries) -> Floats:
        words = chunks.of_queries(queries.counted(tokens))
        of_pool = scipy.sparse.csr_array(words.counts[:, : counts.shape[1]])
        # A chunk's tokens ascend, so every score is added up in the order of their spelling, in whatever company: equal
        # to the last bit.
        shared = np.asarray((weighed @ asking(of_pool).T.tocsr()).toarray(), dtype=np.float64).T
        # Of pools side by side each chunk is met by the query of its own alone.
        return score(pool.spread(shared.sum(axis=0) if pool.side_by_side else shared), words)

    # Of the sparse matrix's three arrays.
    return Index(search, int(weighed.data.nbytes + weighed.indices.nbytes + weighed.indptr.nbytes))
