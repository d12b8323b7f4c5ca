"""BM25: as the package rank_bm25 computes it, as Lucene does, and over the words in identifiers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import Literal

import numpy as np

from evaluate.retrievers import POOLS_AT_ONCE, Floats, Index, Integers, Pool, Retriever
from evaluate.retrievers._arguments import number, values_in
from evaluate.retrievers._shared_tokens import lucene_idf, n_holding, token_index
from evaluate.texts.tokens import CASED_WORDS, WORDS, Refined, Tokenizer

EPSILON = 0.25
_PART = re.compile("U+(?!l)|U?l+|n+")


@lru_cache(maxsize=100_000)
def word_parts(word: str) -> tuple[str, ...]:
    """A word and, where there are several, the words in it, lower-cased: `HTTPServer2` → httpserver2, http, server, 2.

    It is cut at underscores, between small and capital letters, before the last of several capitals that a small letter
    follows, and between letters and digits.
    """
    shape = "".join("U" if c.isupper() else "n" if c.isnumeric() else "_" if c == "_" else "l" for c in word)
    parts = [word[part.start() : part.end()].lower() for part in _PART.finditer(shape)]
    whole = word.lower()
    return (whole,) if parts in ([], [whole]) else (whole, *parts)


def okapi_idf(n_documents: int, n_words: Integers) -> Floats:
    """ln(N - df + 0.5) - ln(df + 0.5) for df = 0 to N; where it is negative, 0.25 × the mean idf of all words.

    `n_words` is how many words so many documents hold.
    """
    holding = np.arange(n_documents + 1)
    idf: Floats = np.log(n_documents - holding + 0.5) - np.log(holding + 0.5)
    if not n_words[1:].any():
        return idf
    # Added up one by one, so that the sum is the same wherever the numbers stand.
    total = np.cumsum(idf[1:] * n_words[1:])[-1]
    return np.where(idf < 0, EPSILON * total / n_words[1:].sum(), idf)


Idf = Callable[[int, Integers], Floats]
"""`idf(n_documents, n_words)` → the idf of a word that 0, 1, … documents hold."""


def index(pool: Pool, tokens: Tokenizer, idf: Idf, *, k1: float, b: float, has_gain: bool = False) -> Index:
    """The pool's chunks as words, weighed by the numbers of their own pool.

    A word weighs in a chunk idf × tf × gain / (tf + k1 (1 - b + b × length / mean length)); the gain is k1 + 1, or 1,
    which orders chunks alike.
    """
    words_of_chunks = pool.counted(tokens)
    tf, length, owner = words_of_chunks.counts, words_of_chunks.n_tokens, pool.owner
    # A pool of no word at all has no token that would need its mean.
    mean = np.maximum(np.bincount(owner, length, minlength=len(pool.sizes)), 1) / np.maximum(pool.sizes, 1)
    slope = k1 * (1 - b + b * length / mean[owner])
    rarity = [
        idf(n, np.bincount(holding, minlength=n + 1))[holding]
        for n, holding in zip(pool.sizes.tolist(), n_holding(words_of_chunks).reshape(len(pool.sizes), -1), strict=True)
    ]
    gain = k1 + 1 if has_gain else 1.0
    weights = np.concatenate(rarity)[tf.indices] * (tf.data * gain / (tf.data + np.repeat(slope, np.diff(tf.indptr))))
    return token_index(pool, tokens, weights)


def _variant(
    name: str,
    title: str,
    rule: Callable[..., Index],
    runs: Literal["always", "asked"] = "asked",
    *,
    k1: float = 1.5,
    b: float = 0.75,
    meaning: str,
    source: str,
    settings: Mapping[str, object],
) -> Retriever:
    """A variant of BM25, which may be called with another k1 and b, written as `k1=1.2:b=0.75`."""

    def with_numbers(arguments: str) -> Retriever:
        hint = f"Write {name}:k1={k1:g}:b={b:g}, or leave one out; b is from 0 to 1."
        readers: Mapping[str, Callable[[str], float]] = {"k1": number, "b": partial(number, most=1)}
        numbers = {"k1": k1, "b": b, **values_in(name, arguments, readers, hint)}
        called, titled = f"{name}:{arguments}", f"{title}, {arguments.replace(':', ' ')}"
        return _variant(called, titled, rule, runs, **numbers, meaning=meaning, source=source, settings=settings)

    return Retriever(
        name=name,
        title=title,
        meaning=meaning,
        index=partial(rule, k1=k1, b=b),
        source=source,
        parameters={"k1": k1, "b": b, **settings},
        runs=runs,
        n_side_by_side=POOLS_AT_ONCE,
        arguments=":k1=NUMBER:b=NUMBER",
        with_arguments=with_numbers,
    )


BM25_OKAPI = _variant(
    "bm25-okapi",
    "BM25 (Okapi)",
    partial(index, tokens=WORDS, idf=okapi_idf, has_gain=True),
    "always",
    meaning="Words the query and a chunk share, each weighed by how rare it is in the pool and damped by the chunk's "
    "length. Words are `\\w+`, lower-cased; the scores are those of rank_bm25's BM25Okapi.",
    source="rank_bm25 0.2.2, BM25Okapi",
    settings={"epsilon": EPSILON, "tokens": "words"},
)

BM25_LUCENE = _variant(
    "bm25-lucene",
    "BM25 (Lucene)",
    partial(index, tokens=WORDS, idf=lucene_idf),
    meaning="Words the query and a chunk share, each weighed by how rare it is in the pool and damped by the chunk's "
    "length; no word weighs less than nothing. Words are `\\w+`, lower-cased; the scores are those of bm25s' method "
    "`lucene`.",
    source="bm25s 0.3, method lucene (Kamphuis et al., Which BM25 Do You Mean?, ECIR 2020); k1 and b are bm25s' own, "
    "where Lucene's k1 is 1.2",
    settings={"tokens": "words"},
)

BM25_CODE = _variant(
    "bm25-code",
    "BM25 of identifiers and their words",
    partial(index, tokens=Refined(CASED_WORDS, word_parts), idf=lucene_idf),
    meaning="As bm25-lucene, but an identifier is also the words in it: it is cut at underscores, changes of case and "
    "digits, and the whole of it is kept beside its parts.",
    source="bm25-lucene's weights. The whole is kept as in BLUiR (Saha et al., Improving bug localization using "
    "structured information retrieval, ASE 2013), which indexes both.",
    settings={"tokens": "words and their parts"},
)
