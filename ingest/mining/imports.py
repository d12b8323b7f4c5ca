"""What a file imports from its own repository, resolved to the definitions, and where it uses them: Python, Java."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from tree_sitter import Node

from ingest.mining.syntax import captured, is_alone, is_own_code, lines_of, parsed, string_rows, text_of
from ingest.mining.usage import Usage

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
_OTHERS: Mapping[str, str] = {"attribute": "attribute", "keyword_argument": "name"}
"""Node → the field whose identifier is a name of something else's."""

_DECLARATIONS = ("class_declaration", "record_declaration", "enum_declaration", "interface_declaration")
_NAMES = "[(identifier) (type_identifier)] @it"


@dataclass(frozen=True)
class _Module:
    """A parsed file: its top level's definitions by name, the last of each, and module and name of its imports."""

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
        if not all(node.start_point.column == 0 and is_alone(module.lines, node, node) for node in statements):
            return None
        origins = dict(pair for node in statements for pair in _imported(node, path))
        definitions = {name: self._definition(*origin, seen=(path,)) for name, origin in origins.items()}
        texts = {name: text for name, text in definitions.items() if text is not None}
        occurrences, closed = _occurrences(module.root), list(string_rows(module.root))
        return Usage.of(self._repo, path, module.lines, statements, texts, occurrences, closed)

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
            self._parsed[path] = root and _Module(
                lines, root, dict(_definitions(root)), dict(_all_imported(root, path))
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


def _occurrences(root: Node) -> Iterator[tuple[int, str, bool]]:
    """Line and name of every identifier that stands for itself, and whether it is bound there."""
    for node in captured("python", "(identifier) @it", root):
        parent = node.parent
        if parent is None or _stands_for(parent, _OTHERS.get(parent.type), node):
            continue
        is_bound = parent.type in _PATTERNS or _stands_for(parent, _BOUND_FIELDS.get(parent.type), node)
        yield node.start_point.row, text_of(node), is_bound


def _stands_for(parent: Node, field: str | None, node: Node) -> bool:
    """Whether a node stands in some field of its parent."""
    return field is not None and parent.child_by_field_name(field) == node


def java_usages(repo: str, files: Mapping[str, bytes]) -> list[Usage]:
    """Every file of the repository's own code that imports enough classes from it, by path."""
    modules = dict(_java_modules(files))
    classes = {_class_name(root, declared): text_of(declared) for _, root, declared in modules.values()}
    usages = (_java_usage(repo, path, *modules[path], classes) for path in modules if is_own_code(path))
    return [usage for usage in usages if usage is not None]


def _java_modules(files: Mapping[str, bytes]) -> Iterator[tuple[str, tuple[list[str], Node, Node]]]:
    """Path → lines, syntax tree and first declaration of every file that has one."""
    for path in sorted(path for path in files if path.endswith(".java")):
        lines = lines_of(files[path]) or []
        root = parsed(lines, "java")
        declared = next((node for node in root.children if node.type in _DECLARATIONS), None) if root else None
        if root is not None and declared is not None:
            yield path, (lines, root, declared)


def _java_usage(
    repo: str, path: str, lines: list[str], root: Node, declared: Node, classes: Mapping[str, str]
) -> Usage | None:
    statements = [node for node in root.children if node.type == "import_declaration"]
    imported = [text_of(node).removeprefix("import ").removesuffix(";") for node in statements]
    texts = {name.rpartition(".")[2]: classes[name] for name in imported if name in classes}
    occurrences = ((node.start_point.row, text_of(node), False) for node in captured("java", _NAMES, declared))
    return Usage.of(repo, path, lines, statements, texts, occurrences)


def _class_name(root: Node, declared: Node) -> str:
    """`<package>.<class>`, as an import names it."""
    package = next((node for node in root.children if node.type == "package_declaration"), None)
    folder = text_of(package).removeprefix("package ").removesuffix(";")
    return f"{folder}.{text_of(declared.child_by_field_name('name'))}"
