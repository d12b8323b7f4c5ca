"""What a Java file imports from its own repository, and where it uses it, as `imports.py` has it of Python."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tree_sitter import Node

from ingest.mining.syntax import captured, is_own_code, lines_of, parsed, text_of
from ingest.mining.usage import Usage

_DECLARATIONS = ("class_declaration", "record_declaration", "enum_declaration", "interface_declaration")
_NAMES = "[(identifier) (type_identifier)] @it"


def java_usages(repo: str, files: Mapping[str, bytes]) -> list[Usage]:
    """Every file of the repository's own code that imports enough classes from it, by path."""
    modules = dict(_modules(files))
    classes = {_class_name(root, declared): text_of(declared) for _, root, declared in modules.values()}
    usages = (_usage(repo, path, *modules[path], classes) for path in modules if is_own_code(path))
    return [usage for usage in usages if usage is not None]


def _modules(files: Mapping[str, bytes]) -> Iterator[tuple[str, tuple[list[str], Node, Node]]]:
    """Path → lines, syntax tree and first declaration of every file that has one."""
    for path in sorted(path for path in files if path.endswith(".java")):
        lines = lines_of(files[path]) or []
        root = parsed(lines, "java")
        declared = next((node for node in root.children if node.type in _DECLARATIONS), None) if root else None
        if root is not None and declared is not None:
            yield path, (lines, root, declared)


def _usage(
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
