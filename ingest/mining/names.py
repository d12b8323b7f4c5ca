"""A repository's own source files, and each file's uses of definitions in other files, found by name only.

A name refers to a definition in another file if that is the only one of that name at the top level of any file, if the
file defines nothing of that name itself, and if it can see the definition: see `is_seen`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import accumulate
from pathlib import PurePosixPath
from typing import Any, NamedTuple, cast

from tree_sitter import Node
from tree_sitter_language_pack import SupportedLanguage, get_language

from ingest.contents.definition_nodes import captured
from ingest.contents.definitions import docs_definitions, ending_of
from ingest.contents.syntax_trees import syntax_tree
from lake.offsets import split_lines
from lake.text import decode, language_of, words

TESTS = re.compile(
    r"(^|/)(tests?|testing|__tests__|specs?|testdata|fixtures|benchmarks?|conftest\.py)(/|$)"
    r"|(^|/)test_[^/]*$|(_test|_spec|[.-]test|[.-]spec|Tests?|IT|Spec)\.[a-z]+$"
)
GENERATED = re.compile(
    r"(^|/)(vendor|vendored|_vendor|third[_-]?party|external|externals|extern|node_modules|dist|generated|gen)/"
    r"|(\.min\.js|_pb2(_grpc)?\.pyi?|\.pb\.(go|cc|h)|\.g\.cs|\.designer\.cs|_generated\.[a-z]+|\.generated\.[a-z]+)$"
)
UNREADABLE = "file not in UTF-8 or with syntax errors"

MIN_CANDIDATES, MIN_HARD = 5, 10
"""As in RepoBench: a file imports at least 5; 5 to 9 candidates are easy, 10 or more hard."""

_SAME_FOLDER = frozenset({"csharp", "go", "java", "kotlin", "php", "ruby", "scala", "swift"})
"""Languages in which a file can use definitions in its own folder without an import."""
_IMPORT = re.compile(r"import|include|using|^use_|_use_|^mod_item$")
_REQUIRE = r"\brequire(_relative)?\b"
_FROM = re.compile(r"^\s*from\b.*?\bimport\b", re.DOTALL)
_IDENTIFIER = re.compile(r"identifier$|^constant$|^name$")
_WORD = re.compile(r"\w+")
_TEXT = re.compile(r"string|comment|heredoc|template")


NOT_ASKED = -1
"""Marks a line in a text of several lines, one that mentions, in a string, comment or attribute, a candidate that it
does not use, or one with a name that has another meaning somewhere in the file."""


class _Definition(NamedTuple):
    path: str
    line: int
    text: str


class Task(NamedTuple):
    """A candidate for a task; its `identity` does not change when code around it moves, `row` gives its row."""

    identity: tuple[str, ...]
    path: str
    line: int
    answer: str
    row: Callable[[], dict[str, Any]]


@dataclass(frozen=True)
class FileUsage:
    """A file, the texts of the definitions that it imports from its repository, and which lines use which of them.

    `uses` maps lines to numbers of candidates, and to `NOT_ASKED` as well if the line is never asked for.
    """

    repo: str
    path: str
    lines: Sequence[str]
    statements: Sequence[str]
    import_rows: Set[int]
    candidates: Sequence[str]
    uses: Mapping[int, Set[int]] = field(default_factory=dict)

    def tasks(self) -> Iterator[Task]:
        """A task for the first use of each candidate, in the order of the candidates."""
        is_code = (bool(line.strip() and row not in self.import_rows) for row, line in enumerate(self.lines))
        n_code_lines = list(accumulate(is_code, initial=0))
        for gold in range(len(self.candidates)):
            line = min((row for row, used in self.uses.items() if gold in used), default=None)
            # RepoBench's query is the last three lines.
            if line is not None and self.uses[line] == {gold} and n_code_lines[line] >= 3:
                yield self.task(line, gold)

    def task(self, line: int, gold: int) -> Task:
        """The task whose answer is a line that uses candidate `gold`."""
        answer = self.lines[line].removesuffix("\n")
        return Task((self.repo, self.path, answer.strip()), self.path, line, answer, partial(self.row, line, gold))

    def row(self, line: int, gold: int, split: str = "test") -> dict[str, object]:
        """A task in the form of the hub's files: the code is the file's text before the line, without the imports."""
        before = (text for row, text in enumerate(self.lines[:line]) if row not in self.import_rows)
        return {
            "repo_name": self.repo,
            "file_path": self.path,
            "context": list(self.candidates),
            "import_statement": "\n".join(self.statements),
            "code": "".join(before).lstrip("\n"),
            "next_line": self.lines[line].removesuffix("\n"),
            "gold_snippet_index": gold,
            "split": split,
            "level": "hard" if len(self.candidates) >= MIN_HARD else "easy",
        }


def parsed_sources(contents: Mapping[str, bytes], left_out: Counter[str]) -> Iterator[tuple[str, list[str], Node]]:
    """Path, lines and syntax tree of a repository's own source files; those that cannot be parsed are counted."""
    for path in filter(is_source, contents):
        lines = lines_of(contents[path])
        root = syntax_tree("".join(lines).encode(), language_of(path)) if lines else ""
        if lines and not isinstance(root, str) and not root.has_error:
            yield path, lines, root
        elif contents[path].strip():
            left_out[UNREADABLE] += 1


