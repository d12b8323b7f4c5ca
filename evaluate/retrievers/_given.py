"""What a retriever is given: the chunks of a pool, and the queries that are asked of it."""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from evaluate.embedding.vectors import VectorStore
from evaluate.texts.tokens import Counted, Texts, Tokenizer, as_texts
from lake.exact import Floats, Integers
from lake.selection import seeded_hash
from lake.text import is_blank

_Number = TypeVar("_Number", bound=np.generic)


@dataclass(frozen=True)
class Pool:
    """What one pool offers under one chunker; row i of every column is chunk i, in the pool's own order.

    Retrievers that go by tokens take them from :meth:`counted`, which cuts each content of the pool once for all
    retrievers and chunkers.

    Several small pools may lie side by side, for retrievers that take so many: their chunks end to end, and one query
    for each, in their order. A query's row of scores is then of its own pool's chunks, filled up to the largest pool's.

    Attributes:
        definitions_of: How often each chunk of a pool holds the first line of a definition of each name.
        side_by_side: Where several pools are, the id and the number of chunks of each.
    """

    pool_id: str
    path: Sequence[str]
    chunk_no: Integers
    line_start: Integers
    line_end: Integers
    n_file_lines: Integers
    text: Sequence[str]
    vectors: VectorStore | None = None
    definitions_of: "Callable[[Pool], Counted] | None" = None
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
    def _texts(self) -> Texts:
        return as_texts(self.text)

    @functools.cached_property
    def hashes(self) -> npt.NDArray[np.uint64]:
        """A seeded hash of each chunk, by which equal scores are ordered."""
        return np.fromiter(map(_hash_of, self.path, self.chunk_no.tolist()), np.uint64, len(self))

    @functools.cached_property
    def is_blank(self) -> npt.NDArray[np.bool_]:
        """Whether each chunk is white space alone."""
        return np.array([is_blank(text) for text in self.text], np.bool_)

    def counted(self, tokens: Tokenizer) -> Counted:
        """How often each chunk says each token, columns in the order of spelling; shared, so not to be changed."""
        return self._texts.counted(tokens)

    @functools.cached_property
    def definitions(self) -> Counted:
        """How often each chunk holds the first line of a definition of each name; shared, so not to be changed."""
        assert self.definitions_of is not None, "a pool of a lake"
        return self.definitions_of(self)


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
class Queries:
    """What is asked of one pool; row i of every column is query i.

    Attributes:
        target_line: The line of the hole in it; -1 where there is none.
        gold: The gold spans of each item under one protocol; empty for every retriever but the oracle.
        gains: Where relevance is a similarity, how like the gold each chunk is, per item; likewise.
    """

    item_id: Sequence[str]
    text: Sequence[str]
    target_path: Sequence[str | None]
    target_line: Integers
    gold: Sequence[Sequence[Span]] = field(default=())
    gains: Sequence[Floats] = field(default=())

    def __len__(self) -> int:
        return len(self.item_id)

    @functools.cached_property
    def _texts(self) -> Texts:
        return as_texts(self.text)

    def counted(self, tokens: Tokenizer) -> Counted:
        """How often each query says each token; shared, so not to be changed."""
        return self._texts.counted(tokens)
