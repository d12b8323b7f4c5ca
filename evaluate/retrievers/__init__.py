"""Retrievers, which score a pool's chunks for queries: one file per retriever or family, found by name."""

import functools
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, NamedTuple, TypeVar
from urllib.parse import unquote

import numpy as np
import numpy.typing as npt

from evaluate.embedding.vectors import VectorStore
from evaluate.texts.tokens import Texts
from lake.declarations import discover
from lake.errors import Exit, GoldspanError, lookup
from lake.exact import Floats as Floats
from lake.exact import Integers as Integers
from lake.fingerprint import seeded_hash

Value = TypeVar("Value")
_Number = TypeVar("_Number", bound=np.generic)

BASELINE = "baseline"
"""The tag of a system that is in every table but never ranked."""

POOLS_AT_ONCE = 64
"""The best number of small pools to score together: few enough that all their tokens stay in the processor's cache."""


@dataclass(frozen=True)
class Pool:
    """The chunks of one pool under one chunker; row i of every column is chunk i, in the pool's own order.

    Several small pools may be scored "side by side": their chunks are concatenated, each pool has one query, in the
    same order, and a query's row of scores holds its own pool's chunks, padded to the size of the largest pool. `first`
    is the row of the first chunk among all ranked.
    """

    pool_id: str
    path: Sequence[str]
    chunk_no: Integers
    line_start: Integers
    line_end: Integers
    n_file_lines: Integers
    text: Texts
    vectors: VectorStore | None = None
    side_by_side: Mapping[str, int] = field(default_factory=dict)
    first: int = 0

    def __len__(self) -> int:
        return len(self.path)

    @property
    def sizes(self) -> Integers:
        """The number of chunks, of the pool or of each pool side by side."""
        return np.array([*self.side_by_side.values()] or [len(self)], np.int64)

    @functools.cached_property
    def owner(self) -> Integers:
        """The number of the pool that each chunk belongs to."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @functools.cached_property
    def places(self) -> npt.NDArray[np.bool_]:
        """A mask of the score matrix that is False for padding: one row, or one per pool side by side."""
        return np.arange(self.sizes.max()) < self.sizes[:, None]

    def spread(self, values: npt.NDArray[_Number]) -> npt.NDArray[_Number]:
        """Values per chunk, or per query and chunk, in the layout of the score matrix."""
        if not self.side_by_side:
            return np.atleast_2d(values)
        rows = np.zeros(self.places.shape, values.dtype)
        rows[self.places] = values.ravel()
        return rows

    @functools.cached_property
    def hashes(self) -> npt.NDArray[np.uint64]:
        """A seeded hash of each chunk, by which equal scores are ordered."""
        return np.fromiter(map(_hash_of, self.path, self.chunk_no.tolist()), np.uint64, len(self))


@functools.lru_cache(1 << 16)
def _hash_of(path: str, chunk_no: int) -> int:
    """A chunk's seeded hash; cached, as many pools share chunks (`cand:0`, a repository at another commit)."""
    return seeded_hash(path, str(chunk_no))


class Span(NamedTuple):
    """A gold range: lines `[line_start, line_end)` of a path, and its grade if relevance is graded."""

    path: str
    line_start: int
    line_end: int
    grade: int = 1


@dataclass(frozen=True)
class Queries:
    """The queries to one pool, with the line of the hole or -1; the oracle gets `gold`, or `gains`: similarities."""

    item_id: Sequence[str]
    text: Texts
    target_path: Sequence[str | None]
    target_line: Integers
    gold: Sequence[Sequence[Span]] = field(default=())
    gains: Sequence[Floats] = field(default=())

    def __len__(self) -> int:
        return len(self.item_id)


RunTexts = Callable[[], Iterator[tuple[Sequence[str], Sequence[str]]]]
"""Iterates over the parts of a run: the texts of a part's chunks and of its queries."""

TrackSteps = Callable[..., Iterator[None]]
"""`track(steps, title, total=…)` iterates over steps and reports progress."""


class PoolScores(NamedTuple):
    """Scores of shape (queries, chunks), why queries failed by their row, and the oracle's scores for sets of lines."""

    scores: Floats
    failed: Mapping[int, str] = MappingProxyType({})
    lines: Floats | None = None


