"""Vectors made elsewhere, looked up by the hash of the text they stand for, and compared by cosine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluate.retrievers import Answer, Floats, Integers, Pool, Queries, Retriever, Vectors
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


@dataclass(frozen=True)
class RecordedIndex:
    """The vectors of a pool's chunks.

    Attributes:
        vectors: All that were given.
        chunks: The pool's different vectors, scaled to length one.
        row: The row of `chunks` for each chunk: equal texts have one row, so that they score alike to the last bit.
    """

    vectors: Vectors
    chunks: Floats
    row: Integers

    @property
    def n_bytes(self) -> int:
        """Bytes of the matrix."""
        return int(self.chunks.nbytes)

    def search(self, queries: Queries) -> Answer:
        """The cosine of every query's and chunk's vectors; a query without a vector fails alone."""
        keys = [key_of(text) for text in queries.text]
        missing = {
            row: f"no vector for the query, key {key}" for row, key in enumerate(keys) if key not in self.vectors.row
        }
        known = [self.vectors.row.get(key, 0) for key in keys]
        cosines = _unit(self.vectors.matrix[known]) @ self.chunks.T
        return Answer(cosines[:, self.row], missing)


def index(pool: Pool) -> RecordedIndex:
    """Look up every chunk.

    Raises:
        NoVectorsError: None were given.
        MissingVectorError: A chunk has none, so no query of this pool can be answered.
    """
    if pool.vectors is None:
        raise NoVectorsError
    different, row = np.unique(_looked_up(pool.vectors, chunk_keys(pool)), return_inverse=True)
    return RecordedIndex(pool.vectors, _unit(pool.vectors.matrix[different]), row)


def _looked_up(vectors: Vectors, keys: Sequence[str]) -> list[int]:
    missing = [key for key in keys if key not in vectors.row]
    if missing:
        what = "chunks"
        raise MissingVectorError(what, len(missing), missing[0])
    return [vectors.row[key] for key in keys]


def _unit(matrix: Floats) -> Floats:
    length = np.linalg.norm(matrix, axis=1, keepdims=True)
    unit: Floats = np.divide(matrix, length, out=np.zeros_like(matrix), where=length > 0)
    return unit


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
