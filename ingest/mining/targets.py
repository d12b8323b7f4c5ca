"""What can be cut out of a Python file as a completion target: bodies of documented functions, lines of code."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tree_sitter import Node

from ingest.mining.syntax import captured, is_alone, parsed, string_rows, text_of
from lake.text import regex_tokens

BODY_LINES = range(3, 29)
"""How many lines a function's body has: what RepoEval's own 455 functions have, 3 to 28."""
LINE_TOKENS = 5
"""A line of fewer tokens is no target; RepoCoder's `line_min_tokens`."""

_DOCSTRING = re.compile(rb"[rRuU]?[\"']")  # neither formatted nor bytes
_SCOPES = ("function_definition", "class_definition")


@dataclass(frozen=True)
class Target:
    """Lines `[start, end)` that are to be completed, from 0; the identity stays when code around them moves."""

    start: int
    end: int
    name: str
    identity: str


def function_targets(lines: list[str]) -> list[Target]:
    """The bodies of a file's documented functions and methods, from the first statement after the docstring.

    Functions inside functions and overloads are left out, and so is a file that does not parse without an error.
    """
    root = parsed(lines, "python")
    found: list[Target] = []
    times: dict[str, int] = {}
    for function in captured("python", "(function_definition) @it", root) if root is not None else ():
        name = _qualified_name(function)
        body = _documented_body(function) if name is not None else None
        if name is None or body is None:
            continue
        start, end = body[0].start_point.row, body[-1].end_point.row + 1
        if end - start not in BODY_LINES or not is_alone(lines, body[0], body[-1]):
            continue
        times[name] = times.get(name, 0) + 1
        found.append(Target(start, end, name.rpartition(".")[2], f"{name}#{times[name]}"))
    return found


def line_targets(lines: list[str]) -> list[Target]:
    """The lines of code inside functions that are worth asking for, as in RepoCoder's `random_benchmark.py`."""
    root = parsed(lines, "python")
    if root is None:
        return []
    inside: set[int] = set()
    for body in captured("python", "(function_definition body: (block) @it)", root):
        inside.update(range(body.start_point.row, body.end_point.row + 1))
    inside.difference_update(string_rows(root))
    found: list[Target] = []
    for row in sorted(inside - {0}):
        text = lines[row].strip()
        is_code = bool(text) and not text.startswith(("#", '"', "'")) and bool(lines[row - 1].strip())
        if is_code and len(regex_tokens(text)) >= LINE_TOKENS:
            found.append(Target(row, row + 1, "", text))
    return found


def _qualified_name(function: Node) -> str | None:
    """`Class.method`; None for a function inside a function and for an overload."""
    if function.parent is not None and function.parent.type == "decorated_definition":
        decorators = [child.text or b"" for child in function.parent.named_children if child.type == "decorator"]
        if any(text.rpartition(b".")[2].lstrip(b"@").startswith(b"overload") for text in decorators):
            return None
    names: list[str] = []
    node: Node | None = function
    while node is not None:
        if node.type in _SCOPES:
            if names and node.type == "function_definition":
                return None
            names.append(text_of(node.child_by_field_name("name")))
        node = node.parent
    return ".".join(reversed(names))


def _documented_body(function: Node) -> list[Node] | None:
    """The statements after the docstring; None where there is no docstring or nothing after it."""
    block = function.child_by_field_name("body")
    statements = [child for child in block.named_children if child.type != "comment"] if block is not None else []
    first = statements[0] if statements else None
    if first is not None and first.type == "expression_statement" and first.named_child_count == 1:
        first = first.named_children[0]
    if first is None or first.type != "string" or not _DOCSTRING.match(first.text or b""):
        return None
    return statements[1:] or None
