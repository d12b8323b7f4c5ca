"""BM25 as the package rank_bm25 computes it."""

from __future__ import annotations

from functools import partial

from evaluate.retrievers import Retriever
from evaluate.retrievers._bm25 import ARGUMENTS, EPSILON, Weighting, index, okapi_idf, score_pairs, with_numbers
from lake.text import words

OKAPI = Weighting(words, okapi_idf, has_gain=True)


def with_arguments(arguments: str) -> Retriever:
    """The same with another k1 or b."""
    return with_numbers(BM25_OKAPI, OKAPI, arguments)


BM25_OKAPI = Retriever(
    name="bm25-okapi",
    title="BM25 (Okapi)",
    meaning="Words the query and a chunk share, each weighed by how rare it is in the pool and damped by the chunk's "
    "length. Words are `\\w+`, lower-cased; the scores are those of rank_bm25's BM25Okapi.",
    index=partial(index, weighting=OKAPI),
    source="rank_bm25 0.2.2, BM25Okapi",
    parameters={"k1": OKAPI.k1, "b": OKAPI.b, "epsilon": EPSILON, "tokens": "words"},
    pairs=partial(score_pairs, weighting=OKAPI),
    arguments=ARGUMENTS,
    with_arguments=with_arguments,
)
