"""What a model has made of a text is kept in the lake, so that nothing is given to it twice."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from evaluate.embedding.encoder import BATCH, Encoder, Tokens, encoder_of
from evaluate.embedding.encoder import Vectors as Made
from evaluate.embedding.models import Model
from evaluate.embedding.vectors import Vectors, VectorStore
from lake.fingerprint import sha256_of

PART = 32 * BATCH
"""How many vectors are stored at once; when work is broken off, what is done is stored."""


def key_of(text: str) -> str:
    """What a text's vector is found by: the sha256 of the text in UTF-8."""
    return sha256_of(text.encode(errors="surrogatepass"))


@dataclass(frozen=True)
class Side:
    """How queries, or how documents, become vectors.

    Attributes:
        model: By which model.
        prefix: What is written in front of each.
        cut: The side from which what is too long is cut.
        max_length: How many tokens the model is given at most; None for as many as it says itself.
    """

    model: Model
    prefix: str
    cut: Literal["left", "right"]
    max_length: int | None = None

    @property
    def maker(self) -> str:
        """What tells these vectors from all others of the same texts."""
        return self.model.identity(prefix=self.prefix, cut=self.cut, max_length=self.max_length)

    def embed(self, store: VectorStore, texts: Mapping[str, str]) -> Generator[None, None, None]:
        """Make the vectors of texts, by their keys, and store them; batch by batch."""
        encoder = encoder_of(self.model, max_length=self.max_length)
        tokens = list(encoder.cutter.texts(list(texts.values()), prefix=self.prefix, cut=self.cut))
        yield from keep(store, self.maker, encoder, list(texts), tokens)

    def vectors(self, store: VectorStore, texts: Sequence[str]) -> tuple[list[str], Vectors]:
        """The keys of texts, and the vectors of all: those that there are not yet are made."""
        keys = [key_of(text) for text in texts]
        found = store.read(self.maker, keys)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in found.row}
        if missing:
            for _ in self.embed(store, missing):
                pass
            found = store.read(self.maker, keys)
        return keys, found


def keep(
    store: VectorStore, maker: str, encoder: Encoder, keys: Sequence[str], tokens: Sequence[Tokens]
) -> Generator[None, None, None]:
    """Store what a model makes of texts, part by part, yielding after every batch.

    Args:
        store: Where.
        maker: What tells it from what other models make.
        encoder: The model in memory.
        keys: What each text is found by.
        tokens: The texts.
    """
    done: list[tuple[list[int], Made]] = []

    def store_them() -> None:
        places = [place for batch, _ in done for place in batch]
        if places:
            made = np.concatenate([made for _, made in done])
            store.add(maker, [keys[place] for place in places], made, [tokens[place].n_cut for place in places])
        done.clear()

    try:
        for batch in encoder.batches(tokens, keys):
            done.append(batch)
            if len(done) * BATCH >= PART:
                store_them()
            yield
    finally:
        store_them()
