"""Identifiers that a query and a chunk share, the rare ones first: what a search by names alone can do."""

from __future__ import annotations

import re

import numpy as np

from evaluate.retrievers import Pool, Retriever
from evaluate.retrievers._bm25 import lucene_idf
from evaluate.retrievers._weights import TokenWeights, n_holding, once
from evaluate.retrievers.bm25_code import cased_words
from evaluate.tokens import Refined

KEYWORDS = frozenset((
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
    return [word] if _NAME.match(word) and word not in KEYWORDS else []


NAMES = Refined(cased_words, _names)


def index(pool: Pool) -> TokenWeights:
    """The pool's chunks as sets of identifiers, each as rare as ln(1 + (N - df + 0.5) / (df + 0.5))."""
    found = pool.counted(NAMES)
    rarity = lucene_idf(len(pool), np.zeros(0, np.int64))[n_holding(found)]
    return TokenWeights.of(found, rarity[found.counts.indices], NAMES, once)


IDENTIFIERS = Retriever(
    name="identifiers",
    title="Shared identifiers",
    meaning="The rarity (BM25's idf) of the different identifiers that query and chunk both have, added up: not how "
    "often they stand there, nor how long the chunk is. Case is kept; keywords, numbers, and literals that are words "
    "(`None`, `true`) do not count, words in strings and comments do.",
    index=index,
    source="Ours: what is left of BM25 without frequencies and lengths, over names alone.",
    parameters={"tokens": "identifiers"},
    runs="asked",
)
