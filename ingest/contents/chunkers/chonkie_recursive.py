"""Chonkie's recursive chunker: a text cut at paragraphs, then lines, then sentences, as far as it is too long."""

from __future__ import annotations

from functools import cache

from ingest.contents.chunkers import Chunker, Cut, Document
from ingest.contents.chunkers._library import OF_CHONKIE, Chunking, by_texts


def chonkie_recursive(document: Document, n: int) -> Cut:
    """At most `n` characters each, white space included, by the library's own rules for prose."""
    return by_texts(document, n, lambda text: [one.text for one in _chunker(n).chunk(text)])


@cache
def _chunker(n: int) -> Chunking:
    from chonkie import RecursiveChunker

    chunker: Chunking = RecursiveChunker(chunk_size=n)
    return chunker


CHONKIE_RECURSIVE = Chunker(
    name="chonkie-recursive-<n>",
    title="Chonkie, recursive, n characters",
    meaning="Cuts what exceeds n characters at blank lines, then at lines, marks and blanks.",
    chunk=chonkie_recursive,
    library="chonkie",
    also=OF_CHONKIE,
    source="chonkie's RecursiveChunker with its own rules; its own n is 2,048.",
)
