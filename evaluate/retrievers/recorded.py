"""Vectors made elsewhere, looked up by the hash of the text they stand for, and compared by cosine."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from evaluate.retrievers import Pool, Retriever
from evaluate.retrievers._cosine import CosineIndex
from evaluate.vectors import GIVEN, Vectors, VectorStore
from lake.fingerprint import sha256_of

KEY_LENGTH = 16


def key_of(text: str) -> str:
    """The first 16 hex digits of the sha256 of a text in UTF-8."""
    return sha256_of(text.encode())[:KEY_LENGTH]


def chunk_keys(pool: Pool) -> list[str]:
    r"""The key of each chunk: its lines joined by `\n`.

    So there is no newline after a chunk's last line, but in a file's last chunk, which keeps the file's own end.
    """
    ends_file = pool.line_end == pool.n_file_lines
    return [
        key_of(text if is_last else text.removesuffix("\n")) for text, is_last in zip(pool.text, ends_file, strict=True)
    ]


class NoVectorsError(ValueError):
    """There is nothing to look up."""

    def __init__(self) -> None:
        super().__init__("the lake holds no vectors; give them with python -m evaluate --vectors FILE")


class MissingVectorError(ValueError):
    """Some text has no vector."""

    def __init__(self, what: str, n_missing: int, first: str) -> None:
        super().__init__(f"no vector for {n_missing:,} {what}, the first with key {first}")


def index(pool: Pool) -> CosineIndex:
    """Look up every chunk.

    Raises:
        NoVectorsError: None were given.
        MissingVectorError: A chunk has none, so no query of this pool can be answered.
    """
    store = pool.vectors
    if store is None or store.n_cut(GIVEN).is_empty():
        raise NoVectorsError
    keys = chunk_keys(pool)
    vectors = store.read(GIVEN, keys)
    missing = [key for key in keys if key not in vectors.row]
    if missing:
        what = "chunks"
        raise MissingVectorError(what, len(missing), missing[0])
    return CosineIndex(partial(_of_queries, store), vectors.matrix, np.array([vectors.row[key] for key in keys]))


def _of_queries(store: VectorStore, texts: Sequence[str]) -> tuple[Sequence[str], Vectors]:
    keys = [key_of(text) for text in texts]
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
