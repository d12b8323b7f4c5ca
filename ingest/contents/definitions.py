"""Definitions in a file, found with tree-sitter by two sets of rules, even if the file has syntax errors."""

from collections.abc import Mapping

from tree_sitter import Node

from ingest.contents.definition_nodes import MAX_NAME, Definition, Names, by_place, captured, name_text
from ingest.contents.syntax_trees import given_up, syntax_tree
from lake.text import LANGUAGES

OTHERWISE = {"h": "cpp", "js": "tsx", "jsx": "tsx", "cjs": "tsx", "mjs": "tsx"}
"""Ending → a second language, used if the tree has errors and the second language's gives up fewer bytes."""

MAX_ENCLOSING = 50
"""The maximum number of enclosing definitions in a qualified name; of more, the innermost are kept."""


_VALUES = "[(arrow_function) (function_expression) (generator_function) (class)]"


def _nodes(kinds: str, end: str = "", capture: str = "definition") -> str:
    return f"[{' '.join(f'({kind}{end})' for kind in kinds.split())}] @{capture} "


_JAVASCRIPT = f"""
{_nodes("function_declaration generator_function_declaration class_declaration method_definition")}
(variable_declarator name: (identifier) value: {_VALUES}) @bound
(pair key: (_) value: {_VALUES}) @bound
(assignment_expression left: [(identifier) (member_expression)] right: {_VALUES}) @bound
"""
_TYPESCRIPT = f"""
{_JAVASCRIPT}
{_nodes("abstract_class_declaration interface_declaration enum_declaration type_alias_declaration")}
{_nodes("internal_module module", capture="scope")}
(public_field_definition name: (_) value: {_VALUES}) @bound
"""
# `struct point p` only refers to a struct; a definition has a body.
_C = _nodes("function_definition type_definition preproc_function_def") + "".join(
    f"({kind}_specifier body: (_)) @definition " for kind in ("struct", "union", "enum")
)

QUERIES: Mapping[str, str] = {
    "python": _nodes("function_definition class_definition type_alias_statement"),
    "javascript": f"{_JAVASCRIPT} (field_definition property: (_) value: {_VALUES}) @bound",
    "typescript": _TYPESCRIPT,
    "tsx": _TYPESCRIPT,
    "java": _nodes(
        "method class interface constructor enum record annotation_type compact_constructor", "_declaration"
    ),
    "go": _nodes("function_declaration method_declaration type_spec type_alias"),
    "rust": _nodes("function_item impl_item struct_item trait_item enum_item union_item type_item macro_definition")
    + "(mod_item body: (_)) @scope",
    "c": _C,
    "cpp": f"{_C} (class_specifier body: (_)) @definition {_nodes('alias_declaration concept_definition')}"
    "(namespace_definition) @scope",
    "csharp": _nodes("method class interface constructor destructor struct enum record delegate", "_declaration")
    + "(local_function_statement) @definition (namespace_declaration) @scope",
    "php": _nodes("method class interface trait enum", "_declaration")
    + "(function_definition) @definition (namespace_definition body: (_)) @scope",
    "ruby": _nodes("method singleton_method class module"),
    "swift": _nodes("function class protocol init deinit typealias", "_declaration"),
    "kotlin": _nodes("function class object", "_declaration")
    + _nodes("companion_object secondary_constructor type_alias"),
    "scala": _nodes("function class trait object enum type", "_definition") + "(package_object) @definition",
}
"""Grammar → its query.

Captures: `definition`, a node with a name; `scope`, a node that only qualifies the names inside it; `bound`, a node
that binds the function or class on its right to the name on its left.
"""


