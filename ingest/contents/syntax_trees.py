"""Syntax trees by tree-sitter, with limits on size and work that hold for any file, and their pieces in whole lines."""

from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import NamedTuple, cast

from tree_sitter import Node, Parser
from tree_sitter_language_pack import SupportedLanguage, get_parser

GRAMMARS = ("tree-sitter", "tree-sitter-language-pack")
"""The packages whose versions determine how a file is parsed."""

MAX_PARSED_BYTES = 1_000_000

# The parser reports every hundred steps. Real files take up to 2.6 steps per byte, runaway error recovery far more.
# Steps are counted instead of seconds, so that equal inputs give equal results on every machine.
_STEPS_PER_REPORT = 100
_FREE_STEPS = 100_000
_MAX_STEPS_PER_BYTE = 10

_PARSED_AT_ONCE, _ASKED_AT_ONCE = 1 << 16, 1 << 8
"""The bytes passed to the parser at a time, and to a node that is asked for its text: each time they are copied."""
_FRAMES_FOR_TEXT = 8  # more than the parser takes to read a text again


@cache
def _parser(language: str) -> Parser | None:
    try:
        return get_parser(cast("SupportedLanguage", language))
    except LookupError:
        return None


@lru_cache(maxsize=3)
def syntax_tree(data: bytes, language: str) -> Node | str:
    """The root of a text's syntax tree, which may have errors, or why there is none; recent results are cached."""
    parser = _parser(language) if language else None
    if parser is None:
        return f"no grammar for {language!r}" if language else "language not known"
    if len(data) > MAX_PARSED_BYTES:
        return f"larger than {MAX_PARSED_BYTES:,} bytes"
    reports_left = (_FREE_STEPS + _MAX_STEPS_PER_BYTE * len(data)) // _STEPS_PER_REPORT
    n_bytes = _PARSED_AT_ONCE

    def read(offset: int, _point: object) -> bytes:
        return data[offset : offset + n_bytes]

    def stop(_offset: int, _has_error: bool) -> bool:
        nonlocal reports_left
        reports_left -= 1
        return reports_left < 0

    try:
        root = parser.parse(read, progress_callback=stop).root_node
    except ValueError:
        # Without the reset, the parser would continue this file when it is given the next.
        parser.reset()
        return "parsing takes too many steps"
    n_bytes = _ASKED_AT_ONCE
    return root


def text_of(node: Node) -> bytes:
    """A node's text. Raises RecursionError near the end of the stack: raised inside the parser, it ends the program."""
    _go_deeper(_FRAMES_FOR_TEXT)
    return node.text or b""


def _go_deeper(n_frames: int) -> None:
    if n_frames:
        _go_deeper(n_frames - 1)


def given_up(root: Node) -> int:
    """The number of bytes in error nodes, without the nodes that were completed inside them."""
    total, left = 0, [root]
    while left:
        node = left.pop()
        if not node.has_error:
            continue
        children = node.children
        if node.is_error:
            total += node.end_byte - node.start_byte
            # Single words and marks are not structure.
            children = [child for child in children if child.child_count and not child.is_error]
            total -= sum(child.end_byte - child.start_byte for child in children)
        left += children
    return total


MAX_ERROR_SHARE = 0.1
"""A larger share of bytes given up as errors makes a file unparsable; macros cause local errors in most C files."""
SECOND_TRY = {"c": ("cpp",), "javascript": ("tsx",)}
"""Language → a second grammar to try for unparsable files: C++ in a `.h`, types in a `.js`."""


def reliable_tree(text: str, language: str) -> Node | str:
    """The root of a reliable syntax tree, or the reason why there is none: see `syntax_tree` and `MAX_ERROR_SHARE`."""
    data = text.encode(errors="replace")
    for grammar in (language, *SECOND_TRY.get(language, ())):
        root = syntax_tree(data, grammar)
        if isinstance(root, str) or given_up(root) <= MAX_ERROR_SHARE * len(data):
            return root
    return "syntax errors"


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


def is_annotation(kind: str) -> bool:
    """Whether a kind of node annotates the code below it: a comment, a decorator, an attribute."""
    return "comment" in kind or kind in _ANNOTATIONS


def open_piece(piece: Piece, before: Sequence[int], *, once: bool = False) -> list[Piece]:
    """The pieces that opening a piece's nodes gives; empty if no named node inside is first on its line.

    Lines above a piece's first node belong to the piece before. With `once`, nodes are opened once, even if the piece
    stays whole.
    """
    children: list[Node] = list(piece.nodes)
    marks: list[tuple[int, int, str]] = []
    while not marks or (len(marks) == 1 and not once):
        nodes = [node for node in children if node.end_point.row > node.start_point.row]
        if not nodes:
            return []
        children, marks = _children(nodes, piece, before)
    pieces = list[Piece]()
    for (first, start, field), (after, end, next_field) in pairwise([*marks, (len(children), piece.end, "")]):
        nodes = children[first:after]
        kind = nodes[0].type if nodes[0].is_named else ""
        is_head = not pieces and (not kind or next_field in BODIES)
        no_gap = before[end] > before[end - 1]
        sticks = piece.sticks if after == len(children) else is_head or (is_annotation(kind) and no_gap)
        depth = piece.depth + bool(pieces)
        pieces.append(Piece(start, end, tuple(nodes), depth, kind, field, sticks))
    return pieces


def _children(
    nodes: Sequence[Node], piece: Piece, before: Sequence[int]
) -> tuple[list[Node], list[tuple[int, int, str]]]:
    """The children of nodes; and of each with which a piece begins the number, the line and the field."""
    children: list[Node] = []
    marks: list[tuple[int, int, str]] = []
    last = piece.start
    for node in nodes:
        cursor = node.walk()
        more = cursor.goto_first_child()
        while more:
            child = cast("Node", cursor.node)
            line = child.start_point.row
            if not marks:
                marks.append((0, piece.start, cursor.field_name or ""))
            elif last < line < piece.end and child.is_named and before[line] > before[piece.start]:
                marks.append((len(children), line, cursor.field_name or ""))
            children.append(child)
            row, column = child.end_point
            last = max(last, line, row if column else row - 1)
            more = cursor.goto_next_sibling()
    return children, marks
