"""Names that a query and a chunk share, the rare ones first; and chunks that define the names a query mentions."""

from __future__ import annotations

import re

import numpy as np

from evaluate.retrievers import Index, Pool, Retriever
from evaluate.retrievers._shared_tokens import lucene_idf, n_holding, once, token_index
from evaluate.texts.tokens import CASED_WORDS, Refined

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
"""Words of the languages themselves, and literals that are words: one list for all, as a pool may hold several."""

_NAME = re.compile(r"[^\W\d]")


def _names(word: str) -> list[str]:
    return [word] if _NAME.match(word) and word not in _KEYWORDS else []


_IDENTIFIER_WORDS = Refined(CASED_WORDS, _names)


def shared(pool: Pool) -> Index:
    """The pool's chunks as sets of identifiers, each as rare as ln(1 + (N - df + 0.5) / (df + 0.5))."""
    names = pool.counted(_IDENTIFIER_WORDS)
    rarity = lucene_idf(len(pool))[n_holding(names)]
    return token_index(pool, _IDENTIFIER_WORDS, rarity[names.counts.indices], once)


def defined(pool: Pool) -> Index:
    """The names that the pool's chunks define, each as rare as ln(1 + all definitions / those of the name).

    A chunk that defines no mentioned name is left out.
    """
    names = pool.definitions()
    n_defined = np.asarray(names.counts.sum(axis=0)).ravel()
    weights = np.log1p(n_defined.sum() / n_defined)[names.counts.indices]
    return token_index(
        pool, CASED_WORDS, weights, once, chunks=names, score=lambda rarity, _: np.where(rarity > 0, rarity, np.nan)
    )


IDENTIFIERS = Retriever(
    name="identifiers",
    title="Shared identifiers",
    meaning="The rarity (BM25's idf) of the different identifiers that query and chunk both have, added up: not how "
    "often they stand there, nor how long the chunk is. Case is kept; keywords, numbers, and literals that are words "
    "(`None`, `true`) do not count, words in strings and comments do.",
    index=shared,
    source="Ours: what is left of BM25 without frequencies and lengths, over names alone.",
    parameters={"tokens": "identifiers"},
    runs="asked",
)

SYMBOLS = Retriever(
    name="symbols",
    title="Definitions of names",
    meaning="The chunks in which a definition begins whose name the query mentions, and no others: ln(1 + definitions "
    "in the pool / those of that name), added up over the names. A name is a whole identifier, case kept; definitions "
    "are those of the rules `docs`.",
    index=defined,
    source="Ours: an editor's go to definition, for every name in the query.",
    parameters={"rules": "docs"},
    needs="definitions",
    runs="asked",
    # Elsewhere no definitions are stored: candidates are snippets of no file.
    tasks=("repoeval/prompt", "contextbench/issue"),
)
