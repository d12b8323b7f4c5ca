"""RepoBench's edit similarity: difflib's ratio of two lists of tokens."""

from __future__ import annotations

from collections import defaultdict
from difflib import SequenceMatcher
from functools import partial

import numpy as np

from evaluate.retrievers import Floats, Pool, Queries, Retriever, Scan, _codegen
from evaluate.texts.tokens import Tokenizer
from lake.text import regex_tokens


def _score(pool: Pool, queries: Queries, *, tokens: Tokenizer = regex_tokens) -> Floats:
    """The ratio of every query and chunk; of pools side by side that of every chunk and the query of its own.

    It is `difflib.SequenceMatcher(None, query, text).ratio()`: in that order, which matters, and taking tokens that are
    frequent in a long text for junk, as is its default.
    """
    tokens_of = [tokens(query) for query in queries.text]
    queries_of = [[query] for query in pool.owner.tolist()] if pool.side_by_side else [range(len(queries))] * len(pool)
    chunks_of: dict[str, list[int]] = defaultdict(list)
    for chunk, text in enumerate(pool.text):
        chunks_of[text].append(chunk)
    ratios = np.zeros((1 if pool.side_by_side else len(queries), len(pool)))
    matcher = SequenceMatcher[str](None)
    for text, chunks in chunks_of.items():
        # What the matcher works out of a text is used for all of the text's queries.
        matcher.set_seq2(tokens(text))
        for chunk in chunks:
            for row, query in enumerate(queries_of[chunk]):
                matcher.set_seq1(tokens_of[query])
                ratios[row, chunk] = matcher.ratio()
    return pool.spread(ratios)


EDIT_REGEX = Retriever(
    name="edit-regex",
    title="Edit similarity of tokens",
    meaning="How much of query and candidate is left in common when one list of tokens is turned into the other: twice "
    "the matching tokens over all tokens of both, as Python's difflib finds them. Tokens are identifiers, numbers and "
    "single marks, case kept.",
    index=partial(Scan, score=_score),
    source="RepoBench's lexical retriever, with a regular expression for its tokenizer",
    parameters={"tokens": "regex"},
    tasks=("repobench-r/official",),
    n_side_by_side=1_000_000,
)

EDIT_CODEGEN = Retriever(
    name="edit-codegen",
    title="Edit similarity of CodeGen's tokens",
    meaning="How much of query and candidate is left in common when one list of tokens is turned into the other: twice "
    "the matching tokens over all tokens of both, as Python's difflib finds them. Tokens are those of CodeGen-350M.",
    index=partial(Scan, score=partial(_score, tokens=_codegen.codegen_tokens)),
    source="RepoBench's lexical retriever",
    parameters=_codegen.parameters(),
    tasks=("repobench-r/official",),
    missing=_codegen.missing,
    n_side_by_side=1_000_000,
)
