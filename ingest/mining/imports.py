"""What a Python file imports from its own repository, resolved to the definitions, and where it uses them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from tree_sitter import Node

from ingest.mining.syntax import captured, is_own_code, lines_of, parsed, string_rows, text_of
from ingest.mining.usage import MIN_CANDIDATES, Usage, ambiguous_rows

_DEFINITIONS = ("function_definition", "class_definition")
_IMPORTS = ("import_statement", "import_from_statement", "future_import_statement")
_BLOCKS = ("if_statement", "try_statement", "else_clause", "elif_clause", "except_clause", "finally_clause", "block")
_PATTERNS = (
    "parameters", "lambda_parameters", "typed_parameter", "list_splat_pattern", "dictionary_splat_pattern",
    "pattern_list", "tuple_pattern", "list_pattern", "as_pattern_target", "global_statement", "nonlocal_statement",
    "dotted_name", "aliased_import", "case_pattern", "delete_statement",
)  # fmt: skip
"""Nodes whose own identifiers are bound, not used; a dotted name is one of an import or of a case."""
_BOUND_FIELDS: Mapping[str, str] = {
    "function_definition": "name",
    "class_definition": "name",
    "default_parameter": "name",
    "typed_default_parameter": "name",
    "named_expression": "name",
    "assignment": "left",
    "augmented_assignment": "left",
    "for_statement": "left",
    "for_in_clause": "left",
}
"""Node → the field whose identifier it binds."""


@dataclass(frozen=True)
class _Module:
    """A parsed file: where it is, and what its top level defines and imports.

    Attributes:
        definitions: Name → the definition's text with its decorators; the last one, which is the one that counts.
        imports: Name → module and name that an `import from` at the top level gives it, inside `if` and `try` too.
    """

    path: str
    lines: list[str]
    root: Node
    definitions: Mapping[str, str]
    imports: Mapping[str, tuple[str, str]]


def python_usages(repo: str, files: Mapping[str, bytes]) -> list[Usage]:
    """Every file of the repository's own code that imports enough definitions from it, by path."""
    modules = _Modules(repo, files)
    usages = (modules.usage(path) for path in files if path.endswith(".py") and is_own_code(path))
    return [usage for usage in usages if usage is not None]


class _Modules:
    """A repository's modules, each parsed once and when needed."""

    def __init__(self, repo: str, files: Mapping[str, bytes]) -> None:
        self._repo, self._files = repo, files
        self._parsed: dict[str, _Module | None] = {}

    def usage(self, path: str) -> Usage | None:
        module = self._parse(path)
        if module is None:
            return None
        statements = [node for node in module.root.children if node.type in _IMPORTS]
        rows = {row for node in statements for row in range(node.start_point.row, node.end_point.row + 1)}
        named = dict(pair for node in statements for pair in _imported(node, path))
        texts = {name: self._definition(*origin, seen=(path,)) for name, origin in named.items()}
        # Two names of one definition are one candidate, and so are two definitions that read the same.
        candidates = list(dict.fromkeys(text for text in texts.values() if text is not None))
        if len(candidates) < MIN_CANDIDATES or not all(_is_alone(module.lines, node) for node in statements):
            return None
        names = {name: candidates.index(text) for name, text in texts.items() if text is not None}
        uses, bound = _uses(module.root, names, rows)
        return Usage(
            repo=self._repo,
            path=path,
            lines=module.lines,
            statements=[text_of(node) for node in statements],
            import_rows=frozenset(rows),
            candidates=candidates,
            uses=uses,
            unasked=frozenset(names[name] for name in bound),
            closed=frozenset([*string_rows(module.root), *ambiguous_rows(module.lines, names, uses)]),
        )

    def _definition(self, module_name: str, name: str, seen: tuple[str, ...]) -> str | None:
        """The text of a function or class, followed through re-exports; None for anything else."""
        folder = module_name.replace(".", "/")
        for path in (f"{folder}/__init__.py", f"{folder}.py"):
            module = self._parse(path) if path in self._files and path not in seen else None
            if module is not None:
                if name in module.definitions:
                    return module.definitions[name]
                origin = module.imports.get(name)
                return self._definition(*origin, seen=(*seen, path)) if origin else None
        return None

    def _parse(self, path: str) -> _Module | None:
        if path not in self._parsed:
            lines = lines_of(self._files[path]) or []
            root = parsed(lines, "python")
            self._parsed[path] = (
                None
                if root is None
                else _Module(path, lines, root, dict(_definitions(root)), dict(_all_imported(root, path)))
            )
        return self._parsed[path]


def _definitions(root: Node) -> Iterator[tuple[str, str]]:
    for node in root.children:
        inner = node.child_by_field_name("definition") if node.type == "decorated_definition" else node
        if inner is not None and inner.type in _DEFINITIONS:
            yield text_of(inner.child_by_field_name("name")), text_of(node)


def _all_imported(node: Node, path: str) -> Iterator[tuple[str, tuple[str, str]]]:
    for child in node.children:
        if child.type in _IMPORTS:
            yield from _imported(child, path)
        elif child.type in _BLOCKS:
            yield from _all_imported(child, path)


def _imported(statement: Node, path: str) -> Iterator[tuple[str, tuple[str, str]]]:
    """The names an import of a file gives, each with its absolute module and its name there; none for a module."""
    origin = statement.child_by_field_name("module_name")
    module = _absolute(text_of(origin), path) if origin is not None else None
    for node in statement.children_by_field_name("name"):
        name, alias = text_of(node), text_of(node)
        if node.type == "aliased_import":
            name, alias = (text_of(node.child_by_field_name(field)) for field in ("name", "alias"))
        if module is not None:
            yield alias, (module, name)
        else:
            yield alias.partition(".")[0], ("", "")


def _absolute(module: str, path: str) -> str | None:
    """`.core` in `click/testing.py` → `click.core`; None where it climbs out of the package."""
    name = module.lstrip(".")
    n_dots = len(module) - len(name)
    if not n_dots:
        return name
    folders: Sequence[str] = PurePosixPath(path).parts[:-1]
    if n_dots > len(folders):
        return None
    return ".".join([*folders[: len(folders) - n_dots + 1], *([name] if name else [])])


def _is_alone(lines: Sequence[str], node: Node) -> bool:
    """Whether nothing but a statement, and a comment after it, stands on its lines."""
    after = lines[node.end_point.row].encode()[node.end_point.column :].strip()
    return node.start_point.column == 0 and (not after or after.startswith(b"#"))


def _uses(
    root: Node, names: Mapping[str, int], import_rows: set[int]
) -> tuple[dict[int, frozenset[int]], frozenset[str]]:
    """Line → candidates used there; and the names that something else in the file is called too."""
    uses: dict[int, set[int]] = {}
    bound: set[str] = set()
    for node in captured("python", "(identifier) @it", root):
        name, row = text_of(node), node.start_point.row
        if name not in names or row in import_rows or node.parent is None:
            continue
        parent = node.parent
        if (parent.type == "attribute" and parent.child_by_field_name("attribute") == node) or (
            parent.type == "keyword_argument" and parent.child_by_field_name("name") == node
        ):
            continue
        field = _BOUND_FIELDS.get(parent.type)
        if parent.type in _PATTERNS or (field is not None and parent.child_by_field_name(field) == node):
            bound.add(name)
        else:
            uses.setdefault(row, set()).add(names[name])
    return {row: frozenset(used) for row, used in uses.items()}, frozenset(bound)
