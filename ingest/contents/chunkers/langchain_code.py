"""LangChain's splitter for code: a text cut at what begins a definition in its language, then at lines and blanks."""

from __future__ import annotations

from functools import cache

from ingest.contents.chunkers import Chunker, Cut, Document
from ingest.contents.chunkers._library import NOT_KNOWN, Splitter, by_texts, plain

_CALLED = {"javascript": "js", "typescript": "ts", "tsx": "ts"}


def langchain_code(document: Document, n: int) -> Cut:
    """At most `n` characters each, white space included and none shared; as `fixed-nws-<n>` without a language."""
    if not document.language:
        return plain(document, n, NOT_KNOWN)
    return by_texts(document, n, lambda text: _splitter(document.language, n).split_text(text))


@cache
def _splitter(language: str, n: int) -> Splitter:
    from langchain_text_splitters import Language, RecursiveCharacterTextSplitter

    known = Language(_CALLED.get(language, language))
    splitter: Splitter = RecursiveCharacterTextSplitter.from_language(known, chunk_size=n, chunk_overlap=0)
    return splitter


LANGCHAIN_CODE = Chunker(
    name="langchain-code-<n>",
    title="LangChain, code, n characters",
    meaning="Cuts what exceeds n characters before classes and functions, then at blank lines, lines and blanks.",
    chunk=langchain_code,
    library="langchain-text-splitters",
    source="LangChain's RecursiveCharacterTextSplitter for the file's language, without overlap; its own n is 4,000.",
)
