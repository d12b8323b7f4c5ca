"""cAST's own program: a syntax tree's nodes, split and merged up to a size."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Protocol

from tree_sitter import Node, Parser

from ingest.contents.chunkers import Chunker, Cut, Document
from ingest.contents.chunkers._library import NOT_KNOWN, plain


class Window(Protocol):
    """A node as astchunk keeps it."""

    node: Node


class Builder(Protocol):
    """What cuts files of one language."""

    parser: Parser

    def assign_tree_to_windows(self, code: str, root_node: Node) -> Iterable[list[Window]]: ...  # noqa: D102


LANGUAGES = ("csharp", "java", "python", "typescript")
_GRAMMARS = tuple(f"tree-sitter-{name}" for name in ("c-sharp", "java", "python", "typescript"))


def astchunk(document: Document, n: int) -> Cut:
    """At most `n` non-whitespace characters each, where a node can be opened; as `fixed-nws-<n>` in other languages.

    A chunk is the bytes from its first node to the end of its last, as its own line numbers have it; what is too large
    and has no parts, a long comment say, is left out of its text there, and here only where no chunk lies around it.
    """
    language = "typescript" if document.language == "tsx" else document.language
    if language not in LANGUAGES:
        return plain(document, n, f"no way with {language!r}" if language else NOT_KNOWN)
    builder = _builder(language, n)
    root = builder.parser.parse(document.text.encode()).root_node
    windows = builder.assign_tree_to_windows(document.text, root)
    ranges = [(window[0].node.start_byte, window[-1].node.end_byte) for window in windows]
    return Cut([one for one in ranges if one[0] < one[1]], unit="bytes")


@cache
def _builder(language: str, n: int) -> Builder:
    from astchunk import ASTChunkBuilder

    builder: Builder = ASTChunkBuilder(max_chunk_size=n, language=language, metadata_template="none")
    return builder


ASTCHUNK = Chunker(
    name="astchunk-<n>",
    title="astchunk, n characters",
    meaning="Splits what exceeds n non-whitespace characters along the syntax tree and merges small neighbours.",
    chunk=astchunk,
    grammars=_GRAMMARS,
    library="astchunk",
    source="cAST (Zhang et al., 2025), arXiv:2506.15655, by its authors' program; its n there is 1,800.",
)
