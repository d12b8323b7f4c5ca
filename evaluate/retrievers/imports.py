"""Files that a query's imports reach, the nearest first: what the code at hand has said that it will use.

Which files an import names is known by the languages' conventions alone, as no build is at hand.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evaluate.retrievers import Floats, Index, Integers, Pool, Queries, Retriever
from evaluate.retrievers.bm25 import BM25_OKAPI
from evaluate.texts.import_statements import Import, imports_of
from lake.text import language_of, split_lines

_SCRIPTS = (".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mjs", ".cjs")
_ENDINGS = {
    "python": (".py", "/__init__.py", ".pyi"),
    **dict.fromkeys(("javascript", "typescript", "tsx"), ("", *_SCRIPTS, *(f"/index{one}" for one in _SCRIPTS))),
    "java": (".java", ".kt", ".scala"),
    "kotlin": (".kt", ".java"),
    "scala": (".scala", ".java"),
    "rust": (".rs", "/mod.rs", "/lib.rs"),
    "csharp": (".cs",),
    "swift": (".swift",),
    "php": (".php", ""),
    "ruby": (".rb", ""),
    "c": ("",),
    "cpp": ("",),
}
"""Language → what follows a module's path in a file's, in the order of preference."""
_BY_PATH = ("javascript", "typescript", "tsx", "c", "cpp", "ruby", "php")
"""Languages whose imports name files by paths."""


class ImportPaths:
    """The files of a pool, found by how their paths end.

    Args:
        paths: Every path, any number of times.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = frozenset(paths)
        ordered = sorted(self._paths)
        self._called = _grouped(ordered, posixpath.basename)
        self._inside = _grouped(ordered, posixpath.dirname)
        self._folders = _grouped(self._inside, posixpath.basename)

    def of(self, named: Import, importer: str | None, language: str) -> Iterator[str]:
        """The files that an import means; none where it names what is not in the pool.

        Args:
            named: The import.
            importer: The file that it stands in, where that is known.
            language: In which language it is written.
        """
        if language == "go":
            yield from self._package(named.module, importer)
        elif language == "python":
            yield from self._python(named, importer)
        elif language in _BY_PATH and "\\" not in named.module:
            yield from self._file(named.module, importer, language)
        else:
            yield from self._symbol(named.module, importer, language)

    def _python(self, named: Import, importer: str | None) -> Iterator[str]:
        """A module, and of what is taken out of it the submodules."""
        name = named.module.lstrip(".")
        n_up, tail = len(named.module) - len(name), name.replace(".", "/")
        if n_up and importer is not None:
            folder = importer.rpartition("/")[0].split("/") if "/" in importer else []
            if n_up - 1 > len(folder):
                return
            tail = "/".join([*folder[: len(folder) - n_up + 1], *([tail] if tail else [])])
        for one in (tail, *(f"{tail}/{name}" if tail else name for name in named.names)):
            found = self._first(one, importer, "python", is_whole=bool(n_up) and importer is not None)
            # What lies in a package is called by the package's name: `import types` is not its `types.py`.
            yield from (path for path in found if n_up or not self._is_inside_package(path, one))

    def _is_inside_package(self, path: str, tail: str) -> bool:
        root = path[: path.rindex(tail)]
        return bool(root) and f"{root}__init__.py" in self._paths

    def _file(self, module: str, importer: str | None, language: str) -> Iterator[str]:
        """A path, from the importing file's folder or, where it is not there, as the end of another."""
        stem, dot, ending = module.rpartition(".")
        stems = [module, stem] if dot and f".{ending}" in _SCRIPTS and language not in ("c", "cpp") else [module]
        is_script = language in ("javascript", "typescript", "tsx")
        for one in stems:
            if importer is not None and (module.startswith(".") or not is_script):
                near = posixpath.normpath(posixpath.join(posixpath.dirname(importer), one))
                if found := list(self._first(near, importer, language, is_whole=True)):
                    yield from found
                    return
                if module.startswith("."):
                    continue
            tail = posixpath.normpath(one.lstrip("@~./"))
            if "/" in one or not is_script:
                found = list(self._first(tail, importer, language))
                yield from found
                if found:
                    return

    def _symbol(self, module: str, importer: str | None, language: str) -> Iterator[str]:
        """A dotted name: the file that the longest beginning of it names, or all of a package."""
        parts = [one for one in module.replace("::", ".").replace("\\", ".").split(".") if one]
        parts = [one for one in parts if one not in ("crate", "self", "super")]
        if parts and parts[-1] in ("*", "_") and language != "rust":
            folder = self._nearest(
                "/".join(parts[:-1]), importer, self._folders.get(parts[-2], ()) if parts[1:] else ()
            )
            ends = _ENDINGS.get(language, ())
            if folder is not None:
                yield from (path for path in self._inside[folder] if path.endswith(ends))
                return
        for n in range(len(parts), 0, -1):
            if found := list(self._first("/".join(parts[:n]), importer, language)):
                yield from found
                return

    def _package(self, module: str, importer: str | None) -> Iterator[str]:
        """A Go package: the folder that most of its path ends with."""
        parts = module.split("/")
        is_ours = "." in parts[0]
        # Without a domain it may be the standard library, whose packages have one or two parts.
        for first in range(len(parts) if is_ours else len(parts) - 1):
            tail = "/".join(parts[first:])
            folder = self._nearest(tail, importer, self._folders.get(parts[-1], ()))
            if folder is not None:
                yield from (path for path in self._inside[folder] if path.endswith(".go"))
                return

    def _first(self, stem: str, importer: str | None, language: str, *, is_whole: bool = False) -> Iterator[str]:
        """The file that a stem and the first ending that fits name."""
        for ending in _ENDINGS.get(language, ()):
            path = f"{stem}{ending}".lstrip("/")
            if path in self._paths:
                yield path
                return
            found = None if is_whole else self._nearest(path, importer, self._called.get(posixpath.basename(path), ()))
            if found is not None:
                yield found
                return

    def _nearest(self, tail: str, importer: str | None, among: Iterable[str]) -> str | None:
        """Of those that end with a path the one that shares most folders with the importing file, then the shortest."""
        ending = [one for one in among if one == tail or one.endswith(f"/{tail}")]

        def far(path: str) -> tuple[int, int, str]:
            shared = posixpath.commonpath([path, importer]) if importer and not importer.startswith("/") else ""
            return -shared.count("/") - bool(shared), path.count("/"), path

        return min(ending, key=far, default=None)


