"""The digest of a part's code: over the import closure of the functions that made it.

The closure is every module of this checkout that a function's own module imports, directly or through others, found by
reading the sources. Comments, docstrings and formatting do not count, so that mending a sentence makes nothing again.
Modules that are looked up by name while the program runs are not followed: whoever looks them up passes their functions
along.
"""

import ast
import functools
import inspect
import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from lake.fingerprint import fingerprint, sha256_of

ROOT = Path(__file__).resolve().parents[1]
"""The checkout: modules below it are ours, all others are libraries."""
_CACHE = ROOT / "lake" / "cache"
"""The folder that caches results of reading sources: parsing them costs a second per run of a stage."""


def code_digest(*functions: Callable[..., object]) -> str:
    """The digest of every module in the closure of the imports of some functions, and of those bound in partials."""
    return digest_of(frozenset(Path(inspect.getfile(inspect.unwrap(each))) for each in _unbound(functions)))


@functools.cache
def digest_of(files: frozenset[Path]) -> str:
    """The digest of some modules and of every module in the closure of their imports."""
    closure, waiting = set[Path](), [file.resolve() for file in files]
    while waiting:
        file = waiting.pop()
        if file not in closure:
            closure.add(file)
            waiting += [other for name in _source(file)[1] for other in _files_of(name)]
    # By paths in the checkout: no digest depends on where that lies.
    paths = {file: file.relative_to(ROOT).as_posix() if file.is_relative_to(ROOT) else file.name for file in closure}
    return fingerprint([(paths[file], _source(file)[0]) for file in sorted(closure)])


def remembered(what: str, of: object, make: Callable[[], str]) -> str:
    """The text that `make` returns, cached on disk under everything that it depends on (`of`)."""
    key, file = fingerprint(of), _CACHE / f"{what}.json"
    known = _known(file)
    if key not in known:
        known[key] = make()
        beside = file.with_name(f".{file.name}.{os.getpid()}")
        # Where the checkout cannot be written to, it is worked out again.
        with suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True)
            beside.write_text(json.dumps(known))
            beside.replace(file)
    return known[key]


@functools.cache
def _known(file: Path) -> dict[str, str]:
    with suppress(OSError, ValueError, RecursionError):
        stored = json.loads(file.read_text())
        if isinstance(stored, dict):
            return {key: value for key, value in stored.items() if isinstance(value, str)}
    return {}


def _read_source(text: bytes, package: str) -> tuple[str, list[str]]:
    """A digest of a module's syntax tree without docstrings; what it may import, where relative from `package`."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        # A constant that stands alone says something to a reader: of a module, a function, or the name assigned above.
        if isinstance(body := getattr(node, "body", None), list):
            body[:] = [
                each for each in body if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))
            ]
    # Some versions of Python name lists that are empty, others leave them out.
    counts = re.sub(r", \w+=\[\]", "", ast.dump(tree))
    counts = re.sub(r"\(\w+=\[\](, )?", "(", counts)
    return sha256_of(counts.encode(errors="surrogatepass")), sorted(_imported(tree, package))


def _unbound(values: tuple[object, ...]) -> Iterator[Callable[..., object]]:
    """The functions and classes among some values, those within partial applications too."""
    for value in values:
        if isinstance(value, functools.partial):
            yield from _unbound((value.func, *value.args, *value.keywords.values()))
        elif inspect.isroutine(value) or inspect.isclass(value):
            yield value


@functools.cache
def _source(file: Path) -> tuple[str, list[str]]:
    text = file.read_bytes()
    package = ".".join(file.relative_to(ROOT).parent.parts) if file.is_relative_to(ROOT) else ""
    known = remembered("sources", [sha256_of(text), package], lambda: json.dumps(_read_source(text, package)))
    digest, imports = json.loads(known)
    return digest, imports


@functools.cache
def _files_of(name: str) -> tuple[Path, ...]:
    """The files that importing a dotted name runs: its packages' `__init__` and its own; none of a library."""
    parts = name.split(".")
    packages = [ROOT.joinpath(*parts[:n], "__init__.py") for n in range(1, len(parts) + 1)]
    module = ROOT.joinpath(*parts).with_suffix(".py")
    return tuple(file for file in [*packages, module] if file.is_file())


def _imported(tree: ast.Module, package: str) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            # What is imported from a package may be one of its modules.
            names |= {base, *(f"{base}.{alias.name}" for alias in node.names)}
    return names
