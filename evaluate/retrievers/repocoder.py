"""Two passes: the best chunk that a first search finds is asked for along with the query in a second one."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from evaluate.retrievers import Answer, Floats, Index, Pool, Queries, Retriever
from evaluate.retrievers._arguments import component
from evaluate.retrievers.jaccard import JACCARD_REGEX

NAME = "repocoder"


def index(pool: Pool, *, both: Retriever) -> Index:
    """The pool as the retriever of both passes indexes it."""
    once = both.index(pool)

    def search(queries: Queries) -> Answer:
        first = once.search(queries)
        second = once.search(replace(queries, text=lengthened(pool, queries, first.scores)))
        return Answer(second.scores, {**first.failed, **second.failed})

    return Index(search, once.n_bytes)


def lengthened(pool: Pool, queries: Queries, scores: Floats) -> list[str]:
    """Each query followed by its best chunk, the pool's first of several; where all score alike none is best."""
    is_own = np.array(pool.path, object)[None, :] == np.array(queries.target_path, object)[:, None]
    others = np.where(is_own | np.isnan(scores), -np.inf, scores)
    texts = []
    for text, row in zip(queries.text, others, strict=True):
        found = row[row > -np.inf]
        is_told_apart = found.size > 1 and found.min() < found.max()
        texts.append(f"{text}\n{pool.text[int(row.argmax())]}" if is_told_apart else text)
    return texts


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
