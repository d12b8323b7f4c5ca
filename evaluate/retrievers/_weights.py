"""Chunks as weights of tokens, and queries as weights of the same: every score is their product."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from evaluate.retrievers import Floats, Integers, Queries
from evaluate.tokens import Counted, Tokenizer


def as_said(counts: csr_array) -> csr_array:
    """A token counts as often as the query says it."""
    return counts


def once(counts: csr_array) -> csr_array:
    """A token counts once, however often it is said."""
    return csr_array((np.ones(counts.nnz), counts.indices, counts.indptr), shape=counts.shape)


@dataclass(frozen=True)
class TokenWeights:
    """Every chunk's weight for every token it holds.

    Attributes:
        found: How often each chunk says each token.
        weights: (tokens, chunks).
        tokens: What cuts a query into tokens.
        asking: What a query's counts of the pool's tokens, of shape (queries, tokens), weigh.
    """

    found: Counted
    weights: csr_array
    tokens: Tokenizer
    asking: Callable[[csr_array], csr_array] = as_said

    @classmethod
    def of(
        cls,
        found: Counted,
        weights: Floats,
        tokens: Tokenizer,
        asking: Callable[[csr_array], csr_array] = as_said,
    ) -> TokenWeights:
        """An index of a weight for every stored count, in the counts' own order."""
        counts = found.counts
        by_chunk = csr_array((weights, counts.indices, counts.indptr), shape=counts.shape)
        return cls(found, csr_array(by_chunk.T.tocsr()), tokens, asking)

    @property
    def n_bytes(self) -> int:
        """Bytes of the sparse matrix's three arrays."""
        return int(self.weights.data.nbytes + self.weights.indices.nbytes + self.weights.indptr.nbytes)

    def search(self, queries: Queries) -> Floats:
        """The sum over the query's tokens of its weight times the chunk's."""
        asked = csr_array(self.found.asked(queries.text, self.tokens).counts[:, : self.weights.shape[0]])
        # Every score is added up in the order of the tokens' spelling, as it is for pairs: equal to the last bit.
        asked.sort_indices()
        return np.asarray((self.asking(asked) @ self.weights).toarray(), dtype=np.float64)


def n_holding(found: Counted) -> Integers:
    """How many chunks hold each token."""
    return np.bincount(found.counts.indices, minlength=len(found.vocabulary))
