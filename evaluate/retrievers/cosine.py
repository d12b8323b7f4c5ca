"""Chunks and queries compared by the cosine of their vectors, exactly: no index that leaves some out.

Here by vectors that were made elsewhere, looked up by the hash of the text they stand for; by a model's own in `dense`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from evaluate.embedding.vectors import GIVEN, KeyedVectors, VectorStore
from evaluate.retrievers import Floats, Index, Pool, PoolScores, Queries, Retriever
from lake.errors import GoldspanError
from lake.fingerprint import sha256_of

BLOCK = 16_384
"""How many vectors are compared at once: so many stand in memory in double precision."""

LookUp = Callable[[Sequence[str]], tuple[Sequence[str], KeyedVectors]]
"""From texts to their keys, and to the vectors of those that have one."""


def cosine_index(look_up: LookUp, keys: Sequence[str], chunks: KeyedVectors) -> Index:
    """The vectors of a pool's chunks, each found by its key: equal texts score alike to the last bit.

    `look_up` gives the vectors of queries.
    """
    matrix, row = chunks.matrix, np.array([chunks.row[key] for key in keys])

    def search(queries: Queries) -> PoolScores:
        """The cosine of every query's and chunk's vectors; a query without a vector fails alone."""
        keys, vectors = look_up(queries.text)
        missing = {row: f"no vector for the query, key {key}" for row, key in enumerate(keys) if key not in vectors.row}
        of_queries = np.zeros((len(keys), matrix.shape[1]))
        for query, key in enumerate(keys):
            if query not in missing:
                of_queries[query] = vectors.matrix[vectors.row[key]]
        of_queries = _unit(of_queries)
        blocks = range(0, len(matrix), BLOCK)
        cosines = [of_queries @ _unit(matrix[first : first + BLOCK].astype(np.float64)).T for first in blocks]
        return PoolScores(np.concatenate(cosines, axis=1)[:, row], missing)

    return Index(search, int(matrix.nbytes))


def _unit(matrix: Floats) -> Floats:
    length = np.linalg.norm(matrix, axis=1, keepdims=True)
    unit: Floats = np.divide(matrix, length, out=np.zeros_like(matrix), where=length > 0)
    return unit


KEY_LENGTH = 16


def text_key(text: str) -> str:
    """The first 16 hex digits of the sha256 of a text in UTF-8."""
    return sha256_of(text.encode())[:KEY_LENGTH]


def chunk_texts(pool: Pool) -> list[str]:
    r"""The text of each chunk as it is embedded: its lines joined by `\n`.

    So there is no newline after a chunk's last line, but in a file's last chunk, which keeps the file's own end.
    """
    ends_file = pool.line_end == pool.n_file_lines
    return [text if is_last else text.removesuffix("\n") for text, is_last in zip(pool.text, ends_file, strict=True)]


def index(pool: Pool) -> Index:
    """Look up every chunk; without a vector of each no query of the pool can be answered."""
    store = pool.vectors
    if store is None or store.n_cut(GIVEN).is_empty():
        raise GoldspanError("the lake holds no vectors; give them with python -m evaluate --vectors FILE")
    keys = [text_key(text) for text in chunk_texts(pool)]
    vectors = store.read(GIVEN, keys)
    missing = [key for key in keys if key not in vectors.row]
    if missing:
        raise GoldspanError(f"no vector for {len(missing):,} chunks, the first with key {missing[0]}")
    return cosine_index(partial(_of_queries, store), keys, vectors)


def _of_queries(store: VectorStore, texts: Sequence[str]) -> tuple[Sequence[str], KeyedVectors]:
    keys = [text_key(text) for text in texts]
    return keys, store.read(GIVEN, keys)


RECORDED = Retriever(
    name="recorded",
    title="Recorded vectors",
    meaning="The cosine of vectors that were made elsewhere and handed in, found by the hash of the text. A text "
    "without a vector fails its item.",
    index=index,
    parameters={"key": "first 16 hex digits of sha256"},
    needs="vectors",
    runs="named",
)
