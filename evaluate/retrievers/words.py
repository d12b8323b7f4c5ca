"""Retrieval by shared words and names, weighted by rarity: BM25, TF-IDF, identifiers, definitions."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache, partial

import numpy as np
import scipy

from evaluate.retrievers import POOLS_AT_ONCE, Floats, Index, Integers, Pool, Queries, Retriever, number, values_in
from evaluate.texts.tokens import CASED_WORDS, WORDS, Counted, Refined, Tokenizer, defined_names


def lucene_idf(n_documents: Integers, holding: Integers, _: Integers) -> Floats:
    """ln(1 + (N - df + 0.5) / (df + 0.5)) for words in `holding` (df) of N documents, which is never negative."""
    idf: Floats = np.log(1 + (n_documents - holding + 0.5) / (holding + 0.5))
    return idf


def n_holding(chunks: Counted) -> Integers:
    """The number of chunks that contain each token."""
    return np.bincount(chunks.counts.indices, minlength=chunks.counts.shape[1])


def once(counts: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
    """Token counts with every count set to 1."""
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
    """An index whose scores are sparse dot products: over shared tokens, the sum of chunk weight × query weight.

    `weights` are those of the stored counts of `chunks`. `asking` turns the queries' counts of the pool's tokens into
    weights. `score` maps the sums and the queries' counts to scores.
    """
    chunks = pool.text.counted(tokens) if chunks is None else chunks
    counts = chunks.counts
    weighed = scipy.sparse.csr_array((weights, counts.indices, counts.indptr), shape=counts.shape)

    def search(queries: Queries) -> Floats:
        words = chunks.of_queries(queries.text.counted(tokens))
        wanted = asking(scipy.sparse.csr_array(words.counts[:, : counts.shape[1]]))
        # A chunk's tokens are sorted, so every score is summed in the order of their spelling, whatever else is in the
        # pool, and is bit-identical.
        if pool.side_by_side:
            # Each pool has its own columns, so the queries' weights are one row.
            row = np.zeros(counts.shape[1])
            row[wanted.indices] = wanted.data
            shared = np.asarray(weighed @ row, dtype=np.float64)
        else:
            shared = np.asarray((weighed @ wanted.T.tocsr()).toarray(), dtype=np.float64).T
        return score(pool.spread(shared), words)

    # The three arrays of the sparse matrix.
    return Index(search, int(weighed.data.nbytes + weighed.indices.nbytes + weighed.indptr.nbytes))


EPSILON = 0.25
_PART = re.compile("U+(?!l)|U?l+|n+")


@lru_cache(maxsize=100_000)
def word_parts(word: str) -> tuple[str, ...]:
    """A word and the words in it, if several, in lower case: `HTTPServer2_a` → httpserver2_a, http, server, 2, a."""
    shape = "".join("U" if c.isupper() else "n" if c.isnumeric() else "_" if c == "_" else "l" for c in word)
    parts = [word[part.start() : part.end()].lower() for part in _PART.finditer(shape)]
    whole = word.lower()
    return (whole,) if parts in ([], [whole]) else (whole, *parts)


def okapi_idf(n_documents: Integers, holding: Integers, n_words: Integers) -> Floats:
    """ln(N - df + 0.5) - ln(df + 0.5) for df = `holding`; if negative, 0.25 × the mean over all words of its pool."""
    idf: Floats = np.log(n_documents - holding + 0.5) - np.log(holding + 0.5)
    # Summed one by one, so that the result does not depend on the position of the numbers.
    total = np.cumsum(idf * n_words, axis=1)[:, -1:]
    return np.where(idf < 0, EPSILON * total / np.maximum(n_words.sum(axis=1, keepdims=True), 1), idf)


Idf = Callable[[Integers, Integers, Integers], Floats]
"""`idf(n_documents, holding, n_words)` → idf, of shape (pools, document frequencies), as `n_words` is."""


def bm25(pool: Pool, tokens: Tokenizer, idf: Idf, *, k1: float, b: float, has_gain: bool = False) -> Index:
    """A BM25 index with the statistics of the pool itself.

    A word's weight is idf × tf × gain / (tf + k1 (1 - b + b × length / mean length)), with a gain of k1 + 1 or 1.
    """
    words_of_chunks = pool.text.counted(tokens)
    tf, owner = words_of_chunks.counts, pool.owner
    length = np.asarray(tf.sum(axis=1), np.float64)
    # The mean of a pool without words is never used.
    mean = np.maximum(np.bincount(owner, length, minlength=len(pool.sizes)), 1) / np.maximum(pool.sizes, 1)
    slope = k1 * (1 - b + b * length / mean[owner])
    # The number of words of each pool by document frequency, then their idf.
    holding, shape = n_holding(words_of_chunks), (len(pool.sizes), int(pool.sizes.max(initial=0)) + 1)
    first = np.arange(shape[0]) * shape[1]
    n_words = np.bincount(holding + np.repeat(first, len(holding) // shape[0]), minlength=shape[0] * shape[1])
    # No word is in more chunks than its pool has: columns beyond that are not used.
    frequency = np.minimum(np.arange(shape[1]), pool.sizes[:, None])
    rarity = idf(pool.sizes[:, None], frequency, np.where(frequency > 0, n_words.reshape(shape), 0))
    of_words = np.repeat(owner, np.diff(tf.indptr)), holding[tf.indices]
    gain = k1 + 1 if has_gain else 1.0
    weights = rarity[of_words] * (tf.data * gain / (tf.data + np.repeat(slope, np.diff(tf.indptr))))
    return token_index(pool, tokens, weights)


def _with_numbers(plain: Retriever, k1: float = 1.5, b: float = 0.75) -> Retriever:
    """A BM25 retriever with k1 and b, which takes other values as arguments."""
    rule: Callable[..., Index] = plain.index

    def with_arguments(arguments: str) -> Retriever:
        hint = f"Write {plain.name}:k1={k1:g}:b={b:g}, or leave one out; b is from 0 to 1."
        readers: Mapping[str, Callable[[str], float]] = {"k1": number, "b": partial(number, most=1)}
        numbers = {"k1": k1, "b": b, **values_in(plain.name, arguments, readers, hint)}
        title = f"{plain.title}, {arguments.replace(':', ' ')}"
        return _with_numbers(replace(plain, name=f"{plain.name}:{arguments}", title=title), **numbers)

    return replace(
        plain,
        index=partial(rule, k1=k1, b=b),
        parameters={**plain.parameters, "k1": k1, "b": b},
        n_side_by_side=POOLS_AT_ONCE,
        arguments=":k1=NUMBER:b=NUMBER",
        with_arguments=with_arguments,
    )


BM25_OKAPI = _with_numbers(
    Retriever(
        name="bm25-okapi",
        title="BM25 (Okapi)",
        meaning="The words that query and chunk share, weighted by their rarity in the pool; long chunks are "
        "discounted. Words are `\\w+`, lower-cased; scores equal those of rank_bm25's BM25Okapi.",
        index=partial(bm25, tokens=WORDS, idf=okapi_idf, has_gain=True),
        source="rank_bm25 0.2.2, BM25Okapi",
        parameters={"epsilon": EPSILON, "tokens": "words"},
    )
)

BM25_LUCENE = _with_numbers(
    Retriever(
        name="bm25-lucene",
        title="BM25 (Lucene)",
        meaning="The words that query and chunk share, weighted by their rarity in the pool; long chunks are "
        "discounted, and no weight is negative. Words are `\\w+`, lower-cased; scores equal those of bm25s' method "
        "`lucene`.",
        index=partial(bm25, tokens=WORDS, idf=lucene_idf),
        source="bm25s 0.3, method lucene (Kamphuis et al., Which BM25 Do You Mean?, ECIR 2020); k1 and b are bm25s' "
        "defaults; Lucene's k1 is 1.2",
        parameters={"tokens": "words"},
        runs="asked",
    )
)

BM25_CODE = _with_numbers(
    Retriever(
        name="bm25-code",
        title="BM25 of identifiers and their words",
        meaning="Like bm25-lucene, but the parts of an identifier also count as words: it is split at underscores, "
        "changes of case and digits, and kept whole as well.",
        index=partial(bm25, tokens=Refined(CASED_WORDS, word_parts), idf=lucene_idf),
        source="bm25-lucene's weights. Identifiers are indexed whole and in parts, as in BLUiR (Saha et al., Improving "
        "bug localization using structured information retrieval, ASE 2013).",
        parameters={"tokens": "words and their parts"},
        runs="asked",
    )
)


def tfidf(pool: Pool) -> Index:
    """An index over the chunks' unit vectors of (1 + ln tf) × idf."""
    chunks = pool.text.counted(WORDS)
    # Smoothed as if one more chunk contained every word.
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
    meaning="The cosine of the word vectors of query and chunk, with weights (1 + ln tf) × (ln((1 + N) / (1 + df)) + "
    "1). Words are `\\w+`, lower-cased; query words that are in no chunk are ignored.",
    index=tfidf,
    source="Weights ltc of Salton and Buckley (1988), the idf smoothed as in scikit-learn's "
    "TfidfVectorizer(sublinear_tf=True)",
    parameters={"tokens": "words", "weights": "ltc"},
    runs="asked",
)

