"""BM25 as Lucene and the package bm25s compute it."""

from __future__ import annotations

from functools import partial

from evaluate.retrievers import Retriever
from evaluate.retrievers._bm25 import ARGUMENTS, Weighting, index, lucene_idf, score_pairs, with_numbers
from lake.text import words

LUCENE = Weighting(words, lucene_idf)


def with_arguments(arguments: str) -> Retriever:
    """The same with another k1 or b."""
    return with_numbers(BM25_LUCENE, LUCENE, arguments)


BM25_LUCENE = Retriever(
    name="bm25-lucene",
    title="BM25 (Lucene)",
    meaning="Words the query and a chunk share, each weighed by how rare it is in the pool and damped by the chunk's "
    "length; no word weighs less than nothing. Words are `\\w+`, lower-cased; the scores are those of bm25s' method "
    "`lucene`.",
    index=partial(index, weighting=LUCENE),
    source="bm25s 0.3, method lucene (Kamphuis et al., Which BM25 Do You Mean?, ECIR 2020); k1 and b are bm25s' own, "
    "where Lucene's k1 is 1.2",
    parameters={"k1": LUCENE.k1, "b": LUCENE.b, "tokens": "words"},
    runs="asked",
    pairs=partial(score_pairs, weighting=LUCENE),
    arguments=ARGUMENTS,
    with_arguments=with_arguments,
)
