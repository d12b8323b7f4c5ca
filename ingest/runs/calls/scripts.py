"""JavaScript that an agent runs to call its tools, as in Codex' `exec`: which tools with which arguments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from tree_sitter import Node

from ingest.contents.syntax_trees import syntax_tree
from ingest.runs.json_values import JsonObject, object_of

_MAX_CALLS = 1_000
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": ""}

Names = dict[str, object]
"""What the names of a script mean, as far as it was gone through."""


def script_calls(script: str) -> list[tuple[str, JsonObject]] | None:
    """The calls `tools.name({…})` of a script, in its order: the tool's name, and what it is given.

    Read are texts, templates, lists, objects, the constants they name, and `+`. What only the run could tell is None.
    A text in place of an object is the argument `input`.

    Returns:
        The calls, at most 1,000; None for a script that cannot be parsed.
    """
    root = syntax_tree(script.encode(errors="replace"), "javascript")
    try:
        return None if isinstance(root, str) else list(islice(_calls(root, {}), _MAX_CALLS))
    except RecursionError:
        return None


def _calls(node: Node, names: Names) -> Iterator[tuple[str, JsonObject]]:
    if node.type == "call_expression":
        function, given = _part(node, "function"), _inside(_part(node, "arguments"))
        if _text(_part(function, "object")) == "tools":
            first = _value(given[0], names) if given else None
            name = _text(_part(function, "property"))
            yield name, {"input": first} if isinstance(first, str) else object_of(first)
    for child in node.named_children:
        yield from _calls(child, names)
    if node.type == "variable_declarator":
        names[_text(_part(node, "name"))] = _value(_part(node, "value"), names)


def _value(node: Node | None, names: Names) -> object:
    """What an expression is, None where only the run could tell."""
    inner = _inside(node)
    match node.type if node is not None else "":
        case "string" | "template_string":
            return _joined([_piece(one, names) for one in inner])
        case "identifier" | "shorthand_property_identifier":
            return names.get(_text(node))
        case "array":
            return [_value(one, names) for one in inner]
        case "object":
            keys = [_part(one, "key") or one for one in inner]
            named = [str(_value(key, {})) if key.type == "string" else _text(key) for key in keys]
            return {key: _value(_part(one, "value") or one, names) for key, one in zip(named, inner, strict=True)}
        case "parenthesized_expression":
            return _value(inner[0], names) if inner else None
        case "binary_expression" if _text(_part(node, "operator")) == "+":
            return _joined([_value(one, names) for one in inner])
    return None


def _piece(node: Node, names: Names) -> object:
    """A piece of a text: what stands there, an escape, or an expression in a template."""
    text = _text(node)
    if node.type == "template_substitution":
        return _value(next(iter(node.named_children), None), names)
    if node.type != "escape_sequence":
        return text
    if text[1:2] in ("u", "x"):
        try:
            return chr(int(text[2:].strip("{}"), 16))
        except (ValueError, OverflowError):
            return text
    return _ESCAPED.get(text[1:], text[1:])


def _joined(pieces: Sequence[object]) -> str | None:
    """Texts as one, None where one of them is not known."""
    texts = [piece for piece in pieces if isinstance(piece, str)]
    return "".join(texts) if len(texts) == len(pieces) else None


def _part(node: Node | None, name: str) -> Node | None:
    return node.child_by_field_name(name) if node is not None else None


def _inside(node: Node | None) -> list[Node]:
    return node.named_children if node is not None else []


def _text(node: Node | None) -> str:
    return (node.text or b"").decode(errors="replace") if node is not None else ""
