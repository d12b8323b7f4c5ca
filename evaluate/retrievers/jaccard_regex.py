"""One-gram Jaccard: how much of two sets of tokens is in both."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from evaluate.retrievers import Floats, Pairs, Pool, Queries, Retriever
from evaluate.tokens import Counted, Tokenizer, meetings
from lake.text import regex_tokens


@dataclass(frozen=True)
class TokenSets:
    """Which tokens each chunk holds.

    Attributes:
        found: How often each chunk says each token.
        holds: (tokens, chunks), one where a chunk holds a token.
        tokens: What cuts a text into tokens.
    """

    found: Counted
    holds: csr_array
    tokens: Tokenizer = regex_tokens

    @property
    def n_bytes(self) -> int:
        """Bytes of the sparse matrix's three arrays."""
        return int(self.holds.data.nbytes + self.holds.indices.nbytes + self.holds.indptr.nbytes)

    def search(self, queries: Queries) -> Floats:
        """Tokens in both over tokens in either, for every query and chunk; 0 where neither has any."""
        asked = self.found.asked(queries.text, self.tokens)
        both = np.asarray((_sets(asked.counts[:, : self.holds.shape[0]]) @ self.holds).toarray(), dtype=np.float64)
        either = asked.n_different[:, None] + self.found.n_different[None, :] - both
        return np.divide(both, either, out=np.zeros_like(both), where=either > 0)


def index(pool: Pool, *, tokens: Tokenizer = regex_tokens) -> TokenSets:
    """The pool's chunks as sets of tokens."""
    found = pool.counted(tokens)
    return TokenSets(found, csr_array(_sets(found.counts).T.tocsr()), tokens)


def score_pairs(pairs: Pairs, *, tokens: Tokenizer = regex_tokens) -> Floats:
    """The same of many small pools, each for its one query."""
    held = pairs.texts.counted(tokens)
    asked = held.asked(pairs.queries.text, tokens)
    both = np.zeros(len(pairs))
    for met in meetings(held.counts, pairs.text, pairs.owner, asked.counts):
        both[met.chunks] = met.per_chunk()
    either = asked.n_different[pairs.owner] + held.n_different[pairs.text] - both
    return np.divide(both, either, out=np.zeros_like(both), where=either > 0)


def _sets(counts: csr_array) -> csr_array:
    return csr_array((np.ones(counts.nnz), counts.indices, counts.indptr), shape=counts.shape)


JACCARD_REGEX = Retriever(
    name="jaccard-regex",
    title="Jaccard of token sets",
    meaning="The share of the different tokens of query and chunk that both have. Tokens are identifiers, numbers and "
    "single marks, case kept.",
    index=index,
    source="Ours: the Jaccard index of token sets. It is not RepoCoder's search, whose query, windows and "
    "ties are others.",
    parameters={"tokens": "regex"},
    pairs=score_pairs,
)
