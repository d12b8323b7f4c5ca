"""Discovery of declarations: each benchmark, chunker, retriever or protocol is one file in the folder of its kind."""

import importlib
import importlib.util
import pkgutil
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Protocol, TypeVar

from lake.errors import Exit, GoldspanError, located, shown_path


class Named(Protocol):
    """A declaration that has a name."""

    @property
    def name(self) -> str: ...  # noqa: D102


_Declared = TypeVar("_Declared", bound=Named)

CHUNKER_ALIASES: Mapping[str, str] = {
    "code-chunk-fixed": "fixed-nws-1500",
    "code-chunk-ast": "syntax-1500",
    # For chunkers of other libraries, a name without a size means the library's default size.
    "astchunk": "astchunk-1800",
    "chonkie-code": "chonkie-code-2048",
    "chonkie-recursive": "chonkie-recursive-2048",
    "chonkie-token": "chonkie-token-2048",
    "langchain-code": "langchain-code-4000",
    "llamaindex-code": "llamaindex-code-1500",
}
"""Chunker names used in other projects' configurations → the equivalent chunker here; all stages use the latter."""

CHUNKER_SETS: Mapping[str, tuple[str, ...]] = {
    "sizes": tuple(f"{family}-{n}" for family in ("fixed-nws", "syntax") for n in (300, 600, 1200, 1800, 2400)),
    "libraries": tuple(chunker for alias, chunker in CHUNKER_ALIASES.items() if not alias.startswith("code-chunk")),
}
"""A word → the chunkers it stands for: two families over a range of sizes, and the chunkers of other libraries."""


def discover(
    package: ModuleType, kind: type[_Declared], *, by_name: bool = True, in_every: bool = False
) -> dict[str, _Declared]:
    """The module-level declarations of one kind in a package, sorted by name or in the order of declaration.

    With `in_every`, a module without one is an error. Modules whose name starts with an underscore are skipped.
    """
    declarations, owner = dict[str, _Declared](), dict[str, str]()
    for info in sorted(pkgutil.iter_modules(package.__path__), key=lambda info: info.name):
        if info.name.startswith("_"):
            continue
        module = _imported(f"{package.__name__}.{info.name}", kind)
        declared = [value for value in vars(module).values() if isinstance(value, kind)]
        if in_every and not declared:
            message = f"{shown_path(Path(str(module.__file__)))} declares no {kind.__name__.lower()}"
            hint = f"End it with MINE = {kind.__name__}(…), as the files beside it do, or begin a helper's name with _."
            raise GoldspanError(message, hint=hint, code=Exit.USAGE)
        for value in declared:
            if declarations.setdefault(value.name, value) is not value:
                message = f"{kind.__name__.lower()} {value.name!r} is declared twice"
                where = f"{owner[value.name]} and {module.__name__}"
                raise GoldspanError(message, where=where, hint="Give one of them another name.")
            owner.setdefault(value.name, module.__name__)
    return dict(sorted(declarations.items())) if by_name else declarations


def _imported(name: str, kind: type[_Declared]) -> ModuleType:
    """A module that users may have written; an exception in it becomes an error with their file and line."""
    try:
        return importlib.import_module(name)
    except GoldspanError:
        raise
    except Exception as error:
        spec = importlib.util.find_spec(name)
        origin = Path(spec.origin) if spec and spec.origin else None
        message = f"this file of {kind.__name__.lower()}s cannot be imported: {located(error, origin)}"
        raise GoldspanError(message, hint="Mend it, or take it out of the folder.", code=Exit.USAGE) from error
