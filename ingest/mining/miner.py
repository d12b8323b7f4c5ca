"""Mine functions to complete from a repository's files, in every language that definitions are found in."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from typing import Literal, TypeVar

from tree_sitter import Node

from ingest.contents.definitions import docs_definitions, ending_of
from ingest.mining.names import DrawnTask, SourceFiles
from lake.text import regex_tokens

Level = Literal["function", "line"]

BODY_LINES = range(3, 29)
"""The allowed number of lines of a function's body: RepoEval's own 455 functions have 3 to 28."""
NESTED, OVERLOAD, NO_BODY = "inside another function", "overload", "no body with lines of its own"
LENGTH = f"body not of {BODY_LINES.start} to {BODY_LINES.stop - 1} lines"

_FUNCTION = re.compile(r"function|method|constructor|init_declaration")
_DOCSTRING = re.compile(rb"[rRuU]?[\"']")  # neither an f-string nor bytes


@dataclass(frozen=True)
class Completion(DrawnTask):
    """Lines `[start, end)` of a repository's file to be completed, from 0; `name` is that of a function, else empty."""

    repo: str
    lines: list[str]
    name: str

    @classmethod
    def of(
        cls, level: Level, repo: str, path: str, lines: list[str], start: int, end: int, name: str = "", known: str = ""
    ) -> Completion:
        """A completion; `known` identifies it and stays the same when code around it moves."""
        return cls((level, repo, path, known), (path, start), "".join(lines[start:end]), repo, lines, name)

    def row(self, number: int, limit: int) -> dict[str, object]:
        """A row of RepoEval's task files; the prompt has at most `limit` tokens, id and answer are as RepoCoder's."""
        path, line = self.location
        prompt, start = prompt_before(self.lines, line, limit)
        folder, answer = folder_of(self.repo), self.answer.removesuffix("\n")
        task, last = f"{folder}/{number}", dict[str, object](line_no=line)
        if self.name:
            task, answer = f"{self.repo.replace('/', '--')}/idx", f"{answer}\n"
            last = {"lineno": line, "function_name": self.name}
        parts = [folder, *path.split("/")]
        first = {"task_id": task, "ground_truth": answer, "fpath_tuple": parts, "context_start_lineno": start}
        return {"prompt": prompt, "metadata": {**first, **last}}


MinedTask = TypeVar("MinedTask", bound=DrawnTask)


def choose(tasks: Iterable[MinedTask], limit: int, seed: str = "") -> list[MinedTask]:
    """At most `limit` tasks, sorted by location: one of each file in turn, in hash order, without equal answers."""
    turns: Counter[str] = Counter()
    numbered = []
    for task in sorted(tasks, key=lambda task: task.order(seed)):
        turns[task.location[0]] += 1
        numbered.append((turns[task.location[0]], task))
    chosen: dict[str, MinedTask] = {}
    for _, task in sorted(numbered, key=itemgetter(0)):
        if len(chosen) < limit:
            chosen.setdefault(task.answer.strip(), task)
    return sorted(chosen.values(), key=lambda task: task.location)


def mine_functions(repository: str, files: SourceFiles) -> Iterator[Completion]:
    """The functions to complete in a repository's own source; those that a rule leaves out are counted."""
    for path, lines, root in files.parsed():
        times: Counter[str] = Counter()
        end_of_outer = 0
        definitions = docs_definitions(root, "".join(lines).encode(), ending_of(path))
        for definition in (each for each in definitions if _FUNCTION.search(each.kind)):
            hole: tuple[int, int] | str = NESTED
            if definition.byte_start >= end_of_outer:
                end_of_outer = definition.byte_end
                node = root.descendant_for_byte_range(definition.byte_start, definition.byte_end)
                while node is not None and node.type != definition.kind:
                    node = node.parent
                hole = _hole(node or root, lines)
            if isinstance(hole, str):
                files.left_out[hole] += 1
                continue
            called = definition.qualified_name or ""
            times[called] += 1
            name, known = definition.name or "", f"{called}#{times[called]}"
            yield Completion.of("function", repository, path, lines, *hole, name, known)


def folder_of(repo: str) -> str:
    """RepoEval's name for a repository's folder: `pallets/click` → `pallets_click`."""
    return repo.replace("/", "_")


_tokens = lru_cache(maxsize=1 << 14)(regex_tokens)


def prompt_before(lines: Sequence[str], hole: int, limit: int) -> tuple[str, int]:
    """The last `limit` tokens of the text before a line, right-stripped, and the line in which they start."""
    left = limit
    for at in range(hole - 1, -1, -1):
        tokens = _tokens(lines[at])
        if len(tokens) >= left:
            cut = len(lines[at])
            for token in tokens[len(tokens) - left :][::-1]:
                cut = lines[at].rindex(token, 0, cut)
            return (lines[at][cut:] + "".join(lines[at + 1 : hole])).rstrip(), at
        left -= len(tokens)
    return "".join(lines[:hole]).rstrip(), 0


def _hole(function: Node, lines: list[str]) -> tuple[int, int] | str:
    if _is_overload(function):
        return OVERLOAD
    # Kotlin's grammar has no field for bodies.
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
        statements = statements[bool(statements) and _is_docstring(statements[0]) :]
        # All other bodies without braces are expressions.
        if body.type not in ("block", "body_statement", "indented_block") or not statements:
            return NO_BODY
        start, end = statements[0].start_point.row, statements[-1].end_point.row + 1
        is_own = _is_alone(lines, statements[0], statements[-1])
    if end - start not in BODY_LINES:
        return LENGTH
    return (start, end) if is_own and "".join(lines[start:end]).strip() else NO_BODY


def _is_alone(lines: list[str], first: Node, last: Node) -> bool:
    """Whether the lines of the nodes `first` to `last` contain nothing else, except a comment at the end."""
    before = lines[first.start_point.row].encode()[: first.start_point.column].strip()
    after = lines[last.end_point.row].encode()[last.end_point.column :].strip()
    return not before and (not after or after.startswith(b"#"))


def _is_overload(function: Node) -> bool:
    around = function.parent
    decorators = around.named_children if around is not None and around.type == "decorated_definition" else []
    names = (child.text or b"" for child in decorators if child.type == "decorator")
    return any(name.rpartition(b".")[2].lstrip(b"@").startswith(b"overload") for name in names)


def _is_docstring(statement: Node) -> bool:
    if statement.type == "expression_statement" and statement.named_child_count == 1:
        statement = statement.named_children[0]
    return statement.type == "string" and bool(_DOCSTRING.match(statement.text or b""))
