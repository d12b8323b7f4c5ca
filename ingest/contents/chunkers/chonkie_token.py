"""Chonkie's token chunker: a text cut after every so many tokens, wherever that is."""

from __future__ import annotations

from functools import cache

from ingest.contents.chunkers import Chunker, Cut, Document
from ingest.contents.chunkers._library import OF_CHONKIE, Chunking, by_texts


def chonkie_token(document: Document, n: int) -> Cut:
    """`n` tokens each, of the tokenizer that the library takes by itself: characters, white space included."""
    return by_texts(document, n, lambda text: [one.text for one in _chunker(n).chunk(text)])


@cache
def _chunker(n: int) -> Chunking:
    from chonkie import TokenChunker

    chunker: Chunking = TokenChunker(chunk_size=n)
    return chunker


CHONKIE_TOKEN = Chunker(
    name="chonkie-token-<n>",
    title="Chonkie, tokens, n characters",
    meaning="Cuts after every n characters, inside a line or a word if need be.",
    chunk=chonkie_token,
    library="chonkie",
    also=OF_CHONKIE,
    source="chonkie's TokenChunker with its own tokenizer, which is characters; its own n is 2,048.",
)