_KEYWORDS = frozenset((
    "abstract", "and", "as", "assert", "async", "await", "bool", "boolean", "break", "byte", "case", "catch", "char",
    "class", "const", "continue", "def", "default", "defer", "del", "do", "double", "elif", "else", "enum", "except",
    "export", "extends", "extern", "final", "finally", "float", "fn", "for", "foreach", "from", "func", "function",
    "global", "go", "goto", "if", "impl", "implements", "import", "in", "include", "instanceof", "int", "interface",
    "is", "lambda", "let", "long", "mut", "namespace", "new", "nil", "nonlocal", "not", "None", "null", "nullptr",
    "or", "package", "pass", "private", "protected", "pub", "public", "raise", "return", "self", "short", "signed",
    "sizeof", "static", "struct", "super", "switch", "synchronized", "template", "this", "throw", "throws", "try",
    "typedef", "typeof", "undefined", "union", "unsigned", "use", "using", "var", "virtual", "void", "volatile",
    "while", "with", "yield", "True", "False", "true", "false",
))  # fmt: skip
"""Keywords and literal words of all languages in one list, as a pool may contain several languages."""

_NAME = re.compile(r"[^\W\d]")


_IDENTIFIER_WORDS = Refined(CASED_WORDS, lambda word: [word] if _NAME.match(word) and word not in _KEYWORDS else [])