def docs_definitions(root: Node, data: bytes, ending: str) -> list[Definition]:
    """Every named definition, enclosing ones first."""
    language = LANGUAGES[ending]
    if root.has_error and ending in OTHERWISE:
        other = syntax_tree(data, OTHERWISE[ending])
        if isinstance(other, Node) and given_up(other) < given_up(root):
            root, language = other, OTHERWISE[ending]
    captures = captured(root, language, QUERIES[language])
    nodes = [(node, node, kind == "definition") for kind in ("definition", "scope") for node in captures.get(kind, [])]
    for node in captures.get("bound", []):
        nodes.append((node, node.child_by_field_name("value") or node.child_by_field_name("right") or node, True))
    nodes.sort(key=lambda entry: (entry[1].start_byte, -entry[1].end_byte, entry[1].type))
    names = Names(data, language)
    rows = []
    enclosing: list[tuple[int, str]] = []
    for node, value, is_definition in nodes:
        while enclosing and enclosing[-1][0] <= value.start_byte:
            enclosing.pop()
        parts = [part for part in names.parts(node) if part]
        if not parts:
            continue
        if is_definition:
            around = [name for _, name in enclosing[-MAX_ENCLOSING:]]
            rows.append(Definition.of(value, parts[-1], ".".join([*around, *parts])))
        enclosing.append((value.end_byte, ".".join(parts)[-MAX_NAME:]))
    return by_place(rows)


ENDINGS = frozenset(LANGUAGES) - {"mjs", "cjs", "pyi", "cxx", "hh"}
"""File endings in ContextBench's published list; `h` is C."""

_KINDS: Mapping[str, str] = {
    "python": "function_definition class_definition",
    "javascript": "function_declaration class_declaration method_definition arrow_function",
    "typescript": "function_declaration class_declaration method_definition interface_declaration",
    "tsx": "function_declaration class_declaration method_definition interface_declaration",
    "java": "method_declaration class_declaration interface_declaration constructor_declaration",
    "go": "function_declaration method_declaration type_declaration",
    "rust": "function_item impl_item struct_item trait_item",
    "c": "function_definition struct_specifier",
    "cpp": "function_definition class_specifier struct_specifier",
    "csharp": "method_declaration class_declaration interface_declaration",
    "php": "function_definition method_declaration class_declaration",
    "ruby": "method class module",
    "swift": "function_declaration class_declaration protocol_declaration",
    "kotlin": "function_declaration class_declaration",
    "scala": "function_definition class_definition trait_definition",
}

# A node without a name field is named by the first identifier inside it, of the best kind that it contains.
_BEST = ("identifier", "field_identifier", "property_identifier", "method_identifier")
_OTHERS = frozenset({"type_identifier", "scoped_identifier", "namespace_identifier", "constant_identifier"})
_RANK = {kind: rank for rank, kind in enumerate(_BEST)} | dict.fromkeys(_OTHERS, len(_BEST))


def official_definitions(root: Node, data: bytes, ending: str) -> list[Definition]:
    """Every node of the kinds listed for the ending's language."""
    language = LANGUAGES[ending]
    nodes = captured(root, language, _nodes(_KINDS[language])).get("definition", [])
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


RULES: Mapping[str, str] = {
    "official": "The nodes of ContextBench's published list. A name is the node's own, else the best identifier "
    "inside: of an `impl`, the first method's.",
    "docs": "Functions, methods, classes and other named types, macros, and functions bound to a name. A qualified "
    "name joins the enclosing definitions and namespaces by dots; overloads share it.",
}


def ending_of(path: str) -> str:
    """The text after the last dot of a file name, in lower case; it determines the language. Empty without a dot."""
    _, dot, ending = path.rpartition("/")[2].rpartition(".")
    return ending.lower() if dot else ""


def definitions_of(text: str, ending: str) -> tuple[dict[str, list[Definition]], str]:
    """The definitions in a text by set of rules that supports its path's ending (`h`, not `.h`), or why it has none."""
    if ending not in LANGUAGES:
        return {}, ""
    data = text.encode(errors="replace")
    root = syntax_tree(data, LANGUAGES[ending])
    if isinstance(root, str):
        return {}, root
    official = {"official": official_definitions(root, data, ending)} if ending in ENDINGS else {}
    return {**official, "docs": docs_definitions(root, data, ending)}, ""
