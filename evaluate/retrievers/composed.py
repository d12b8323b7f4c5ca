"""Retrievers made of others: their rankings fused by reciprocal rank, or one searched twice.

In the second of two passes the best chunk that the first one finds is asked for along with the query.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from evaluate.retrievers import Floats, Index, Pool, PoolScores, Queries, Retriever, retrievers
from evaluate.retrievers._arguments import component
from evaluate.retrievers.bm25 import BM25_OKAPI
from evaluate.retrievers.jaccard import JACCARD_REGEX
from evaluate.retrievers.names import SYMBOLS
from lake.errors import Exit, GoldspanError

K = 60
"""What is added to every rank, as in the paper."""


def fused(scores: Sequence[Floats]) -> Floats:
    """The sum over several retrievers' scores of 1 / (60 + rank); equal scores share their mean rank.

    A chunk that none of them returns is not returned.
    """
    # Imported when needed: it takes a third of a second, and fifty megabytes in every process.
    from scipy.stats import rankdata

    total = np.zeros(scores[0].shape)
    for of_retriever in scores:
        rank = rankdata(-of_retriever, axis=-1, nan_policy="omit")
        total += np.where(np.isnan(of_retriever), 0.0, 1 / (K + rank))
    return np.where(np.all(np.isnan(scores), axis=0), np.nan, total)


def fuse(pool: Pool, *, each: Sequence[Retriever]) -> Index:
    """The pool as each of the retrievers indexes it."""
    indexes = [retriever.index(pool) for retriever in each]

    def search(queries: Queries) -> PoolScores:
        answers = [index.search(queries) for index in indexes]
        failed = {row: why for answer in answers for row, why in answer.failed.items()}
        return PoolScores(fused([answer.scores for answer in answers]), failed)

    return Index(search, sum(index.n_bytes for index in indexes))


def fusing(name: str, each: Sequence[Retriever]) -> Retriever:
    """A retriever that fuses the rankings of others."""
    names = " and ".join(part.name for part in each)
    return Retriever(
        name=name,
        title=f"{' + '.join(part.title for part in each)}, fused",
        meaning=f"The rankings of {names} over the same chunks, fused by reciprocal rank: the sum of 1 / (60 + rank), "
        "where equal scores share their mean rank and what one of them does not return gets nothing from it.",
        index=partial(fuse, each=tuple(each)),
        source="Cormack, Clarke and Buettcher, Reciprocal Rank Fusion outperforms Condorcet and individual Rank "
        "Learning Methods, SIGIR 2009",
        parameters={"k": K, "fused": {part.name: dict(part.parameters) for part in each}},
        tasks=_common(each),
        runs="named" if any(part.runs == "named" for part in each) else "asked",
        arguments=":RETRIEVER:RETRIEVER…",
        with_arguments=_fusing_named,
        components=tuple(each),
    )


def _common(each: Sequence[Retriever]) -> tuple[str, ...]:
    """The tasks on which all of some retrievers run; none for all tasks."""
    bounds = [part.tasks for part in each if part.tasks]
    return tuple(task for task in bounds[0] if all(task in other for other in bounds)) if bounds else ()


def _fusing_named(arguments: str) -> Retriever:
    """Fuse what is named: what is behind a retriever's name and is none itself is that retriever's argument."""
    known, names = retrievers(), list[str]()
    for piece in arguments.split(":"):
        if piece in known or not names:
            names.append(piece)
        else:
            names[-1] += f":{piece}"
    if len(names) < 2 or len(set(names)) < len(names):
        message = f"hybrid:{arguments} is to fuse different retrievers, two or more"
        raise GoldspanError(message, hint=f"Write hybrid:{BM25_OKAPI.name}:{SYMBOLS.name}.", code=Exit.USAGE)
    each = [component("hybrid", name) for name in names]
    return fusing(":".join(["hybrid", *(part.name for part in each)]), each)


HYBRID = fusing("hybrid", (BM25_OKAPI, SYMBOLS))


def search_twice(pool: Pool, *, both: Retriever) -> Index:
    """The pool as the retriever of both passes indexes it."""
    once = both.index(pool)

    def search(queries: Queries) -> PoolScores:
        first = once.search(queries)
        second = once.search(replace(queries, text=lengthened(pool, queries, first.scores)))
        return PoolScores(second.scores, {**first.failed, **second.failed})

    return Index(search, once.n_bytes)


def lengthened(pool: Pool, queries: Queries, scores: Floats) -> list[str]:
    """Each query followed by its best chunk, the pool's first of several; where all score alike none is best."""
    is_own = np.array(pool.path, object)[None, :] == np.array(queries.target_path, object)[:, None]
    others = np.where(is_own | np.isnan(scores), -np.inf, scores)
    texts = []
    for text, row in zip(queries.text, others, strict=True):
        returned = row[row > -np.inf]
        has_best = returned.size > 1 and returned.min() < returned.max()
        texts.append(f"{text}\n{pool.text[int(row.argmax())]}" if has_best else text)
    return texts


def in_two_passes(name: str, both: Retriever) -> Retriever:
    """A retriever that searches twice with another."""
    return Retriever(
        name=name,
        title=f"{both.title}, in two passes",
        meaning="A first pass finds the best chunk outside the query's own file; its text is put behind the query, and "
        f"a second pass scores the pool by both. Each pass is {both.name}: {both.meaning}",
        index=partial(search_twice, both=both),
        source="After RepoCoder's iteration (Zhang et al., 2023), with one difference: there a model's completion "
        "lengthens the query, here no model is called and the chunk itself does. It is not RepoCoder's own search.",
        parameters={"passes": both.name, **both.parameters},
        tasks=both.tasks,
        runs="named" if both.runs == "named" else "asked",
        arguments=":RETRIEVER",
        with_arguments=_in_two_passes_of,
        components=(both,),
    )


def _in_two_passes_of(name: str) -> Retriever:
    both = component("repocoder", name)
    return in_two_passes(f"repocoder:{both.name}", both)


_REPOCODER = in_two_passes("repocoder", JACCARD_REGEX)
