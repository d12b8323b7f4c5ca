"""What is to be completed in a file: bodies of functions in every language with definitions, and lines of Python."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from ingest.contents.definitions import docs
from ingest.contents.definitions.nodes import Definition
from ingest.mining.syntax import captured, is_alone, string_rows
from lake.text import regex_tokens

BODY_LINES = range(3, 29)
"""How many lines a function's body has: what RepoEval's own 455 functions have, 3 to 28."""
LINE_TOKENS = 5
"""A line of fewer tokens is no target; RepoCoder's `line_min_tokens`."""
NESTED, OVERLOAD, NO_BODY = "inside another function", "overload", "no body with lines of its own"
UNDOCUMENTED, LENGTH = "undocumented", f"body not of {BODY_LINES.start} to {BODY_LINES.stop - 1} lines"

_FUNCTION = re.compile(r"function|method|constructor|init_declaration")
_DOCSTRING = re.compile(rb"[rRuU]?[\"']")  # neither formatted nor bytes
_BLOCKS = ("block", "body_statement", "indented_block")
"""Bodies without braces; any other such body is an expression."""


@dataclass(frozen=True)
class Target:
    """Lines `[start, end)` that are to be completed, from 0; the identity stays when code around them moves."""

    start: int
    end: int
    name: str
    identity: str


def function_targets(
    lines: list[str], root: Node, ending: str = "py", *, documented: bool = True, left_out: Counter[str] | None = None
) -> Iterator[Target]:
    """The bodies of a file's functions and methods, after the docstring in Python; what is none is counted by rule.

    With `documented` only those are taken that have a docstring.
    """
    counts: Counter[str] = Counter() if left_out is None else left_out
    times: Counter[str] = Counter()
    end_of_outer = 0
    for definition in docs.definitions(root, "".join(lines).encode(), ending):
        if not _FUNCTION.search(definition.kind):
            continue
        if definition.byte_start < end_of_outer:
            counts[NESTED] += 1
            continue
        end_of_outer = definition.byte_end
        hole = _hole(_node_of(root, definition), lines, documented=documented)
        if isinstance(hole, str):
            counts[hole] += 1
            continue
        name = definition.qualified_name or ""
        times[name] += 1
        yield Target(*hole, definition.name or "", f"{name}#{times[name]}")


def line_targets(lines: list[str], root: Node) -> Iterator[Target]:
    """The lines inside Python's functions that are worth asking for, as in RepoCoder's `random_benchmark.py`."""
    inside: set[int] = set()
    for body in captured("python", "(function_definition body: (block) @it)", root):
        inside.update(range(body.start_point.row, body.end_point.row + 1))
    inside.difference_update(string_rows(root))
    for row in sorted(inside - {0}):
        text = lines[row].strip()
        is_code = bool(text) and not text.startswith(("#", '"', "'")) and bool(lines[row - 1].strip())
        if is_code and len(regex_tokens(text)) >= LINE_TOKENS:
            yield Target(row, row + 1, "", text)


def _node_of(root: Node, definition: Definition) -> Node:
    node = root.descendant_for_byte_range(definition.byte_start, definition.byte_end)
    while node is not None and node.type != definition.kind:
        node = node.parent
    return node or root


def _hole(function: Node, lines: list[str], *, documented: bool) -> tuple[int, int] | str:
    """The lines of a function's body, or the rule that leaves it out."""
    if _is_overload(function):
        return OVERLOAD
    # Kotlin's grammar has no word for bodies.
    inner = (child for child in function.named_children if child.type == "function_body")
    body = function.child_by_field_name("body") or next(inner, None)
    if body is None:
        return NO_BODY
    if (body.text or b"").startswith(b"{"):
        start, end = body.start_point.row + 1, body.end_point.row
        before = lines[start - 1].encode()[body.start_point.column + 1 :].strip()
        after = lines[end].encode()[: body.end_point.column - 1].strip()
        is_own = not before and not after
    else:
        statements = [child for child in body.named_children if child.type != "comment"]
        is_documented = bool(statements) and _is_docstring(statements[0])
        if documented and not is_documented:
            return UNDOCUMENTED
        statements = statements[is_documented:]
        if body.type not in _BLOCKS or not statements:
            return NO_BODY
        start, end = statements[0].start_point.row, statements[-1].end_point.row + 1
        is_own = is_alone(lines, statements[0], statements[-1])
    if end - start not in BODY_LINES:
        return LENGTH
    return (start, end) if is_own and "".join(lines[start:end]).strip() else NO_BODY


def _is_overload(function: Node) -> bool:
    around = function.parent
    decorators = around.named_children if around is not None and around.type == "decorated_definition" else []
    names = (child.text or b"" for child in decorators if child.type == "decorator")
    return any(name.rpartition(b".")[2].lstrip(b"@").startswith(b"overload") for name in names)


def _is_docstring(statement: Node) -> bool:
    if statement.type == "expression_statement" and statement.named_child_count == 1:
        statement = statement.named_children[0]
    return statement.type == "string" and bool(_DOCSTRING.match(statement.text or b""))
