"""Definitions as nodes of a syntax tree: finding nodes, their place, and their names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from tree_sitter import Node, Query, QueryCursor
from tree_sitter_language_pack import get_language

MAX_NAME = 200

_FIELDS = ("name", "key", "property", "left")

_CONSTANT = {"init_declaration": "init", "deinit_declaration": "deinit", "secondary_constructor": "constructor"}
_DOTTED = frozenset(
    {"nested_identifier", "qualified_name", "namespace_name", "scope_resolution", "nested_namespace_specifier"}
)
# The innermost nodes of a C declarator; all others are wrapped around one of these.
_C_NAMES = frozenset(
    {"identifier", "field_identifier", "type_identifier", "qualified_identifier", "destructor_name", "operator_name",
     "operator_cast", "template_function", "primitive_type"}
)  # fmt: skip
_NAMES = frozenset({"identifier", "simple_identifier", "type_identifier", "primitive_type"})
_NAME_FIELDS = {"template_type": "name", "template_function": "name", "member_expression": "property"}
_NO_NAMES = frozenset({"lifetime", "comment", "line_comment", "block_comment"})


class Definition(NamedTuple):
    """A definition's place and names; lines and bytes are half-open, from 0."""

    byte_start: int
    byte_end: int
    kind: str
    name: str | None
    qualified_name: str | None
    line_start: int
    line_end: int

    @staticmethod
    def of(node: Node, name: str | None, qualified_name: str | None = None) -> Definition:
        """The definition at a node."""
        row, column = node.end_point
        line_start = node.start_point.row
        # A node that ends at the start of a line does not include that line.
        line_end = max(line_start, row + 1 if column else row)
        return Definition(node.start_byte, node.end_byte, node.type, name, qualified_name, line_start, line_end)


def name_text(node: Node, data: bytes) -> str:
    """A node's text as a name: on one line, with single blanks, cut at `MAX_NAME` characters."""
    start = node.start_byte
    text = data[start : min(node.end_byte, start + 4 * MAX_NAME)].decode(errors="ignore")
    return " ".join(text.split())[:MAX_NAME]


_query = cache(lambda language, query: Query(get_language(language), query))


def captured(root: Node, language: str, query: str) -> dict[str, list[Node]]:
    """The nodes that a query captures, by capture name."""
    return QueryCursor(_query(language, query)).captures(root)


def by_place(definitions: Iterable[Definition]) -> list[Definition]:
    """Definitions sorted by place, enclosing ones first; those of the same place and kind are merged."""
    once = {(definition.byte_start, -definition.byte_end, definition.kind): definition for definition in definitions}
    return [once[key] for key in sorted(once)]


@dataclass(frozen=True)
class Names:
    """Reads the names of definitions in one text."""

    data: bytes
    grammar: str

    def parts(self, node: Node) -> list[str]:
        """A definition's name after the names that qualify it there: `["Stack", "Push"]` for `func (s *Stack) Push`."""
        if node.type in _CONSTANT:
            return [_CONSTANT[node.type]]
        read = _SPECIAL.get((self.grammar, node.type))
        return read(self, node) if read else self.plain(node)

    def plain(self, node: Node) -> list[str]:
        """The name in the first of the usual fields that the node has; empty if it has none."""
        for field in _FIELDS:
            child = node.child_by_field_name(field)
            if child is not None:
                return self._written(child)
        return []

    def declared(self, node: Node) -> list[str]:
        """The name in C and C++, which is nested in declarators: `f` in `int *(f)(void)`."""
        inner = _innermost(node, "declarator", _C_NAMES, "declarator")
        return self._written(inner) if inner is not None else []

    def within(self, node: Node, field: str) -> list[str]:
        """The single name inside references, paths and arguments: `Foo` in `&'a m::Foo<T>`."""
        inner = _innermost(node, field, _NAMES, "type")
        return [name_text(inner, self.data)] if inner is not None else []

    def first_child(self, node: Node) -> list[str]:
        """The name of a Kotlin definition: its first child that is a name, as the grammar has no field for names."""
        names = [name_text(child, self.data) for child in node.named_children if child.type in _NAMES]
        return names[:1] or ["Companion"] * (node.type == "companion_object")

    def _written(self, node: Node) -> list[str]:
        parts: list[str] = []
        while node.type == "qualified_identifier":
            scope, inner = node.child_by_field_name("scope"), node.child_by_field_name("name")
            parts += [self._bare(scope)] if scope is not None else []
            if inner is None:
                return parts
            node = inner
        if node.type in _DOTTED:
            return parts + re.split(r"::|\.|\\", name_text(node, self.data))
        if node.type == "user_type":
            return [name_text(child, self.data) for child in node.named_children if child.type == "type_identifier"]
        return [*parts, self._bare(node)]

    def _bare(self, node: Node) -> str:
        if node.type == "operator_cast":
            kind = node.child_by_field_name("type")
            return f"operator {name_text(kind, self.data)}" if kind is not None else "operator"
        if node.type in _NAME_FIELDS:
            node = node.child_by_field_name(_NAME_FIELDS[node.type]) or node
        name = name_text(node, self.data)
        if node.type == "string":
            return name.strip("\"'")
        # `operator ==` is written `operator==`, but `operator new` keeps its blank.
        return re.sub(r"(?<=^operator)\s+(?=\W)", "", name)


def _innermost(node: Node, field: str, kinds: frozenset[str], via: str) -> Node | None:
    """The first node of these kinds on the way down from a field; some nodes wrap the next one without a field."""
    inner = node.child_by_field_name(field)
    while inner is not None and inner.type not in kinds:
        name_node = inner.child_by_field_name("name" if inner.type == "scoped_type_identifier" else via)
        inner = name_node or next((child for child in inner.named_children if child.type not in _NO_NAMES), None)
    return inner


_KOTLIN = ("function_declaration", "class_declaration", "object_declaration", "companion_object", "type_alias")
_SPECIAL: dict[tuple[str, str], Callable[[Names, Node], list[str]]] = {
    # A method's name is qualified by its receiver's type.
    ("go", "method_declaration"): lambda names, node: names.within(node, "receiver") + names.plain(node),
    # An `impl` is named after its type.
    ("rust", "impl_item"): lambda names, node: names.within(node, "type"),
    # `type X[T] = …`.
    ("python", "type_alias_statement"): lambda names, node: names.within(node, "left"),
    # A destructor is named after its class.
    ("csharp", "destructor_declaration"): lambda names, node: [f"~{name}" for name in names.plain(node)],
    **{(grammar, f"{kind}_definition"): Names.declared for grammar in ("c", "cpp") for kind in ("function", "type")},
    **{("kotlin", kind): Names.first_child for kind in _KOTLIN},
}
