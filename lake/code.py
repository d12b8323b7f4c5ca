"""A digest of the code that makes a part, computed over the import closure of the functions that make it.

The closure is every module of this checkout that a function's module imports, directly or indirectly, by its source
without comments, docstrings and formatting. Code that imports by name at run time passes the functions along.
"""

import ast
import functools
import inspect
import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib.util import resolve_name
from pathlib import Path

from lake.fingerprint import fingerprint, sha256_of

ROOT = Path(__file__).resolve().parents[1]
"""The checkout: modules below it are Goldspan's, all others are libraries."""
_CACHE = ROOT / "lake" / "cache"  # of parsed sources: parsing them takes a second per run of a stage


def code_digest(*functions: Callable[..., object]) -> str:
    """The digest of the import closure of some functions, including functions bound in partials."""
    return digest_of(frozenset(map(_file_of, _unbound(functions))))


@functools.cache
def _file_of(function: Callable[..., object]) -> Path:
    return Path(inspect.getfile(inspect.unwrap(function)))


@functools.cache
def digest_of(files: frozenset[Path]) -> str:
    """The digest of some modules and of every module that they import, directly or indirectly."""
    closure, waiting = set[Path](), [file.resolve() for file in files]
    while waiting:
        file = waiting.pop()
        if file not in closure:
            closure.add(file)
            waiting += [other for name in _source(file)[1] for other in _files_of(name)]
    # Paths are relative to the checkout, so the digest does not depend on the checkout's location.
    paths = {file: file.relative_to(ROOT).as_posix() if file.is_relative_to(ROOT) else file.name for file in closure}
    return fingerprint([(paths[file], _source(file)[0]) for file in sorted(closure)])


def remembered(what: str, of: object, make: Callable[[], str]) -> str:
    """The text that `make` returns, cached on disk; the key is `of`, everything that the text depends on."""
    key, file = fingerprint(of), _CACHE / f"{what}.json"
    known = _known(file)
    if key not in known:
        known[key] = make()
        beside = file.with_name(f".{file.name}.{os.getpid()}")
        # If the checkout is read-only, the text is computed anew each time.
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
    """The digest of a module's syntax tree without docstrings, and its imports, resolved relative to `package`."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        # A bare constant is documentation: of a module, a function, or the name assigned above it.
        if isinstance(body := getattr(node, "body", None), list):
            body[:] = [
                each for each in body if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))
            ]
    # Some Python versions print empty lists, others omit them.
    counts = re.sub(r", \w+=\[\]", "", ast.dump(tree))
    counts = re.sub(r"\(\w+=\[\](, )?", "(", counts)
    return sha256_of(counts.encode(errors="surrogatepass")), sorted(_imported(tree, package))


def _unbound(values: tuple[object, ...]) -> Iterator[Callable[..., object]]:
    """The functions and classes among `values`, including those inside partials."""
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
    """The files that importing a dotted name runs: each package's `__init__` and the module; empty for libraries."""
    parts = name.split(".")
    packages = [ROOT.joinpath(*parts[:n], "__init__.py") for n in range(1, len(parts) + 1)]
    return tuple(file for file in [*packages, ROOT.joinpath(*parts).with_suffix(".py")] if file.is_file())


def _imported(tree: ast.Module, package: str) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        # A relative import of a file outside the checkout is of none inside.
        elif isinstance(node, ast.ImportFrom) and (package or not node.level):
            base = resolve_name("." * node.level + (node.module or ""), package)
            # A name imported from a package may be one of its modules.
            names |= {base, *(f"{base}.{alias.name}" for alias in node.names)}
    return names
