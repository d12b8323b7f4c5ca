"""What a model has made of a text is kept in the lake, so that nothing is given to it twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from evaluate.embedding.encoder import BATCH, Made, Text, encoder_of
from evaluate.embedding.models import Model
from evaluate.embedding.vectors import Vectors, VectorStore
from lake.fingerprint import sha256_of

PART = 16 * BATCH
"""How many vectors are made and stored at once; when work is broken off, what is stored stays."""


def key_of(text: str) -> str:
    """What a text's vector is found by: the sha256 of the text in UTF-8."""
    return sha256_of(text.encode(errors="surrogatepass"))


@dataclass(frozen=True)
class Side:
    """How queries, or how documents, become vectors: with a prefix, and from which side what is too long is cut."""

    model: Model
    prefix: str
    cut: Literal["left", "right"]
    max_length: int | None = None

    @property
    def maker(self) -> str:
        """What tells these vectors from all others of the same texts."""
        return self.model.identity(prefix=self.prefix, cut=self.cut, max_length=self.max_length)

    def embed(self, store: VectorStore, texts: Mapping[str, str]) -> Iterator[None]:
        """Make the vectors of texts, by their keys, and store them; part by part."""
        return keep(store, self.maker, texts, self._made)

    def vectors(self, store: VectorStore, texts: Sequence[str]) -> tuple[list[str], Vectors]:
        """The keys of texts, and the vectors of all: those that there are not yet are made."""
        keys = [key_of(text) for text in texts]
        return keys, kept(store, self.maker, dict(zip(keys, texts, strict=True)), self._made)

    def _made(self, texts: Sequence[str]) -> Made:
        return encoder_of(self.model, max_length=self.max_length).vectors(texts, self.prefix, self.cut)


def keep(
    store: VectorStore, maker: str, texts: Mapping[str, Text], make: Callable[[Sequence[Text]], Made]
) -> Iterator[None]:
    """Store what a model makes of texts, by their keys; yields after every part."""
    every = iter(texts)
    while keys := list(islice(every, PART)):
        store.add(maker, keys, *make([texts[key] for key in keys]))
        yield


def kept(store: VectorStore, maker: str, texts: Mapping[str, Text], make: Callable[[Sequence[Text]], Made]) -> Vectors:
    """What the lake keeps of texts, by their keys; what is not there yet is made."""
    vectors = store.read(maker, texts)
    missing = {key: text for key, text in texts.items() if key not in vectors.row}
    if not missing:
        return vectors
    for _ in keep(store, maker, missing, make):
        pass
    return store.read(maker, texts)
