"""Code as the pinned grammars read it: nothing is imported or run, so what is found is the same on every Python."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Literal

from tree_sitter import Node, Parser, Query, QueryCursor
from tree_sitter_language_pack import get_language

from lake.text import split_lines

Language = Literal["java", "python"]

_OUTSIDE = re.compile(r"(^|/)(tests?|testing|benchmarks?|conftest\.py|test_[^/]*|[^/]*_test\.py)(/|$)")


def parsed(lines: list[str], language: Language) -> Node | None:
    """The syntax tree of a file; None where it does not parse without an error."""
    root = Parser(get_language(language)).parse("".join(lines).encode()).root_node
    return None if root.has_error else root


def captured(language: Language, pattern: str, root: Node) -> list[Node]:
    """The nodes that a query's pattern calls `@it`, in the file's order."""
    nodes = QueryCursor(_query(language, pattern)).captures(root).get("it", [])
    return sorted(nodes, key=lambda node: node.start_byte)


@cache
def _query(language: Language, pattern: str) -> Query:
    return Query(get_language(language), pattern)


def text_of(node: Node | None) -> str:
    """A node's text; empty where there is no node."""
    return (node.text or b"").decode() if node is not None else ""


def string_rows(root: Node) -> Iterator[int]:
    """The lines that lie in a Python string of several lines."""
    for string in captured("python", "(string) @it", root):
        if string.start_point.row != string.end_point.row:
            yield from range(string.start_point.row, string.end_point.row + 1)


def is_alone(lines: Sequence[str], first: Node, last: Node) -> bool:
    """Whether nothing but the nodes from the first to the last stands on their lines, a comment at the end aside."""
    before = lines[first.start_point.row].encode()[: first.start_point.column].strip()
    after = lines[last.end_point.row].encode()[last.end_point.column :].strip()
    return not before and (not after or after.startswith(b"#"))


def lines_of(data: bytes) -> list[str] | None:
    r"""A file's lines with ends `\n`; None where it is not UTF-8 or a `\r` stands alone, which some take for an end."""
    try:
        text = data.decode().replace("\r\n", "\n")
    except UnicodeDecodeError:
        return None
    return None if "\r" in text else split_lines(text)


def is_own_code(path: str) -> bool:
    """Whether a path is the repository's own code, not its tests or benchmarks; only that is asked for."""
    return _OUTSIDE.search(path) is None
