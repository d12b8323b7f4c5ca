"""Mine functions to complete from a repository's files, in every language that definitions are found in."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import count
from operator import itemgetter

from tree_sitter import Node

from ingest.contents.definitions import docs_definitions, ending_of
from ingest.mining.names import Task, parsed_sources
from lake.fingerprint import sha256_of
from lake.text import regex_tokens

PROMPT_TOKENS: Mapping[str, int] = {"1k": 667, "2k": 1333, "4k": 2667}
"""The maximum number of `regex` tokens in a prompt. RepoCoder allows 1,000, 2,000 or 4,000 of Codex's tokens; three of
those are about two `regex` tokens (RepoEval's own prompts, where cut, have a median of 1,326 at 2k and 2,679 at 4k)."""

BODY_LINES = range(3, 29)
"""The allowed number of lines of a function's body: RepoEval's own 455 functions have 3 to 28."""
NESTED, OVERLOAD, NO_BODY = "inside another function", "overload", "no body with lines of its own"
LENGTH = f"body not of {BODY_LINES.start} to {BODY_LINES.stop - 1} lines"

_FUNCTION = re.compile(r"function|method|constructor|init_declaration")
_DOCSTRING = re.compile(rb"[rRuU]?[\"']")  # neither an f-string nor bytes


def choose(tasks: Iterable[Task], limit: int, seed: str = "") -> list[Task]:
    """At most `limit` tasks, sorted by place: one of each file in turn, in hash order, without equal answers."""

    def order(task: Task) -> tuple[str, str, int]:
        identity = (seed, *task.identity) if seed else task.identity
        return sha256_of("\0".join(identity).encode()), task.path, task.line

    turns = defaultdict[str, Iterator[int]](count)
    numbered = [(next(turns[task.path]), task) for task in sorted(tasks, key=order)]
    chosen: dict[str, Task] = {}
    for _, task in sorted(numbered, key=itemgetter(0)):
        if len(chosen) < limit:
            chosen.setdefault(task.answer.strip(), task)
    return sorted(chosen.values(), key=lambda task: (task.path, task.line))


def completion_row(
    repo: str, path: str, lines: list[str], start: int, end: int, name: str = "", number: int = 0,
    limit: int = PROMPT_TOKENS["2k"],
) -> dict[str, object]:  # fmt: skip
    """A row of RepoEval's task files: lines `[start, end)`, from 0, are to be completed.

    The answer and the id are as RepoCoder's, with a function's `name` for its body, else with the task's `number`.
    """
    prompt, context_start = prompt_before(lines, start, limit)
    # RepoEval's name for a repository's folder: `pallets_click`.
    folder, answer = repo.replace("/", "_"), "".join(lines[start:end]).removesuffix("\n")
    task, last = f"{folder}/{number}", dict[str, object](line_no=start)
    if name:
        task, answer = f"{repo.replace('/', '--')}/idx", f"{answer}\n"
        last = {"lineno": start, "function_name": name}
    parts = [folder, *path.split("/")]
    first = {"task_id": task, "ground_truth": answer, "fpath_tuple": parts, "context_start_lineno": context_start}
    return {"prompt": prompt, "metadata": {**first, **last}}


def mine_functions(repository: str, contents: Mapping[str, bytes], left_out: Counter[str]) -> Iterator[Task]:
    """The functions to complete in a repository's own source; those that a rule leaves out are counted."""
    for path, lines, root in parsed_sources(contents, left_out):
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
                left_out[hole] += 1
                continue
            name, (start, end) = definition.qualified_name or "", hole
            times[name] += 1
            row = partial(completion_row, repository, path, lines, start, end, definition.name or "")
            identity = ("function", repository, path, f"{name}#{times[name]}")
            yield Task(identity, path, start, "".join(lines[start:end]), row)


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
    around = function.parent
    decorators = around.named_children if around is not None and around.type == "decorated_definition" else []
    names = (child.text or b"" for child in decorators if child.type == "decorator")
    if any(name.rpartition(b".")[2].lstrip(b"@").startswith(b"overload") for name in names):
        return OVERLOAD
    # Kotlin's grammar has no field for bodies.
    inner = (child for child in function.named_children if child.type == "function_body")
    body = function.child_by_field_name("body") or next(inner, None)
    if body is None:
        return NO_BODY
    if (body.text or b"").startswith(b"{"):
        start, end = body.start_point.row + 1, body.end_point.row
        before, after = lines[start - 1].encode()[body.start_point.column + 1 :], lines[end].encode()
        is_own = not (before + after[: body.end_point.column - 1]).strip()
    else:
        statements = [child for child in body.named_children if child.type != "comment"]
        first = statements[0] if statements else body
        if first.type == "expression_statement" and first.named_child_count == 1:
            first = first.named_children[0]
        if first.type == "string" and _DOCSTRING.match(first.text or b""):
            statements = statements[1:]
        # All other bodies without braces are expressions.
        if body.type not in ("block", "body_statement", "indented_block") or not statements:
            return NO_BODY
        start, end = statements[0].start_point.row, statements[-1].end_point.row + 1
        before = lines[start].encode()[: statements[0].start_point.column].strip()
        after = lines[end - 1].encode()[statements[-1].end_point.column :].strip()
        is_own = not before and (not after or after.startswith(b"#"))
    if end - start not in BODY_LINES:
        return LENGTH
    return (start, end) if is_own and "".join(lines[start:end]).strip() else NO_BODY
