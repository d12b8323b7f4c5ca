"""By definition: one chunk per function, method or class, whatever its size."""

from __future__ import annotations

import re
from itertools import pairwise

from tree_sitter import Node

from ingest.chunkers import Chunker, Cut, Document
from ingest.chunkers._lines import cumulative, pack
from ingest.chunkers._tree import Piece, is_annotation, open_piece, parse

MAX_CLASS = 1500
"""A class with more non-whitespace characters is cut into its members."""

_END = r"_(definition|declaration|item|specifier)"
_HOLDERS = r"class|interface|struct|enum|union|trait|impl|object|protocol|extension|record|annotation_type"
_FUNCTIONS = r"function|method|constructor|destructor|operator|macro|delegate|type|type_alias|init|deinit"

# Ruby's grammar has the bare words.
_HOLDER = re.compile(rf"class|(.+_)?({_HOLDERS})(_.+)?{_END}")
_DEFINITION = re.compile(rf"method|singleton_method|class|(.+_)?({_HOLDERS}|{_FUNCTIONS})(_.+)?{_END}")
_SCOPE = re.compile(
    r"module|(.+_)?(namespace|mod|module)(_.+)?_(definition|declaration|item)|internal_module|linkage_specification"
    r"|preproc_(if|ifdef|else|elif|elifdef)"
)
# What may stand around a definition, or hold it as the value of a name: `const f = () => …`.
_AROUND = frozenset(
    {
        "decorated_definition",
        "export_statement",
        "ambient_declaration",
        "template_declaration",
        "expression_statement",
        "lexical_declaration",
        "variable_declaration",
        "variable_declarator",
    }
)
_VALUES = frozenset({"arrow_function", "function_expression", "generator_function", "class"})


def definition(document: Document) -> Cut:
    """One chunk per top-level definition, with its decorators and the comments directly above; one per code between.

    Top level includes the inside of namespaces, modules and conditional compilation. A class of more than 1,500
    non-whitespace characters is opened in turn: its head (with what stands before the first member that is a
    definition), each such member, and the code between. Blank lines belong to the chunk above them.

    A partition of the file. Where there is no tree to rely on (see `_tree.parse`), the file is cut as `fixed-nws-1500`
    does.
    """
    n_lines, before = len(document.lines), cumulative(document.n_nws)
    if not n_lines:
        return Cut([])
    root = parse(document)
    if isinstance(root, str):
        return Cut(pack(before, 0, n_lines, MAX_CLASS), root)
    starts = {0}
    annotated_from: int | None = None
    left = list(reversed(open_piece(Piece(0, n_lines, (root,)), before)))
    while left:
        piece = left.pop()
        if piece.sticks and is_annotation(piece.kind):
            annotated_from = piece.start if annotated_from is None else annotated_from
            continue
        kind = _kind(piece)
        too_large = before[piece.end] - before[piece.start] > MAX_CLASS
        opens = piece.field == "body" or _SCOPE.fullmatch(kind) or (_HOLDER.fullmatch(kind) and too_large)
        if piece.field != "body" and (opens or _DEFINITION.fullmatch(kind) or kind in _VALUES):
            starts |= {piece.start if annotated_from is None else annotated_from, piece.end}
        if opens:
            left += reversed(open_piece(piece, before))
        annotated_from = None
    bounds = sorted(starts | {n_lines})
    return Cut(list(pairwise(bounds)))


def _kind(piece: Piece) -> str:
    """The type of what a piece begins with, or of the definition inside it where it only stands around one."""
    if not piece.nodes or not piece.kind:
        return ""
    node = piece.nodes[0]
    while node.type in _AROUND:
        inner = next((child for child in node.named_children if _is_part(child)), None)
        if inner is None:
            return piece.kind
        node = inner
    return node.type


def _is_part(node: Node) -> bool:
    kind = node.type
    return kind in _AROUND or kind in _VALUES or bool(_DEFINITION.fullmatch(kind) or _SCOPE.fullmatch(kind))


DEFINITION = Chunker(
    name="definition",
    title="One chunk per definition",
    meaning="One chunk per function, method and class with the comments above it, and one per code between them.",
    chunk=definition,
    source="Definitions as symbol-level retrieval sees them.",
)