def _grouped(paths: Iterable[str], key: Callable[[str], str]) -> Mapping[str, Sequence[str]]:
    groups: dict[str, list[str]] = {}
    for path in paths:
        groups.setdefault(key(path), []).append(path)
    return groups


@dataclass(frozen=True)
class ImportGraph:
    """A pool whose files are reached by imports, which are read when a query first reaches a file."""

    pool: Pool

    def distances(self, text: str, path: str | None, line: int) -> Integers:
        """How many imports each chunk's file is away; for one that none reaches, one more than the farthest is."""
        distance = {path: far for far, level in enumerate(self._levels(text, path, line), 1) for path in level}
        unreached = max(distance.values(), default=0) + 1
        return np.array([distance.get(path, unreached) for path in self.pool.path], np.int64)

    def _levels(self, text: str, path: str | None, line: int) -> Iterator[set[str]]:
        """The files that the query imports, those that they import, and so on; each once, the query's own never."""
        if not self._languages:
            return
        before = "".join(split_lines(self._files.get(path, ""))[: max(line, 0)]) if path else ""
        languages = [language_of(path)] if path and language_of(path) else sorted(self._languages)
        level = {found for source in (before, text) for one in languages for found in self._named(source, path, one)}
        seen = {path}
        while level := level - seen:
            yield level
            seen |= level
            level = {found for one in level for found in self._imported(one)}

    @cached_property
    def _languages(self) -> set[str]:
        return {language for path in set(self.pool.path) if (language := language_of(path))}

    @cached_property
    def _files(self) -> Mapping[str, str]:
        return self.pool.files()

    @cached_property
    def _paths(self) -> ImportPaths:
        return ImportPaths(self._files)

    @cached_property
    def _known(self) -> dict[str, frozenset[str]]:
        return {}

    def _imported(self, path: str) -> Iterable[str]:
        """What a file of the pool imports; read once."""
        if path not in self._known:
            self._known[path] = frozenset(self._named(self._files.get(path, ""), path, language_of(path)))
        return self._known[path]

    def _named(self, text: str, path: str | None, language: str) -> Iterator[str]:
        for one in imports_of(text, language):
            yield from self._paths.of(one, path, language)


def index(pool: Pool) -> Index:
    """The pool's words, and its imports, which are read as queries reach them."""
    by_words, graph = BM25_OKAPI.index(pool), ImportGraph(pool)

    def search(queries: Queries) -> Floats:
        """The words' scores, below them the same of files one import further on, and so forth."""
        scores = by_words.search(queries).scores
        width = scores.max(axis=1, initial=0) - scores.min(axis=1, initial=0) + 1
        asked = zip(queries.text, queries.target_path, queries.target_line.tolist(), strict=True)
        far = np.array([graph.distances(*one) for one in asked]).reshape(scores.shape)
        moved: Floats = scores - far * width[:, None]
        return moved

    return Index(search, by_words.n_bytes)


IMPORTS = Retriever(
    name="imports",
    title="Files reached by imports",
    meaning="The chunks of files that the query's imports name come first, then those of files that these import, and "
    "so on, then all others; within equal distance by bm25-okapi. The imports are those of the query's text and of its "
    "own file above the hole, which is itself among the others. They are resolved to paths of the pool by the "
    "conventions of each language, not by its build.",
    index=index,
    source="Ours: a breadth-first walk of the import graph.",
    parameters={"within equal distance": BM25_OKAPI.name},
    needs="files",
    runs="asked",
    # Candidates have no paths that an import could name.
    tasks=("repoeval/prompt", "contextbench/issue", "repobench-r/repository"),
    components=(BM25_OKAPI,),
)
