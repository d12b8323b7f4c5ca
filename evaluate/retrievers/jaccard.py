"""One-gram Jaccard: how much of two sets of tokens is in both."""

from __future__ import annotations

from functools import partial

import numpy as np

from evaluate.retrievers import POOLS_AT_ONCE, Floats, Index, Pool, Retriever, _codegen
from evaluate.retrievers._shared_tokens import once, token_index
from evaluate.texts.tokens import REGEX_TOKENS, Counted, Tokenizer


def index(pool: Pool, *, tokens: Tokenizer = REGEX_TOKENS) -> Index:
    """The pool's chunks as sets of tokens."""
    chunks = pool.counted(tokens)
    n_of_chunks = pool.spread(chunks.n_different)

    def share(both: Floats, queries: Counted) -> Floats:
        """Tokens in both over tokens in either; 0 where neither has any."""
        either = queries.n_different[:, None] + n_of_chunks - both
        return np.divide(both, either, out=np.zeros_like(both), where=either > 0)

    return token_index(pool, tokens, np.ones(chunks.counts.nnz), once, score=share)


JACCARD_REGEX = Retriever(
    name="jaccard-regex",
    title="Jaccard of token sets",
    meaning="The share of the different tokens of query and chunk that both have. Tokens are identifiers, numbers and "
    "single marks, case kept.",
    index=index,
    source="Ours: the Jaccard index of token sets. It is not RepoCoder's search, whose query, windows and "
    "ties are others.",
    parameters={"tokens": "regex"},
    n_side_by_side=POOLS_AT_ONCE,
)

JACCARD_CODEGEN = Retriever(
    name="jaccard-codegen",
    title="Jaccard of CodeGen's token sets",
    meaning="The share of the different tokens of query and chunk that both have. Tokens are those of CodeGen-350M.",
    index=partial(index, tokens=_codegen.codegen_tokens),
    source="RepoBench's lexical retriever",
    parameters=_codegen.parameters(),
    tasks=("repobench-r/official", "repobench-r/chunks"),
    missing=_codegen.missing,
    n_side_by_side=POOLS_AT_ONCE,
)
