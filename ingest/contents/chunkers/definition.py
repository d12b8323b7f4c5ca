"""One chunk per function, method or class, whatever its size."""

import re
from itertools import pairwise

from tree_sitter import Node

from ingest.contents.chunkers import Chunker, Cut, Document
from ingest.contents.chunkers.lines import fixed_nws
from ingest.contents.syntax_trees import GRAMMARS, Piece, is_annotation, open_piece, reliable_tree

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

    The inside of namespaces, modules and conditional compilation counts as top level. A class of more than 1,500
    non-whitespace characters is opened in turn: its head (with the code before the first member that is a definition),
    each such member, and the code between. Without a syntax tree the file is cut as by `fixed-nws-1500`.
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
