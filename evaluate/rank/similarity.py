"""The similarity of every chunk of every item's pool to the gold snippet: shares of tokens and of identifiers.

Every text is tokenized once, however many items contain it. The token sets are rows of a sparse matrix.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl
import scipy

from lake.exact import Integers

_KEYWORDS = ("if", "else", "for", "while", "return", "class", "def", "import", "from")
"""The words that match the pattern of identifiers but are left out: exactly these."""

# ECMAScript's white space, written out: it includes U+FEFF, but not U+0085 or U+001C to U+001F, which others include.
_WORD = r"[^\t-\r \x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}\x{FEFF}]+"
# It ends at the last letter, digit or underscore, which is an ASCII word boundary by itself.
_IDENTIFIER = r"(?-u:\b)[a-zA-Z_][a-zA-Z0-9_]*"

PAIRS_AT_ONCE = 4_096
"""The number of chunks compared at a time, each with its own item's snippet."""


def similarities(chunks: pl.DataFrame, texts: pl.DataFrame, gold: pl.DataFrame) -> pl.DataFrame:
    """Both similarities of every chunk to the gold snippet of the item whose pool contains it, in the chunks' order.

    - `jaccard`: distinct tokens (between white space) in both texts over those in either; 0 if there are none.
    - `identifier_overlap`: distinct identifiers in both over those of the chunk; 0 if the chunk has none.

    Args:
        chunks: item_id, path, chunk_no, text_id: one row per item and chunk of its pool.
        texts: text_id, text: all texts of chunks and gold, each once; others are ignored.
        gold: item_id, text_id: the gold snippet of an item, at most one. Chunks of items without one are left out.
    """
    snippets = gold.lazy().join(chunks.lazy(), on="item_id", how="semi", maintain_order="left")
    used = pl.concat([chunks.lazy().select("text_id"), snippets.select("text_id")])
    texts = texts.lazy().join(used, on="text_id", how="semi", maintain_order="left").collect()
    rows = texts.lazy().select("text_id", row=pl.int_range(pl.len(), dtype=pl.Int64))
    golden = snippets.join(rows, on="text_id", how="left", maintain_order="left").with_row_index("owner").collect()
    owners = golden.lazy().select("item_id", "owner")
    of_chunks = chunks.lazy().join(owners, on="item_id", maintain_order="left")
    pairs = of_chunks.join(rows, on="text_id", how="left", maintain_order="left").collect()
    chunk, owner = pairs["row"].to_numpy(), pairs["owner"].to_numpy().astype(np.int64)
    snippet = golden["row"].fill_null(0).to_numpy()
    words, names = _sets(texts["text"], _WORD), _sets(texts["text"], _IDENTIFIER, _KEYWORDS)
    n_words, n_names = np.diff(words.indptr), np.diff(names.indptr)
    n_both = _shared(words, chunk, owner, snippet)
    return pairs.select("item_id", "path", "chunk_no").with_columns(
        jaccard=_ratio(n_both, n_words[chunk] + n_words[snippet][owner] - n_both),
        identifier_overlap=_ratio(_shared(names, chunk, owner, snippet), n_names[chunk]),
    )


def _sets(texts: pl.Series, pattern: str, left_out: tuple[str, ...] = ()) -> scipy.sparse.csr_array:
    """The distinct matches of a pattern in each text: a matrix of ones, with a row per text and a column per token."""
    matches = texts.str.extract_all(pattern)
    token, row = matches.explode(empty_as_null=False), np.repeat(np.arange(len(texts)), matches.list.len().to_numpy())
    is_taken = ~token.is_in(left_out)
    # The category numbers, as the tokens themselves are not needed.
    column = token.filter(is_taken).cast(pl.Categorical).to_physical().to_numpy()
    row = row[is_taken.to_numpy()]
    shape = (len(texts), int(column.max(initial=0)) + 1)
    matrix = scipy.sparse.csr_array((np.ones(len(row)), (row, column)), shape=shape)
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix


def _shared(sets: scipy.sparse.csr_array, chunk: Integers, owner: Integers, snippet: Integers) -> Integers:
    """The number of tokens that each chunk shares with its item's snippet."""
    both = np.zeros(len(owner), np.int64)
    for first in range(0, len(chunk), PAIRS_AT_ONCE):
        last = first + PAIRS_AT_ONCE
        both[first:last] = sets[chunk[first:last]].multiply(sets[snippet[owner[first:last]]]).sum(axis=1)
    return both


def _ratio(numerator: Integers, denominator: Integers) -> npt.NDArray[np.float64]:
    return np.divide(numerator, denominator, out=np.zeros(len(numerator)), where=denominator > 0)