def shared_names(pool: Pool) -> Index:
    """An index over the chunks' sets of identifiers, each weighted by ln(1 + (N - df + 0.5) / (df + 0.5))."""
    names = pool.text.counted(_IDENTIFIER_WORDS)
    rarity = lucene_idf(np.array(len(pool)), n_holding(names), np.zeros(0, np.int64))
    return token_index(pool, _IDENTIFIER_WORDS, rarity[names.counts.indices], once)


def by_definitions(pool: Pool) -> Index:
    """An index over the names that chunks define, weighted by ln(1 + all definitions / those of the name)."""
    names = pool.text.counted(defined_names)
    n_defined = np.asarray(names.counts.sum(axis=0)).ravel()
    weights = np.log1p(n_defined.sum() / n_defined)[names.counts.indices]
    return token_index(
        pool, CASED_WORDS, weights, once, chunks=names, score=lambda rarity, _: np.where(rarity > 0, rarity, np.nan)
    )


IDENTIFIERS = Retriever(
    name="identifiers",
    title="Shared identifiers",
    meaning="The sum of the rarity (BM25's idf) of the different identifiers that query and chunk share; neither their "
    "frequency nor the chunk's length counts. Case matters; keywords, numbers and literal words (`None`, `true`) are "
    "ignored, words in strings and comments are not.",
    index=shared_names,
    source="Ours: BM25 without frequencies and lengths, over names only.",
    parameters={"tokens": "identifiers"},
    runs="asked",
)

SYMBOLS = Retriever(
    name="symbols",
    title="Definitions of names",
    meaning="Only chunks in which a definition begins whose name is in the query. The score is the sum over these "
    "names of ln(1 + definitions in the pool / definitions of the name). Names are whole identifiers, and case "
    "matters. Definitions are functions, methods, classes and other named types, and macros.",
    index=by_definitions,
    source="Ours: an editor's go to definition, for every name in the query.",
    parameters={"rules": "docs"},
    needs="definitions",
    runs="asked",
    # Other tasks have no stored definitions: their candidates are snippets, not files.
    tasks=("repoeval/prompt", "contextbench/issue"),
)
