"""Code as the pinned grammars read it: nothing is imported or run, so what is found is the same on every Python."""

from __future__ import annotations

import re
from functools import cache
from typing import cast

from tree_sitter import Node
from tree_sitter_language_pack import SupportedLanguage, get_language

from ingest.contents import definition_nodes
from ingest.contents.syntax_trees import syntax_tree
from lake.offsets import split_lines
from lake.text import language_of

TESTS = re.compile(
    r"(^|/)(tests?|testing|__tests__|specs?|testdata|fixtures|benchmarks?|conftest\.py)(/|$)"
    r"|(^|/)test_[^/]*$|(_test|_spec|[.-]test|[.-]spec|Tests?|IT|Spec)\.[a-z]+$"
)
GENERATED = re.compile(
    r"(^|/)(vendor|vendored|_vendor|third[_-]?party|external|externals|extern|node_modules|dist|generated|gen)/"
    r"|(\.min\.js|_pb2(_grpc)?\.pyi?|\.pb\.(go|cc|h)|\.g\.cs|\.designer\.cs|_generated\.[a-z]+|\.generated\.[a-z]+)$"
)


def parse_without_errors(lines: list[str], language: str) -> Node | None:
    """The syntax tree of a file; None where it does not parse without an error."""
    root = syntax_tree("".join(lines).encode(), language)
    return None if isinstance(root, str) or root.has_error else root


def ordered_captures(language: str, pattern: str, root: Node) -> list[Node]:
    """The nodes that a query's pattern calls `@it`, in the file's order."""
    return sorted(definition_nodes.captured(root, language, pattern).get("it", []), key=lambda node: node.start_byte)


@cache
def any_of(language: str, kinds: re.Pattern[str]) -> str:
    """A query's pattern for the nodes of a language whose kinds' names match."""
    grammar = get_language(cast("SupportedLanguage", language))
    ids = (number for number in range(grammar.node_kind_count) if grammar.node_kind_is_named(number))
    visible = {grammar.node_kind_for_id(number) for number in ids if grammar.node_kind_is_visible(number)}
    names = sorted(name for name in visible if name and kinds.search(name))
    return f"[{' '.join(f'({name})' for name in names)}] @it"


def node_text(node: Node) -> str:
    """A node's text."""
    return (node.text or b"").decode()


def lines_of(data: bytes) -> list[str] | None:
    r"""A file's lines with ends `\n`; None where it is not UTF-8 or a `\r` stands alone, which some take for an end."""
    try:
        text = data.decode().replace("\r\n", "\n")
    except UnicodeDecodeError:
        return None
    return None if "\r" in text else split_lines(text)


def is_source(path: str) -> bool:
    """Whether a path is the repository's own source: of a known language, no test, neither generated nor vendored."""
    return bool(language_of(path)) and not TESTS.search(path) and not GENERATED.search(path)
