"""Files that a query's imports reach, the nearest first: what the code at hand has said that it will use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evaluate.import_paths import ImportPaths
from evaluate.import_statements import imports_of
from evaluate.retrievers import Floats, Index, Integers, Pool, Queries, Retriever
from evaluate.retrievers.bm25 import BM25_OKAPI
from lake.text import language_of, split_lines


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
