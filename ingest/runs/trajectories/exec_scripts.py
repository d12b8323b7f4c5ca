"""JavaScript that an agent runs to call its tools, as in Codex' `exec`: which tools with which arguments."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, zip_longest

from tree_sitter import Node

from ingest.contents.syntax_trees import syntax_tree
from ingest.runs.trajectories.json_values import JsonObject, list_of, object_of

_MAX_CALLS = 1_000
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": ""}

Names = dict[str, object]
"""What the names of a script mean, as far as it was gone through."""


def script_calls(script: str) -> list[tuple[str, JsonObject]] | None:
    """The calls `tools.name({…})` of a script, in its order: the tool's name, and what it is given.

    Read are texts, templates, lists and objects, the constants they name, `+`, `join`, `String.raw`, and loops over
    lists that are written out (`for … of`, `map`, `forEach`), once for each entry. What only the run could tell is
    None. A text in place of an object is the argument `input`.

    Returns:
        The calls, at most 1,000; None for a script that cannot be parsed.
    """
    root = syntax_tree(script.encode(errors="replace"), "javascript")
    try:
        return None if isinstance(root, str) else list(islice(_calls(root, {}), _MAX_CALLS))
    except RecursionError:
        return None


def _calls(node: Node, names: Names) -> Iterator[tuple[str, JsonObject]]:
    if node.type == "for_in_statement":
        yield from _repeated(_part(node, "left"), _part(node, "right"), _part(node, "body"), names)
        return
    if node.type == "call_expression":
        owner, name, given = _call(node)
        if name in ("map", "forEach") and given:
            bound = _part(given[0], "parameter") or next(iter(_inside(_part(given[0], "parameters"))), None)
            yield from _repeated(bound, owner, _part(given[0], "body"), names)
            return
        if _text(owner) == "tools":
            first = _value(given[0], names) if given else None
            yield name, {"input": first} if isinstance(first, str) else object_of(first)
    for child in node.named_children:
        yield from _calls(child, names)
    if node.type == "variable_declarator":
        _bind(_part(node, "name"), _value(_part(node, "value"), names), names)


def _repeated(bound: Node | None, of: Node | None, body: Node | None, names: Names) -> Iterator[tuple[str, JsonObject]]:
    """The calls of a loop's body, once for each entry of the list that it goes over."""
    entries = _value(of, names)
    for entry in entries if isinstance(entries, list) else [None]:
        _bind(bound, entry, names)
        if body is not None:
            yield from _calls(body, names)


def _bind(name: Node | None, value: object, names: Names) -> None:
    if name is None or name.type != "array_pattern":
        names[_text(name)] = value
        return
    for one, entry in zip_longest(name.named_children, list_of(value)[: name.named_child_count]):
        _bind(one, entry, names)


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
        case "call_expression" if node is not None:
            owner, name, given = _call(node)
            if (_text(owner), name) == ("String", "raw"):
                return _joined([_piece(one, names, is_raw=True) for one in given])
            if name == "join":
                return _joined(_value(owner, names), _value(given[0], names) if given else ",")
    return None


def _piece(node: Node, names: Names, *, is_raw: bool = False) -> object:
    """A piece of a text: what stands there, an escape, or an expression in a template."""
    if node.type == "template_substitution":
        return _value(next(iter(node.named_children), None), names)
    text = _text(node)
    if is_raw or node.type != "escape_sequence":
        return text
    if text[1:2] in ("u", "x"):
        try:
            return chr(int(text[2:].strip("{}"), 16))
        except (ValueError, OverflowError):
            return text
    return _ESCAPED.get(text[1:], text[1:])


def _joined(entries: object, between: object = "") -> str | None:
    """Texts as one, None where one of them is not known."""
    if not isinstance(entries, list) or not isinstance(between, str):
        return None
    texts = [entry for entry in entries if isinstance(entry, str)]
    return between.join(texts) if len(texts) == len(entries) else None


def _call(node: Node) -> tuple[Node | None, str, list[Node]]:
    """The object, the method and the arguments of `object.method(…)`."""
    function = _part(node, "function")
    return _part(function, "object"), _text(_part(function, "property")), _inside(_part(node, "arguments"))


def _part(node: Node | None, name: str) -> Node | None:
    return node.child_by_field_name(name) if node is not None else None


def _inside(node: Node | None) -> list[Node]:
    return node.named_children if node is not None else []


def _text(node: Node | None) -> str:
    return (node.text or b"").decode(errors="replace") if node is not None else ""
