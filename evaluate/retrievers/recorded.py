"""Vectors made elsewhere, looked up by the hash of the text they stand for, and compared by cosine."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from evaluate.retrievers import Index, Pool, Retriever
from evaluate.retrievers._cosine import cosine_index
from evaluate.vectors import GIVEN, Vectors, VectorStore
from lake.errors import GoldspanError
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


def index(pool: Pool) -> Index:
    """Look up every chunk.

    Raises:
        GoldspanError: No vectors were given, or a chunk has none, so that no query of this pool can be answered.
    """
    store = pool.vectors
    if store is None or store.n_cut(GIVEN).is_empty():
        message = "the lake holds no vectors; give them with python -m evaluate --vectors FILE"
        raise GoldspanError(message)
    keys = chunk_keys(pool)
    vectors = store.read(GIVEN, keys)
    missing = [key for key in keys if key not in vectors.row]
    if missing:
        message = f"no vector for {len(missing):,} chunks, the first with key {missing[0]}"
        raise GoldspanError(message)
    return cosine_index(partial(_of_queries, store), keys, vectors)


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
