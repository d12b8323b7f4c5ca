"""How like the gold snippet a chunk is: shares of tokens and of identifiers, for every chunk of every item's pool.

Every text is cut into tokens once, whatever number of items hold it. The sets are rows of a sparse matrix.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl
import scipy

from lake.exact import Integers

_KEYWORDS = ("if", "else", "for", "while", "return", "class", "def", "import", "from")
"""What looks like an identifier and is left out: exactly these."""

# ECMAScript's white space, written out: U+FEFF is in it; U+0085 and U+001C to U+001F, white space elsewhere, are not.
_WORD = r"[^\t-\r \x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}\x{FEFF}]+"
# It ends where the last letter, digit or underscore does, which is a boundary of ASCII words by itself.
_IDENTIFIER = r"(?-u:\b)[a-zA-Z_][a-zA-Z0-9_]*"

PAIRS_AT_ONCE = 4_096
"""Chunks that are held each against its own item's snippet at a time."""


def similarities(chunks: pl.DataFrame, texts: pl.DataFrame, gold: pl.DataFrame) -> pl.DataFrame:
    """Both similarities of every chunk to the gold snippet of the item whose pool holds it, in the order of the chunks.

    - `jaccard`: distinct tokens (what stands between white space) in both texts over those in either; 0 for none.
    - `identifier_overlap`: distinct identifiers in both over those of the chunk; 0 where the chunk has none.

    Args:
        chunks: item_id, path, chunk_no, text_id: one row per item and chunk of its pool.
        texts: text_id, text: every text that chunks and gold name, each once, and any others.
        gold: item_id, text_id: the gold snippet of an item, at most one. Chunks of an item without are left out.
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
    """The distinct matches of a pattern in each text: a row per text, a column per token, ones."""
    matches = texts.str.extract_all(pattern)
    token, row = matches.explode(empty_as_null=False), np.repeat(np.arange(len(texts)), matches.list.len().to_numpy())
    is_taken = ~token.is_in(left_out)
    # The numbers of categories; a token needs no name here.
    column = token.filter(is_taken).cast(pl.Categorical).to_physical().to_numpy()
    row = row[is_taken.to_numpy()]
    shape = (len(texts), int(column.max(initial=0)) + 1)
    matrix = scipy.sparse.csr_array((np.ones(len(row)), (row, column)), shape=shape)
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix


def _shared(sets: scipy.sparse.csr_array, chunk: Integers, owner: Integers, snippet: Integers) -> Integers:
    """How many tokens each chunk has in common with its item's snippet."""
    both = np.zeros(len(owner), np.int64)
    for first in range(0, len(chunk), PAIRS_AT_ONCE):
        last = first + PAIRS_AT_ONCE
        both[first:last] = sets[chunk[first:last]].multiply(sets[snippet[owner[first:last]]]).sum(axis=1)
    return both


def _ratio(numerator: Integers, denominator: Integers) -> npt.NDArray[np.float64]:
    return np.divide(numerator, denominator, out=np.zeros(len(numerator)), where=denominator > 0)
