"""LlamaIndex's splitter for code: a syntax tree's nodes, joined up to a size."""

from __future__ import annotations

from functools import cache

from ingest.contents.chunkers import Chunker, Cut, Document
from ingest.contents.chunkers._library import NOT_KNOWN, Splitter, by_texts, plain
from ingest.contents.syntax_trees import GRAMMARS


def llamaindex_code(document: Document, n: int) -> Cut:
    """At most `n` characters each, white space included; as `fixed-nws-<n>` where it cannot parse the file."""
    if not document.language:
        return plain(document, n, NOT_KNOWN)
    return by_texts(document, n, lambda text: _splitter(document.language, n).split_text(text))


@cache
def _splitter(language: str, n: int) -> Splitter:
    from llama_index.core.node_parser import CodeSplitter

    # Characters are counted; without a tokenizer it would load one.
    splitter: Splitter = CodeSplitter(language=language, max_chars=n, tokenizer=str.split)
    return splitter


LLAMAINDEX_CODE = Chunker(
    name="llamaindex-code-<n>",
    title="LlamaIndex, code, n characters",
    meaning="Joins the syntax tree's nodes up to n characters, opening those that are larger.",
    chunk=llamaindex_code,
    grammars=GRAMMARS,
    library="llama-index-core",
    source="LlamaIndex's CodeSplitter; its own n is 1,500.",
)
