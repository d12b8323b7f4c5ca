"""Syntax trees by tree-sitter, with limits on size and work that hold for any file."""

from functools import cache, lru_cache
from typing import cast

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
