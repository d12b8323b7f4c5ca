"""Chunks along the syntax tree: by size, split where nodes are too large and merged where small; or by definition."""

import re
from collections import deque
from collections.abc import Sequence
from itertools import pairwise

from tree_sitter import Node

from ingest.contents.chunkers import Chunker, Cut, Document, LineRange
from ingest.contents.chunkers.lines import fixed_nws, whole_file
from ingest.contents.syntax_trees import BODIES, GRAMMARS, Piece, is_annotation, open_piece, reliable_tree


def syntax(document: Document, n: int) -> Cut:
    """Split nodes that exceed `n` non-whitespace characters, then merge the pieces; a line is never cut.

    A piece begins where a named node is first on its line, and includes the blank lines below it. Comments and
    decorators directly above stay with their code, and the head of a body with its first piece, if both fit. The pieces
    are merged into as few chunks as possible, with cuts as high in the tree as possible. Without a tree (see
    `reliable_tree`) the file is cut as by `fixed-nws-<n>`.
    """
    n_lines, before = document.n_lines, document.nws_before
    if before[-1] <= n:
        return whole_file(document)
    root = reliable_tree(document.text, document.language)
    if isinstance(root, str):
        return fixed_nws(document, n, root)
    pieces = _split(Piece(0, n_lines, (root,)), before, n)
    return Cut(_merge(_joined(pieces, before, n), before, n_lines, n))


def _split(whole: Piece, before: Sequence[int], n: int) -> list[Piece]:
    """Open pieces until each fits or is one line; with a stack, as trees may exceed Python's recursion limit."""
    done: list[Piece] = []
    left = [whole]
    while left:
        piece = left.pop()
        # A body that fits, but not together with its head, is opened too, or the head would be a piece alone.
        is_body = bool(done) and done[-1].sticks and piece.field in BODIES
        start = done[-1].start if is_body else piece.start
        parts = open_piece(piece, before) if before[piece.end] - before[start] > n else []
        if parts:
            left += reversed(parts)
        elif before[piece.end] - before[piece.start] <= n:
            done.append(piece)
        else:
            done += _lines(piece, before)
    return done


def _lines(piece: Piece, before: Sequence[int]) -> list[Piece]:
    """The lines of a piece one by one, blank ones with the line above; cuts below a blank line are preferred."""
    starts = [line for line in range(piece.start, piece.end) if before[line + 1] > before[line]]
    parts = []
    for start, end in pairwise([piece.start, *starts[1:], piece.end]):
        below_gap = before[start] == before[start - 1]
        depth = piece.depth if start == piece.start else piece.depth + (1 if below_gap else 2)
        parts.append(piece._replace(start=start, end=end, depth=depth, sticks=piece.sticks and end == piece.end))
    return parts


def _joined(pieces: Sequence[Piece], before: Sequence[int], n: int) -> list[tuple[int, int]]:
    """(first line, depth) of each piece, after pieces that stick to the next have been joined with it if both fit."""
    units: list[tuple[int, int]] = []
    end = pieces[-1].end
    # From the end, so that the lines of a long comment that are nearest to the code stay with it.
    for piece in reversed(pieces):
        if units and piece.sticks and before[end] - before[piece.start] <= n:
            units[-1] = (piece.start, piece.depth)
        else:
            end = piece.end
            units.append((piece.start, piece.depth))
    return units[::-1]


def _merge(units: Sequence[tuple[int, int]], before: Sequence[int], n_lines: int, n: int) -> list[LineRange]:
    """The fewest ranges that fit, with the least depth at their cuts: a minimum over a sliding window of starts."""
    starts = [*(start for start, _ in units), n_lines]
    chunk_costs = 1 + sum(depth for _, depth in units)
    # What it costs to begin the last range at each unit, and where the best last range before each unit begins.
    costs, came_from, best = list[int](), [0], 0
    window: deque[int] = deque()
    for end in range(1, len(starts)):
        while window and before[starts[end]] - before[starts[window[0]]] > n:
            window.popleft()
        costs.append(best + units[end - 1][1])
        # A unit that exceeds `n` alone can only be a range of its own, so it is always in the window.
        while window and costs[window[-1]] >= costs[-1]:
            window.pop()
        window.append(end - 1)
        came_from.append(window[0])
        best = costs[window[0]] + chunk_costs
    ranges = []
    end = len(units)
    while end:
        ranges.append((starts[came_from[end]], starts[end]))
        end = came_from[end]
    return ranges[::-1]


