"""Retrievers: how a pool of chunks is scored against queries. A file each, or a family's; found by name."""

import functools
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, NamedTuple, TypeVar
from urllib.parse import unquote

from evaluate.embedding.vectors import VectorStore
from evaluate.retrievers._given import Pool as Pool
from evaluate.retrievers._given import Queries as Queries
from evaluate.retrievers._given import Span as Span
from lake.declarations import discover
from lake.errors import Exit, GoldspanError, unknown_name
from lake.exact import Floats as Floats
from lake.exact import Integers as Integers

Value = TypeVar("Value")

BASELINE = "baseline"
"""The tag of a system that is always in the table and never in the ranking."""

POOLS_AT_ONCE = 64
"""How many small pools are best taken side by side: few enough for all their tokens to stay near the processor."""


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
            by vectors that the lake was given; `definitions`: it asks the pool for them.
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

    @property
    def revisions(self) -> dict[str, str]:
        """Its revision and those of the retrievers that it calls, by their names."""
        return {part.name: part.revision() for part in self.parts() if part.revision}

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
    retriever = retrievers().get(head)
    if retriever is None:
        raise unknown_name(head, "retriever", retrievers())
    if not colon:
        return retriever
    if retriever.with_arguments is None:
        message = f"retriever {head!r} takes no arguments, and {arguments!r} is behind it"
        raise GoldspanError(message, hint=f"Write {head}.", code=Exit.USAGE)
    return retriever.with_arguments(arguments)


def component(caller: str, name: str) -> Retriever:
    """The retriever that another one calls by a name: none that ranks by the gold or stands for every order."""
    retriever = retriever_of_name(name)
    if retriever.needs == "gold" or retriever.is_chance:
        message = f"retriever {caller!r} cannot call {name!r}, which is no way to search"
        raise GoldspanError(message, hint=f"Write {caller}:bm25-okapi, for example.", code=Exit.USAGE)
    return retriever


def number(text: str, most: float = math.inf) -> float:
    """A finite number that is not negative, and not above `most`; a ValueError where it is none."""
    value = float(text)
    if not 0 <= value <= most or math.isinf(value):
        raise ValueError
    return value


def values_in(retriever: str, text: str, readers: Mapping[str, Callable[[str], Value]], hint: str) -> dict[str, Value]:
    """Values written as `name=value`, each once, with colons between; what a name cannot hold is written `%20`.

    `readers` reads the value of every name that may be written; a ValueError or KeyError says that it is none.
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
