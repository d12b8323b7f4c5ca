"""Two passes: the best chunk that a first search finds is asked for along with the query in a second one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from evaluate.retrievers import Answer, Floats, Index, Pool, Queries, Retriever, answer_of
from evaluate.retrievers._arguments import component
from evaluate.retrievers.jaccard_regex import JACCARD_REGEX

NAME = "repocoder"


@dataclass(frozen=True)
class TwoPasses:
    """A pool that is searched twice.

    Attributes:
        pool: The pool.
        index: What both passes search.
    """

    pool: Pool
    index: Index

    @property
    def n_bytes(self) -> int:
        """Bytes of the one index."""
        return self.index.n_bytes

    def search(self, queries: Queries) -> Answer:
        """What the second pass scores."""
        first = answer_of(self.index, queries)
        second = answer_of(self.index, replace(queries, text=self._lengthened(queries, first.scores)))
        return Answer(second.scores, {**first.failed, **second.failed})

    def _lengthened(self, queries: Queries, scores: Floats) -> list[str]:
        """Each query followed by its best chunk, the pool's first of several; where all score alike none is best."""
        is_own = np.array(self.pool.path, object)[None, :] == np.array(queries.target_path, object)[:, None]
        others = np.where(is_own | np.isnan(scores), -np.inf, scores)
        texts = []
        for text, row in zip(queries.text, others, strict=True):
            found = row[row > -np.inf]
            is_told_apart = found.size > 1 and found.min() < found.max()
            texts.append(f"{text}\n{self.pool.text[int(row.argmax())]}" if is_told_apart else text)
        return texts


def index(pool: Pool, *, both: Retriever) -> TwoPasses:
    """The pool as the retriever of both passes indexes it."""
    return TwoPasses(pool, both.index(pool))


def in_two_passes(name: str, both: Retriever) -> Retriever:
    """A retriever that searches twice with another."""
    return Retriever(
        name=name,
        title=f"{both.title}, in two passes",
        meaning="A first pass finds the best chunk outside the query's own file; its text is put behind the query, and "
        f"a second pass scores the pool by both. Each pass is {both.name}: {both.meaning}",
        index=partial(index, both=both),
        source="After RepoCoder's iteration (Zhang et al., 2023), with one difference: there a model's completion "
        "lengthens the query, here no model is called and the chunk itself does. It is not RepoCoder's own search.",
        parameters={"passes": both.name, **both.parameters},
        tasks=both.tasks,
        runs="named" if both.runs == "named" else "asked",
        arguments=":RETRIEVER",
        with_arguments=_named,
        components=(both,),
    )


def _named(arguments: str) -> Retriever:
    return in_two_passes(f"{NAME}:{arguments}", component(NAME, arguments))


REPOCODER = in_two_passes(NAME, JACCARD_REGEX)
