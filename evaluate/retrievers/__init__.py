"""Retrievers: how a pool of chunks is scored against queries. A file each, or a family's; found by name."""

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
from evaluate.texts.tokens import Counted, Texts, Tokenizer, as_texts
from lake.declarations import discover
from lake.errors import Exit, GoldspanError, lookup
from lake.exact import Floats as Floats
from lake.exact import Integers as Integers
from lake.fingerprint import seeded_hash
from lake.text import is_blank

Value = TypeVar("Value")
_Number = TypeVar("_Number", bound=np.generic)

BASELINE = "baseline"
"""The tag of a system that is always in the table and never in the ranking."""

POOLS_AT_ONCE = 64
"""How many small pools are best taken side by side: few enough for all their tokens to stay near the processor."""


class _Tokenized:
    """What has texts: cut into tokens once in each way."""

    text: Sequence[str]

    @functools.cached_property
    def _texts(self) -> Texts:
        return as_texts(self.text)

    def counted(self, tokens: Tokenizer) -> Counted:
        """How often each text says each token, columns in the order of spelling; shared, so not to be changed."""
        return self._texts.counted(tokens)


@dataclass(frozen=True)
class Pool(_Tokenized):
    """What one pool offers under one chunker; row i of every column is chunk i, in the pool's own order.

    Several small pools may lie side by side, for retrievers that take so many: their chunks end to end, and one query
    for each, in their order: `side_by_side` has the id and the number of chunks of each. A query's row of scores is
    then of its own pool's chunks, filled up to the largest pool's.
    """

    pool_id: str
    path: Sequence[str]
    chunk_no: Integers
    line_start: Integers
    line_end: Integers
    n_file_lines: Integers
    text: Sequence[str]
    vectors: VectorStore | None = None
    side_by_side: Mapping[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.path)

    @property
    def sizes(self) -> Integers:
        """How many chunks the pool has, or each of those side by side."""
        return np.array([*self.side_by_side.values()] or [len(self)], np.int64)

    @functools.cached_property
    def owner(self) -> Integers:
        """Which of the pools each chunk is of."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @functools.cached_property
    def places(self) -> npt.NDArray[np.bool_]:
        """Where rows of scores have a chunk: all of one row, or a row for each pool side by side."""
        return np.arange(self.sizes.max()) < self.sizes[:, None]

    def spread(self, values: npt.NDArray[_Number]) -> npt.NDArray[_Number]:
        """One value per chunk, or a row of them per query, as rows of scores are laid out."""
        if not self.side_by_side:
            return np.atleast_2d(values)
        rows = np.zeros(self.places.shape, values.dtype)
        rows[self.places] = values.ravel()
        return rows

    @functools.cached_property
    def hashes(self) -> npt.NDArray[np.uint64]:
        """A seeded hash of each chunk, by which equal scores are ordered."""
        return np.fromiter(map(_hash_of, self.path, self.chunk_no.tolist()), np.uint64, len(self))

    @functools.cached_property
    def is_blank(self) -> npt.NDArray[np.bool_]:
        """Whether each chunk is white space alone."""
        return np.array([is_blank(text) for text in self.text], np.bool_)


@functools.lru_cache(1 << 16)
def _hash_of(path: str, chunk_no: int) -> int:
    """A chunk's seeded hash; the same chunks are in many pools (`cand:0`, a repository at another commit)."""
    return seeded_hash(path, str(chunk_no))


@dataclass(frozen=True)
class Span:
    """A gold range: lines `[line_start, line_end)` of a path, and its grade where gold is judged in grades."""

    path: str
    line_start: int
    line_end: int
    grade: int = 1


@dataclass(frozen=True)
class Queries(_Tokenized):
    """What is asked of one pool; row i of every column is query i. `target_line` is that of the hole, -1 without one.

    The oracle alone is shown `gold`, each item's spans under one protocol, or where relevance is a similarity `gains`:
    how like the gold each chunk is.
    """

    item_id: Sequence[str]
    text: Sequence[str]
    target_path: Sequence[str | None]
    target_line: Integers
    gold: Sequence[Sequence[Span]] = field(default=())
    gains: Sequence[Floats] = field(default=())

    def __len__(self) -> int:
        return len(self.item_id)


RunTexts = Callable[[], Iterator[tuple[Sequence[str], Sequence[str]]]]
"""Goes through the parts of a run: the texts of a part's chunks, and those of its queries."""

