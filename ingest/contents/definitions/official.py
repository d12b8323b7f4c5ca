"""Definitions as the published ContextBench code has them: nodes of listed kinds, by file ending."""

from __future__ import annotations

from tree_sitter import Node

from ingest.contents.definitions.nodes import Definition, by_place, captured, name_text
from lake.text import LANGUAGES

OFFICIAL_MEANING = (
    "The nodes of ContextBench's published list. A name is the node's own, else the best identifier inside: "
    "of an `impl`, the first method's."
)

ENDINGS = frozenset(LANGUAGES) - {"mjs", "cjs", "pyi", "cxx", "hh"}
"""File endings that the list knows; `h` is C."""

_KINDS: dict[str, tuple[str, ...]] = {
    "python": ("function_definition", "class_definition"),
    "javascript": ("function_declaration", "class_declaration", "method_definition", "arrow_function"),
    "typescript": ("function_declaration", "class_declaration", "method_definition", "interface_declaration"),
    "tsx": ("function_declaration", "class_declaration", "method_definition", "interface_declaration"),
    "java": ("method_declaration", "class_declaration", "interface_declaration", "constructor_declaration"),
    "go": ("function_declaration", "method_declaration", "type_declaration"),
    "rust": ("function_item", "impl_item", "struct_item", "trait_item"),
    "c": ("function_definition", "struct_specifier"),
    "cpp": ("function_definition", "class_specifier", "struct_specifier"),
    "csharp": ("method_declaration", "class_declaration", "interface_declaration"),
    "php": ("function_definition", "method_declaration", "class_declaration"),
    "ruby": ("method", "class", "module"),
    "swift": ("function_declaration", "class_declaration", "protocol_declaration"),
    "kotlin": ("function_declaration", "class_declaration"),
    "scala": ("function_definition", "class_definition", "trait_definition"),
}

# Where a node has no name of its own, the first of the best kind inside is taken for one.
_BEST = ("identifier", "field_identifier", "property_identifier", "method_identifier")
_OTHERS = frozenset({"type_identifier", "scoped_identifier", "namespace_identifier", "constant_identifier"})
_RANK = {kind: rank for rank, kind in enumerate(_BEST)} | dict.fromkeys(_OTHERS, len(_BEST))


def definitions(root: Node, data: bytes, ending: str) -> list[Definition]:
    """Every node of the kinds listed for the ending's language."""
    language = LANGUAGES[ending]
    query = f"[{' '.join(f'({kind})' for kind in _KINDS[language])}] @definition"
    nodes = captured(root, language, query).get("definition", [])
    return by_place(Definition.of(node, _name(node, data) or None) for node in nodes)


def _name(node: Node, data: bytes) -> str:
    own = node.child_by_field_name("name")
    if own is not None and (name := name_text(own, data)):
        return name
    best, best_rank = "", len(_RANK)
    left = [node.child_by_field_name("declarator") or node]
    while left:
        inner = left.pop()
        left += reversed(inner.children)
        rank = _RANK.get(inner.type, best_rank)
        if rank < best_rank and (name := name_text(inner, data)):
            best, best_rank = name, rank
            if not rank:
                break
    return best
