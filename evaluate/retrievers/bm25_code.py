"""BM25 over identifiers and the words in them: `getUserName` is found by `user_name` too."""

from __future__ import annotations

import re
from functools import lru_cache, partial

from evaluate.retrievers import Retriever
from evaluate.retrievers._bm25 import ARGUMENTS, Weighting, index, lucene_idf, score_pairs, with_numbers
from evaluate.tokens import Refined

_CASED = re.compile(r"\w+")
_PART = re.compile("U+(?!l)|U?l+|n+")


def cased_words(text: str) -> list[str]:
    r"""The words `\w+`, case kept."""
    return _CASED.findall(text)


@lru_cache(maxsize=100_000)
def parts_of(word: str) -> tuple[str, ...]:
    """A word and, where there are several, the words in it, lower-cased: `HTTPServer2` → httpserver2, http, server, 2.

    It is cut at underscores, between small and capital letters, before the last of several capitals that a small letter
    follows, and between letters and digits.
    """
    shape = "".join("U" if one.isupper() else "n" if one.isnumeric() else "_" if one == "_" else "l" for one in word)
    parts = [word[part.start() : part.end()].lower() for part in _PART.finditer(shape)]
    whole = word.lower()
    return (whole,) if parts in ([], [whole]) else (whole, *parts)


CODE = Weighting(Refined(cased_words, parts_of), lucene_idf)


def with_arguments(arguments: str) -> Retriever:
    """The same with another k1 or b."""
    return with_numbers(BM25_CODE, CODE, arguments)


BM25_CODE = Retriever(
    name="bm25-code",
    title="BM25 of identifiers and their words",
    meaning="As bm25-lucene, but an identifier is also the words in it: it is cut at underscores, changes of case and "
    "digits, and the whole of it is kept beside its parts.",
    index=partial(index, weighting=CODE),
    source="bm25-lucene's weights. The whole is kept as in BLUiR (Saha et al., Improving bug localization using "
    "structured information retrieval, ASE 2013), which indexes both.",
    parameters={"k1": CODE.k1, "b": CODE.b, "tokens": "words and their parts"},
    runs="asked",
    pairs=partial(score_pairs, weighting=CODE),
    arguments=ARGUMENTS,
    with_arguments=with_arguments,
)
