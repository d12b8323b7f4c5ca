"""Chonkie's code chunker: a syntax tree's nodes, grouped up to a size."""

from __future__ import annotations

from functools import cache

from ingest.contents.chunkers import Chunker, Cut, Document
from ingest.contents.chunkers._library import NOT_KNOWN, OF_CHONKIE, Chunking, by_texts, plain
from ingest.contents.syntax_trees import GRAMMARS


def chonkie_code(document: Document, n: int) -> Cut:
    """At most `n` characters each, white space included; as `fixed-nws-<n>` where the language is not known."""
    if not document.language:
        return plain(document, n, NOT_KNOWN)
    return by_texts(document, n, lambda text: [one.text for one in _chunker(document.language, n).chunk(text)])


@cache
def _chunker(language: str, n: int) -> Chunking:
    from chonkie.chunker import code
    from tree_sitter_language_pack import get_parser

    # It imports what it needs when it is made, the model that guesses languages too, where none is to be guessed.
    code.get_parser = get_parser
    without_guessing = type("CodeChunker", (code.CodeChunker,), {"_import_dependencies": lambda self: None})
    chunker: Chunking = without_guessing(chunk_size=n, language=language)
    return chunker


CHONKIE_CODE = Chunker(
    name="chonkie-code-<n>",
    title="Chonkie, code, n characters",
    meaning="Groups the syntax tree's nodes up to n characters, opening those that are larger.",
    chunk=chonkie_code,
    grammars=GRAMMARS,
    library="chonkie",
    also=OF_CHONKIE,
    source="chonkie's CodeChunker, told the language; its own n is 2,048.",
)
