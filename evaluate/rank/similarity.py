"""The similarity of every chunk of every item's pool to the gold snippet: shares of tokens and of identifiers."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import scipy

from evaluate.texts.pieces import lines_of, pieces, sum_of_lines
from evaluate.texts.tokens import Refined, Texts
from lake.exact import Floats, Integers

_KEYWORDS = frozenset(("if", "else", "for", "while", "return", "class", "def", "import", "from"))
"""The words that match the pattern of identifiers but are left out: exactly these."""

# ECMAScript's white space, written out: it includes U+FEFF, but not U+0085 or U+001C to U+001F, which others include.
_WORD = r"[^\t-\r \x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}\x{FEFF}]+"
# It ends at the last letter, digit or underscore, which is an ASCII word boundary by itself.
_IDENTIFIER = re.compile(r"\b[a-zA-Z_][a-zA-Z0-9_]*", re.ASCII)

PAIRS_AT_ONCE = 1_024
"""The number of chunks compared at a time, each with its own item's snippet."""


# No identifier crosses the ends of a piece.
_IDENTIFIERS = Refined(pieces, lambda piece: [name for name in _IDENTIFIER.findall(piece) if name not in _KEYWORDS])


def similarities(chunks: pl.DataFrame, texts: Texts, gold: pl.DataFrame, snippets: Texts) -> pl.DataFrame:
    """Both similarities of every chunk to the gold snippet of the item whose pool contains it, in the chunks' order.

    - `jaccard`: distinct tokens (between white space) in both texts over those in either; 0 if there are none.
    - `identifier_overlap`: distinct identifiers in both over those of the chunk; 0 if the chunk has none.

    `text` in `chunks` is a row of `texts`, `snippet` in `gold` one of `snippets`; an item without one is left out.
    """
    pairs = chunks.lazy().join(gold.lazy(), on="item_id", maintain_order="left").collect()
    chunk, snippet = pairs["text"].to_numpy(), pairs["snippet"].to_numpy()
    words = _word_sets(pl.concat([texts.series, snippets.series]))
    names = texts.counted(_IDENTIFIERS)
    golden = names.of_queries(snippets.counted(_IDENTIFIERS))
    n_words, n_names = np.diff(words.indptr), names.n_different
    n_both = _shared(words, chunk, words, len(texts) + snippet)
    return pairs.select("item_id", "path", "chunk_no").with_columns(
        jaccard=_ratio(n_both, n_words[chunk] + n_words[len(texts) + snippet] - n_both),
        identifier_overlap=_ratio(_shared(names.counts, chunk, golden.counts, snippet), n_names[chunk]),
    )


def _word_sets(texts: pl.Series) -> scipy.sparse.csr_array:
    """The distinct words of each text: a matrix with a row per text and a column per word."""
    distinct, line, first_line = lines_of(texts)
    words = distinct.str.extract_all(_WORD)
    column = words.explode(empty_as_null=False).cast(pl.Categorical).to_physical().to_numpy()
    ends = np.append(0, np.cumsum(words.list.len().to_numpy(), dtype=np.int64))
    shape = (len(distinct), int(column.max(initial=0)) + 1)
    of_lines = scipy.sparse.csr_array((np.ones(len(column), np.int32), column, ends), shape=shape)
    return sum_of_lines(line, first_line, of_lines)


def _shared(
    sets: scipy.sparse.csr_array, chunk: Integers, golden: scipy.sparse.csr_array, snippet: Integers
) -> Integers:
    """The number of tokens that each chunk shares with its item's snippet."""
    both = np.zeros(len(chunk), np.int64)
    # Reused, as clearing its few marks costs less than new memory.
    is_golden = np.zeros((PAIRS_AT_ONCE, golden.shape[1]), np.bool_)
    for first in range(0, len(chunk), PAIRS_AT_ONCE):
        pairs = slice(first, first + PAIRS_AT_ONCE)
        snippets, row = np.unique(snippet[pairs], return_inverse=True)
        marked, of_chunks = golden[snippets], sets[chunk[pairs]]
        marks = np.repeat(np.arange(len(snippets)), np.diff(marked.indptr)), marked.indices
        is_golden[marks] = True
        is_shared = is_golden[np.repeat(row, np.diff(of_chunks.indptr)), of_chunks.indices]
        both[pairs] = np.diff(np.append(0, np.cumsum(is_shared))[of_chunks.indptr])
        is_golden[marks] = False
    return both


def _ratio(numerator: Integers, denominator: Integers | Floats) -> Floats:
    return np.divide(numerator, denominator, out=np.zeros(len(numerator)), where=denominator > 0)
