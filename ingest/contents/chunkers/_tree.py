"""Syntax trees in terms of whole lines: which trees are reliable, and how nodes are split into pieces."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple, cast

from tree_sitter import Node

from ingest.contents.chunkers import Document
from ingest.contents.syntax_trees import given_up, syntax_tree

MAX_ERROR_SHARE = 0.1
"""A file counts as unparsable if more than this share of its bytes was given up as errors.

The parser recovers from errors, and macros cause local ones in most C files: those keep their structure.
"""
SECOND_TRY = {"c": ("cpp",), "javascript": ("tsx",)}
"""Language → a second grammar to try for unparsable files: C++ in a `.h`, types in a `.js`."""

SYNTAX_ERRORS = "syntax errors"

BODIES = frozenset({"body", "consequence"})
"""The fields that grammars use for the part of a definition or statement below its head."""

_ANNOTATIONS = frozenset({"attribute_item", "attribute_list", "decorator", "annotation", "marker_annotation"})


class Piece(NamedTuple):
    """Lines `[start, end)` that begin with a node that is first on its line.

    `depth` is the number of nodes that had to be opened to cut before it; `kind` the type of its first node, empty for
    a bare word or mark such as `def` or `{`; `sticks`: it belongs to the next piece, as a comment directly above does.
    """

    start: int
    end: int
    nodes: tuple[Node, ...]
    depth: int = 0
    kind: str = ""
    field: str = ""
    sticks: bool = False


def parse(document: Document) -> Node | str:
    """The root of a reliable syntax tree, or the reason why there is none: see `syntax_tree` and `MAX_ERROR_SHARE`."""
    data = document.text.encode(errors="replace")
    for language in (document.language, *SECOND_TRY.get(document.language, ())):
        root = syntax_tree(data, language)
        if isinstance(root, str) or given_up(root) <= MAX_ERROR_SHARE * len(data):
            return root
    return SYNTAX_ERRORS


class _Mark(NamedTuple):
    child: int
    line: int
    field: str


def is_annotation(kind: str) -> bool:
    """Whether a kind of node annotates the code below it: a comment, a decorator, an attribute."""
    return "comment" in kind or kind in _ANNOTATIONS


def open_piece(piece: Piece, before: Sequence[int], *, once: bool = False) -> list[Piece]:
    """The pieces that opening a piece's nodes gives; empty if no named node inside is first on its line.

    Only whitespace precedes such a node on its line. Lines above a piece's first node belong to the piece before. With
    `once`, nodes are opened once, even if the piece stays whole.
    """
    children: list[Node] = list(piece.nodes)
    marks: list[_Mark] = []
    while not marks or (len(marks) == 1 and not once):
        nodes = [node for node in children if node.end_point.row > node.start_point.row]
        if not nodes:
            return []
        children, marks = _children(nodes, piece, before)
    last = _Mark(len(children), piece.end, "")
    pieces = []
    for mark, following in pairwise([*marks, last]):
        nodes = children[mark.child : following.child]
        kind = nodes[0].type if nodes[0].is_named else ""
        is_first = mark is marks[0]
        is_head = is_first and (not kind or following.field in BODIES)
        no_gap = before[following.line] > before[following.line - 1]
        sticks = piece.sticks if following is last else is_head or (is_annotation(kind) and no_gap)
        depth = piece.depth if is_first else piece.depth + 1
        pieces.append(Piece(mark.line, following.line, tuple(nodes), depth, kind, mark.field, sticks))
    return pieces


def _children(nodes: Sequence[Node], piece: Piece, before: Sequence[int]) -> tuple[list[Node], list[_Mark]]:
    children: list[Node] = []
    marks: list[_Mark] = []
    last = piece.start
    for node in nodes:
        cursor = node.walk()
        more = cursor.goto_first_child()
        while more:
            child = cast("Node", cursor.node)
            line = child.start_point.row
            if not marks:
                marks.append(_Mark(0, piece.start, cursor.field_name or ""))
            elif last < line < piece.end and child.is_named and before[line] > before[piece.start]:
                marks.append(_Mark(len(children), line, cursor.field_name or ""))
            children.append(child)
            row, column = child.end_point
            last = max(last, line, row if column else row - 1)
            more = cursor.goto_next_sibling()
    return children, marks
