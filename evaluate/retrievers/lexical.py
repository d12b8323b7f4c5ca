"""RepoBench's lexical retrievers: Jaccard of token sets and edit similarity, each over two kinds of tokens."""

import os
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from difflib import SequenceMatcher
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from evaluate.retrievers import POOLS_AT_ONCE, Floats, Index, Pool, Queries, Retriever, Scan
from evaluate.retrievers.words import once, token_index
from evaluate.texts.tokens import REGEX_TOKENS, Counted, Tokenizer
from lake.fingerprint import sha256_of_file
from lake.text import regex_tokens

if TYPE_CHECKING:
    import tokenizers

_MODEL = "Salesforce/codegen-350M-mono"
_FILE = "tokenizer.json"
_FOLDER_VARIABLE = "GOLDSPAN_CODEGEN_TOKENIZER"


def _missing() -> str:
    given = f"{_FOLDER_VARIABLE}=FOLDER, a folder with the {_FILE} of {_MODEL}"
    if find_spec("tokenizers") is None:
        return f"First: .venv/bin/python -m pip install -c constraints.txt 'tokenizers>=0.23,<1'; then give {given}."
    return "" if _tokenizer_file() else f"Give {given}."


def _tokenizer_file() -> Path | None:
    folder = os.environ.get(_FOLDER_VARIABLE)
    return file if folder and (file := Path(folder, _FILE)).is_file() else None


def _parameters() -> Mapping[str, object]:
    """The tokens and the tokenizer, as shown on pages, with the hash of its file: another file means another run."""
    file = _tokenizer_file()
    return {"tokens": "codegen", "tokenizer": _MODEL, "tokenizer_sha256": sha256_of_file(file) if file else ""}


def codegen_tokens(text: str) -> list[str]:
    """The tokens of a text, without special tokens."""
    return list(_tokenizer().encode(text, add_special_tokens=False).tokens)


@cache
def _tokenizer() -> "tokenizers.Tokenizer":
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(_tokenizer_file()))
    # The file may set limits for a model that reads the tokens; here they are only compared.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def jaccard(pool: Pool, *, tokens: Tokenizer = REGEX_TOKENS) -> Index:
    """An index over the chunks' token sets."""
    chunks = pool.text.counted(tokens)
    n_of_chunks = pool.spread(chunks.n_different)

    def share(both: Floats, queries: Counted) -> Floats:
        """Shared tokens divided by tokens in either; 0 if neither has any."""
        either = queries.n_different[:, None] + n_of_chunks - both
        return np.divide(both, either, out=np.zeros_like(both), where=either > 0)

    return token_index(pool, tokens, np.ones(chunks.counts.nnz), once, score=share)


def edit_similarity(pool: Pool, queries: Queries, *, tokens: Tokenizer = regex_tokens) -> Floats:
    """`difflib.SequenceMatcher(None, query, text).ratio()` of every query and chunk of its pool.

    The order of the two matters, and, by difflib's default, frequent tokens of a long text are ignored as junk.
    """
    tokens_of = [tokens(query) for query in queries.text]
    queries_of = [[query] for query in pool.owner.tolist()] if pool.side_by_side else [range(len(queries))] * len(pool)
    chunks_of: dict[str, list[int]] = defaultdict(list)
    for chunk, text in enumerate(pool.text):
        chunks_of[text].append(chunk)
    ratios = np.zeros((1 if pool.side_by_side else len(queries), len(pool)))
    matcher = SequenceMatcher[str](None)
    for text, chunks in chunks_of.items():
        # The matcher's analysis of a text is reused for all queries to it.
        matcher.set_seq2(tokens(text))
        for chunk in chunks:
            for row, query in enumerate(queries_of[chunk]):
                matcher.set_seq1(tokens_of[query])
                ratios[row, chunk] = matcher.ratio()
    return pool.spread(ratios)


_JACCARD = "The number of different tokens in both query and chunk, divided by the number in either. Tokens are "
_EDIT = (
    "The similarity of the token lists of query and candidate: twice the matching tokens, divided by all tokens of "
    "both, as computed by Python's difflib. Tokens are "
)
_REGEX = "identifiers, numbers and single symbols; case matters."
_CODEGEN = "those of CodeGen-350M's tokenizer."

JACCARD_REGEX = Retriever(
    name="jaccard-regex",
    title="Jaccard of token sets",
    meaning=_JACCARD + _REGEX,
    index=jaccard,
    source="Ours: the Jaccard index of token sets. It is not RepoCoder's search, which has another "
    "query, other windows and another order of ties.",
    parameters={"tokens": "regex"},
    n_side_by_side=POOLS_AT_ONCE,
)

EDIT_REGEX = Retriever(
    name="edit-regex",
    title="Edit similarity of tokens",
    meaning=_EDIT + _REGEX,
    index=partial(Scan, score=edit_similarity),
    source="RepoBench's lexical retriever, with a regular expression as tokenizer",
    parameters={"tokens": "regex"},
    tasks=("repobench-r/official",),
    n_side_by_side=1_000_000,
)

JACCARD_CODEGEN = replace(
    JACCARD_REGEX,
    name="jaccard-codegen",
    title="Jaccard of CodeGen's token sets",
    meaning=_JACCARD + _CODEGEN,
    index=partial(jaccard, tokens=codegen_tokens),
    source="RepoBench's lexical retriever",
    parameters=_parameters(),
    tasks=("repobench-r/official", "repobench-r/chunks"),
    missing=_missing,
)

EDIT_CODEGEN = replace(
    JACCARD_CODEGEN,
    name="edit-codegen",
    title="Edit similarity of CodeGen's tokens",
    meaning=_EDIT + _CODEGEN,
    index=partial(Scan, score=partial(edit_similarity, tokens=codegen_tokens)),
    tasks=EDIT_REGEX.tasks,
    n_side_by_side=EDIT_REGEX.n_side_by_side,
)
