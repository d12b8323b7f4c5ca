"""The tool calls in a script that an agent ran, `tools.name({…})`, and those of their arguments that can be known."""

import json
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice

from tree_sitter import Node

from ingest.contents.syntax_trees import syntax_tree, text_of
from ingest.runs.values import JsonRecord, object_at

_MAX_CALLS = 1_000


def script_calls(script: str) -> list[tuple[str, JsonRecord]]:
    """A script's calls `tools.name({…})`, at most 1,000, with their arguments; one only known at run time is None."""
    root = syntax_tree(script.encode(errors="replace"), "javascript")
    with suppress(RecursionError):
        return [] if isinstance(root, str) else list(islice(_calls_in(root, {}), _MAX_CALLS))
    return []


def _calls_in(node: Node, constants: dict[str, object]) -> Iterator[tuple[str, JsonRecord]]:
    if node.type == "call_expression" and _text(node, "function", "object") == "tools":
        arguments = node.child_by_field_name("arguments")
        first = _value(arguments.named_child(0), constants) if arguments is not None else None
        yield _text(node, "function", "property"), {"input": first} if isinstance(first, str) else object_at(first)
    for child in node.named_children:
        yield from _calls_in(child, constants)
    if node.type == "variable_declarator":
        constants[_text(node, "name")] = _value(node.child_by_field_name("value"), constants)


def _value(node: Node | None, constants: dict[str, object]) -> object:
    if node is None:
        return None
    inner, text = node.named_children, _text(node)
    match node.type:
        case "string" | "template_string" | "binary_expression":
            pieces, operator = [_value(piece, constants) for piece in inner], _text(node, "operator")
            texts = [piece for piece in pieces if isinstance(piece, str)]
            return "".join(texts) if operator in ("", "+") and len(texts) == len(pieces) else None
        case "string_fragment":
            return text
        case "escape_sequence":
            # Most escapes are also those of JSON.
            with suppress(ValueError):
                return str(json.loads(f'"{text}"'))
            return text[1:].strip("\n")
        case "identifier" | "shorthand_property_identifier":
            return constants.get(text)
        case "array":
            return [_value(entry, constants) for entry in inner]
        case "object":
            keys = [pair.child_by_field_name("key") or pair for pair in inner]
            names = [str(_value(key, {})) if key.type == "string" else _text(key) for key in keys]
            values = [_value(pair.child_by_field_name("value") or pair, constants) for pair in inner]
            return dict(zip(names, values, strict=True))
        case "parenthesized_expression" | "template_substitution":
            return _value(inner[0], constants) if inner else None
    return None


def _text(node: Node | None, *fields: str) -> str:
    """The text of a node, or of the one under some fields; empty if there is none."""
    for field in fields:
        node = node.child_by_field_name(field) if node is not None else None
    return text_of(node).decode(errors="replace") if node is not None else ""