def usages_by_name(repository: str, contents: Mapping[str, bytes], left_out: Counter[str]) -> Iterator[FileUsage]:
    """Every file that uses enough definitions of other files, sorted by path."""
    known: dict[str, list[_Definition]] = {}
    own: dict[str, set[str]] = {}
    for path, lines, root in parsed_sources(contents, left_out):
        own[path], end_of_outer = set(), 0
        for definition in docs_definitions(root, "".join(lines).encode(), ending_of(path)):
            name = definition.name or ""
            own[path].add(name)
            if definition.byte_start >= end_of_outer and len(name) >= 3:
                text = "".join(lines[definition.line_start : definition.line_end]).rstrip("\n")
                known.setdefault(name, []).append(_Definition(path, definition.line_start, text))
            end_of_outer = max(end_of_outer, definition.byte_end)
    unique = {name: each[0] for name, each in known.items() if len(each) == 1}
    for path, lines, root in parsed_sources(contents, Counter()):
        usage = _usage(repository, path, lines, root, {name: unique[name] for name in unique.keys() - own[path]})
        if usage is not None:
            yield usage


def mine_lines(repository: str, contents: Mapping[str, bytes], left_out: Counter[str]) -> Iterator[Task]:
    """The next-line tasks of a repository's own source."""
    for usage in usages_by_name(repository, contents, left_out):
        yield from usage.tasks()


def _usage(
    repository: str, path: str, lines: list[str], root: Node, elsewhere: Mapping[str, _Definition]
) -> FileUsage | None:
    language = language_of(path)
    statements = [
        node
        for node in root.children
        if _IMPORT.search(node.type) or (len(_rows([node])) == 1 and re.search(_REQUIRE, _text(node)))
    ]
    texts = list(map(_text, statements))
    # The words of each import, and those that may name whole files: none if the import lists names from one file.
    imports = [({*words(text)}, {*words("" if "{" in text else _FROM.sub("", text))}) for text in texts]
    folder, by_folder = PurePosixPath(path).parent, language in _SAME_FOLDER

    def is_seen(name: str) -> bool:
        """Whether an import names it with its file or folder, or the whole file, or the language sees the folder."""
        file = PurePosixPath(elsewhere[name].path)
        stem, above, lower = file.stem.lower(), file.parent.name.lower(), name.lower()
        if by_folder and (file.parent == folder or any(above in whole for _, whole in imports)):
            return True
        return any(
            stem in whole or (lower in every and not every.isdisjoint({stem, above})) for every, whole in imports
        )

    identifiers = _captures(language, _IDENTIFIER, root)
    names = {_text(node) for node in identifiers} & elsewhere.keys()
    seen = [name for name in names if language_of(elsewhere[name].path) == language and is_seen(name)]
    seen.sort(key=lambda name: (elsewhere[name].path, elsewhere[name].line))
    # Two names for one definition are one candidate, and so are two definitions with equal text.
    candidates = list(dict.fromkeys(elsewhere[name].text for name in seen))
    if len(candidates) < MIN_CANDIDATES:
        return None
    number = {name: candidates.index(elsewhere[name].text) for name in seen}
    import_rows, uses, bound = _rows(statements), dict[int, set[int]](), set[int]()
    for node in identifiers:
        row, name = node.start_point.row, _text(node)
        if name in number and row not in import_rows:
            (bound if _is_bound(node) else uses.setdefault(row, set())).add(number[name])
    inside_text = _rows(node for node in _captures(language, _TEXT, root) if "\n" in _text(node))
    for row, used in uses.items():
        mentioned = {number[word] for word in _WORD.findall(lines[row]) if word in number}
        if row in inside_text or mentioned - used or used & bound:
            used.add(NOT_ASKED)
    return FileUsage(repository, path, lines, texts, import_rows, candidates, uses)


def _rows(nodes: Iterable[Node]) -> set[int]:
    return {row for node in nodes for row in range(node.start_point.row, node.end_point.row + 1)}


def _is_bound(node: Node) -> bool:
    parent = node.parent
    return (
        parent is not None
        and bool(re.search(r"assign|declar|param|binding|^let_|^for_|pattern", parent.type))
        and any(parent.child_by_field_name(field) == node for field in ("name", "left", "pattern", "declarator"))
    )


def _captures(language: str, kinds: re.Pattern[str], root: Node) -> list[Node]:
    """The nodes whose kind's name matches `kinds`, in the file's order."""
    return sorted(captured(root, language, _any_of(language, kinds)).get("it", []), key=lambda node: node.start_byte)


@cache
def _any_of(language: str, kinds: re.Pattern[str]) -> str:
    grammar = get_language(cast("SupportedLanguage", language))
    ids = (number for number in range(grammar.node_kind_count) if grammar.node_kind_is_named(number))
    visible = {grammar.node_kind_for_id(number) for number in ids if grammar.node_kind_is_visible(number)}
    names = sorted(name for name in visible if name and kinds.search(name))
    return f"[{' '.join(f'({name})' for name in names)}] @it"


def _text(node: Node) -> str:
    return (node.text or b"").decode()


def lines_of(data: bytes) -> list[str] | None:
    r"""A file's lines, ending in `\n`; None if it is not UTF-8 or has a lone `\r`, which some take for a line end."""
    text, n_replaced = decode(data.replace(b"\r\n", b"\n"))
    return None if n_replaced or "\r" in text else split_lines(text)


def is_source(path: str) -> bool:
    """Whether a path is the repository's own source: of a known language, and neither test, generated nor vendored."""
    return bool(language_of(path)) and not TESTS.search(path) and not GENERATED.search(path)