@dataclass(frozen=True)
class Index:
    """A pool prepared for search: scores are (queries, chunks), the higher the better, NaN for what is not returned."""

    scores: Callable[[Queries], Floats | PoolScores]
    n_bytes: int = 0

    def search(self, queries: Queries) -> PoolScores:
        """The scores of every query and chunk, with the failures of single queries."""
        answer = self.scores(queries)
        return answer if isinstance(answer, PoolScores) else PoolScores(answer)


class Scan(Index):
    """An index without preparation: scores are computed from the pool."""

    def __init__(self, pool: Pool, score: Callable[[Pool, Queries], Floats | PoolScores]) -> None:
        super().__init__(functools.partial(score, pool))


@dataclass(frozen=True)
class Retriever:
    """A way to rank chunks.

    Attributes:
        needs: `gold` of one protocol, `vectors` given to the lake, or the `definitions` in the lake's files.
        is_chance: Its scores are expectations over every order of the pool.
        runs: `always`; `asked`: if `--systems` matches it, also by a glob; `named`: only by its exact name.
        tasks: The tasks that it runs on unless it is named; empty for all.
        missing: Returns instructions to install or give what it lacks, else an empty text.
        with_arguments: `with_arguments(text)` → the retriever called `name:text`; a GoldspanError if it is not valid.
        components: Other retrievers that it calls; their code counts in the fingerprint of its runs.
        prepare: Work done once for a whole run; returns facts to show with the run's parameters.
    """

    name: str
    title: str
    meaning: str
    index: Callable[[Pool], Index]
    version: int = 1
    source: str = ""
    tags: tuple[str, ...] = ()
    parameters: Mapping[str, object] = field(default_factory=dict)
    needs: Literal["", "gold", "vectors", "definitions"] = ""
    is_chance: bool = False
    runs: Literal["always", "asked", "named"] = "always"
    tasks: tuple[str, ...] = ()
    missing: Callable[[], str] | None = None
    n_side_by_side: int = 1
    arguments: str = ""
    with_arguments: "Callable[[str], Retriever] | None" = None
    components: "tuple[Retriever, ...]" = ()
    query_form: str = ""
    revision: Callable[[], str] | None = None
    prepare: Callable[[VectorStore, RunTexts, TrackSteps], Mapping[str, str]] | None = None

    def parts(self) -> "Iterator[Retriever]":
        """The retriever and, recursively, those that it calls."""
        yield self
        for component in self.components:
            yield from component.parts()

    @property
    def why_missing(self) -> str:
        """Instructions to install or give what is missing, or an empty text."""
        return next((why for part in self.parts() if part.missing and (why := part.missing())), "")


@functools.cache
def retrievers() -> Mapping[str, Retriever]:
    """Every declared retriever by name."""
    return discover(sys.modules[__name__], Retriever, in_every=True)


def retriever_of_name(name: str) -> Retriever:
    """The retriever with the name `name` or `name:arguments`."""
    head, colon, arguments = name.partition(":")
    retriever = lookup(head, "retriever", retrievers())
    if not colon:
        return retriever
    if retriever.with_arguments is None:
        message = f"retriever {head!r} takes no arguments, but was given {arguments!r}"
        raise GoldspanError(message, hint=f"Write {head}.", code=Exit.USAGE)
    return retriever.with_arguments(arguments)


def number(text: str, most: float = math.inf) -> float:
    """A finite number from 0 to `most`; otherwise raises ValueError."""
    value = float(text)
    if not 0 <= value <= most or math.isinf(value):
        raise ValueError
    return value


def values_in(retriever: str, text: str, readers: Mapping[str, Callable[[str], Value]], hint: str) -> dict[str, Value]:
    """Values written as `name=value:…`, each name once, by parsers that raise ValueError or KeyError."""
    values: dict[str, Value] = {}
    for part in text.split(":"):
        name, equals, value = part.partition("=")
        try:
            if name in values or not equals:
                raise ValueError
            values[name] = readers[name](unquote(value))
        except (KeyError, ValueError) as error:
            message = f"retriever {retriever!r} takes no argument {part!r}"
            raise GoldspanError(message, hint=hint, code=Exit.USAGE) from error
    return values