SYNTAX = Chunker(
    name="syntax-<n>",
    grammars=GRAMMARS,
    title="Syntax tree, n characters",
    meaning="Splits syntax tree nodes of over n non-whitespace characters and merges small neighbours.",
    chunk=syntax,
    source="Split-then-merge as in cAST (Zhang et al., 2025), arXiv:2506.15655, on whole lines.",
    defaults=("syntax-1500",),
)

MAX_CLASS = 1500
"""A class with more non-whitespace characters is cut into its members."""

_END = r"_(definition|declaration|item|specifier)"
_HOLDERS = r"class|interface|struct|enum|union|trait|impl|object|protocol|extension|record|annotation_type"
_FUNCTIONS = r"function|method|constructor|destructor|operator|macro|delegate|type|type_alias|init|deinit"

# Ruby's grammar names these kinds with the bare words.
_HOLDER = re.compile(rf"class|(.+_)?({_HOLDERS})(_.+)?{_END}")
_DEFINITION = re.compile(rf"method|singleton_method|class|(.+_)?({_HOLDERS}|{_FUNCTIONS})(_.+)?{_END}")
_SCOPE = re.compile(
    r"module|internal_module|(file_scoped_)?namespace_(definition|declaration)|(foreign_)?mod_item|linkage_specification"
    r"|preproc_(if|ifdef|else|elif|elifdef)"
)
# Nodes that may enclose a definition, or hold it as the value of a name: `const f = () => …`.
_AROUND = frozenset({"decorated_definition", "export_statement", "ambient_declaration", "template_declaration",
                     "type_definition", "expression_statement", "lexical_declaration", "variable_declaration",
                     "variable_declarator"})  # fmt: skip
_VALUES = frozenset({"arrow_function", "function_expression", "generator_function", "class"})


def definition(document: Document) -> Cut:
    """One chunk per top-level definition with its decorators and the comments directly above, and per code between.

    The inside of namespaces, modules and conditional compilation counts as top level, and so does that of a class of
    over `MAX_CLASS` characters, below its head. Without a syntax tree the file is cut as by `fixed-nws-1500`.
    """
    n_lines, before = document.n_lines, document.nws_before
    if not n_lines:
        return Cut([])
    root = reliable_tree(document.text, document.language)
    if isinstance(root, str):
        return fixed_nws(document, MAX_CLASS, root)
    starts = {0}
    annotated_from: int | None = None
    left = list(reversed(open_piece(Piece(0, n_lines, (root,)), before, once=True)))
    while left:
        piece = left.pop()
        if piece.sticks and is_annotation(piece.kind):
            annotated_from = piece.start if annotated_from is None else annotated_from
            continue
        if piece.field == "body":
            left += reversed(open_piece(piece, before, once=True))
            continue
        kind = _kind(piece)
        is_large = before[piece.end] - before[piece.start] > MAX_CLASS
        opens = _SCOPE.fullmatch(kind) or (_HOLDER.fullmatch(kind) and is_large)
        if opens or _DEFINITION.fullmatch(kind) or kind in _VALUES:
            starts |= {piece.start if annotated_from is None else annotated_from, piece.end}
        if opens:
            left += reversed(open_piece(piece, before))
        # In an enclosing node the decorators come next: comments above it still belong to the definition.
        annotated_from = annotated_from if opens and piece.kind in _AROUND else None
    return Cut(list(pairwise(sorted(starts | {n_lines}))))


def _kind(piece: Piece) -> str:
    """The type of the definition or scope that a piece begins with, inside enclosing nodes; empty if none."""
    node: Node | None = piece.nodes[0]
    while node is not None and node.type in _AROUND:
        node = next((child for child in node.named_children if child.type in _AROUND or _is_part(child)), None)
    return node.type if node is not None and _is_part(node) else ""


def _is_part(node: Node) -> bool:
    # The word `class` itself is not named. In C and C++, `struct point p` only refers to a struct.
    if not node.is_named or (node.type.endswith("_specifier") and node.child_by_field_name("body") is None):
        return False
    return node.type in _VALUES or bool(_DEFINITION.fullmatch(node.type) or _SCOPE.fullmatch(node.type))


DEFINITION = Chunker(
    name="definition",
    grammars=GRAMMARS,
    title="One chunk per definition",
    meaning="One chunk per top-level definition with the comments above it, and one per stretch of code between them. "
    "A class of over 1,500 non-whitespace characters is split into its members.",
    chunk=definition,
    source="ContextBench's definition nodes, and the corresponding nodes in other languages.",
)