TrackSteps = Callable[..., Iterator[None]]
"""`track(steps, title, total=…)` goes through steps and tells of progress."""


class PoolScores(NamedTuple):
    """Scores of shape (queries, chunks), and by their rows why some queries could not be answered.

    The oracle alone has other scores for metrics of sets of lines.
    """

    scores: Floats
    failed: Mapping[int, str] = MappingProxyType({})
    lines: Floats | None = None


@dataclass(frozen=True)
class Index:
    """A pool made ready to be searched, and how much memory that takes beside the chunks' own texts.

    Scores are of shape (queries, chunks), higher is better, NaN where a chunk is not to be returned at all.
    """

    scores: Callable[[Queries], Floats | PoolScores]
    n_bytes: int = 0

    def search(self, queries: Queries) -> PoolScores:
        """The scores of every query and chunk, with the failures of single queries beside them."""
        answer = self.scores(queries)
        return answer if isinstance(answer, PoolScores) else PoolScores(answer)


class Scan(Index):
    """An index that is nothing but the pool: for retrievers that have nothing to prepare."""

    def __init__(self, pool: Pool, score: Callable[[Pool, Queries], Floats | PoolScores]) -> None:
        super().__init__(functools.partial(score, pool))


@dataclass(frozen=True)
class Retriever:
    """A way to rank chunks.

    Attributes:
        version: Raised whenever its scores may change; its runs are then made anew.
        needs: `gold`: it ranks by the gold of one protocol, so each protocol has a run of its own; `vectors`: it ranks
            by vectors that the lake was given; `definitions`: by those of the lake's files.
        is_chance: Its scores are the expectation over every order of the pool, not those of the one it returned.
        runs: `always`, also where no system is asked for; `asked`, where `--systems` picks it, by a glob too; `named`,
            where `--systems` has its exact name.
        tasks: The tasks it runs on unless it is named, none for all.
        missing: What has to be installed or given before it can run, or an empty string; until then it runs nowhere
            unasked, and asked for by name it says so.
        n_side_by_side: How many small pools, each with its one query, it takes at once: faster than one by one, and
            with the very scores that each alone has.
        with_arguments: `with_arguments(text)` → the retriever that `name:text` means, called so; it raises a
            GoldspanError with code USAGE where the text means none.
        components: Other retrievers that it calls; their code is part of what its runs are made from.
        query_form: What of a query it is asked, a name of `evaluate.texts.query_forms`; empty for all of it.
        prepare: What is better done for a whole run at once than pool by pool; what is to be said of it with the run's
            parameters.
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
        """It and those that it calls."""
        yield self
        for component in self.components:
            yield from component.parts()

    @property
    def why_missing(self) -> str:
        """What is to be installed or given first, or an empty string."""
        return next((why for part in self.parts() if part.missing and (why := part.missing())), "")

    def runs_unnamed(self, task: str, *, is_picked: bool = False) -> bool:
        """Whether it runs on a declared task without being named; `is_picked`: some pattern of `--systems` picks it."""
        is_meant = self.runs == "always" or (is_picked and self.runs == "asked")
        return is_meant and (not self.tasks or task in self.tasks) and not self.why_missing


@functools.cache
def retrievers() -> Mapping[str, Retriever]:
    """Every declared retriever by name."""
    return discover(sys.modules[__name__], Retriever, in_every=True)


def retriever_of_name(name: str) -> Retriever:
    """The retriever that `name` or `name:arguments` means."""
    head, colon, arguments = name.partition(":")
    retriever = lookup(head, "retriever", retrievers())
    if not colon:
        return retriever
    if retriever.with_arguments is None:
        message = f"retriever {head!r} takes no arguments, and {arguments!r} is behind it"
        raise GoldspanError(message, hint=f"Write {head}.", code=Exit.USAGE)
    return retriever.with_arguments(arguments)


def number(text: str, most: float = math.inf) -> float:
    """A finite number that is not negative, and not above `most`; a ValueError where it is none."""
    value = float(text)
    if not 0 <= value <= most or math.isinf(value):
        raise ValueError
    return value


def values_in(retriever: str, text: str, readers: Mapping[str, Callable[[str], Value]], hint: str) -> dict[str, Value]:
    """Values written as `name=value`, each once, with colons between, `%20` and the like for what cannot stand there.

    `readers` reads the value of every name there is, and raises a ValueError or KeyError where that is none.
    """
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
