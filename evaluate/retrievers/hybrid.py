"""Reciprocal rank fusion: several retrievers over the same chunks, by the ranks that each gives them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from scipy.stats import rankdata

from evaluate.retrievers import Answer, Floats, Index, Pool, Queries, Retriever, retrievers
from evaluate.retrievers._arguments import component
from evaluate.retrievers.bm25 import BM25_OKAPI
from evaluate.retrievers.names import SYMBOLS
from lake.errors import Exit, GoldspanError

NAME = "hybrid"
K = 60
"""What is added to every rank, as in the paper."""


def fused(scores: Sequence[Floats]) -> Floats:
    """The sum over several retrievers' scores of 1 / (60 + rank); equal scores share their mean rank.

    A chunk that none of them returns is not returned.
    """
    total = np.zeros(scores[0].shape)
    for one in scores:
        rank = rankdata(-one, axis=-1, nan_policy="omit")
        total += np.where(np.isnan(one), 0.0, 1 / (K + rank))
    return np.where(np.all(np.isnan(scores), axis=0), np.nan, total)


def index(pool: Pool, *, each: Sequence[Retriever]) -> Index:
    """The pool as each of the retrievers indexes it."""
    indexes = [one.index(pool) for one in each]

    def search(queries: Queries) -> Answer:
        answers = [one.search(queries) for one in indexes]
        failed = {row: why for answer in answers for row, why in answer.failed.items()}
        return Answer(fused([answer.scores for answer in answers]), failed)

    return Index(search, sum(one.n_bytes for one in indexes))


def fusing(name: str, each: Sequence[Retriever]) -> Retriever:
    """A retriever that fuses the rankings of others."""
    names = " and ".join(one.name for one in each)
    return Retriever(
        name=name,
        title=f"{' + '.join(one.title for one in each)}, fused",
        meaning=f"The rankings of {names} over the same chunks, fused by reciprocal rank: the sum of 1 / (60 + rank), "
        "where equal scores share their mean rank and what one of them does not return gets nothing from it.",
        index=partial(index, each=tuple(each)),
        source="Cormack, Clarke and Buettcher, Reciprocal Rank Fusion outperforms Condorcet and individual Rank "
        "Learning Methods, SIGIR 2009",
        parameters={"k": K, "fused": {one.name: dict(one.parameters) for one in each}},
        tasks=_common(each),
        runs="named" if any(one.runs == "named" for one in each) else "asked",
        arguments=":RETRIEVER:RETRIEVER…",
        with_arguments=_named,
        components=tuple(each),
    )


def _common(each: Sequence[Retriever]) -> tuple[str, ...]:
    """The tasks on which all of some retrievers run; none for all tasks."""
    bounds = [one.tasks for one in each if one.tasks]
    return tuple(task for task in bounds[0] if all(task in other for other in bounds)) if bounds else ()


def _named(arguments: str) -> Retriever:
    """Fuse what is named: what is behind a retriever's name and is none itself is that retriever's argument."""
    known, names = retrievers(), list[str]()
    for piece in arguments.split(":"):
        if piece in known or not names:
            names.append(piece)
        else:
            names[-1] += f":{piece}"
    if len(names) < 2 or len(set(names)) < len(names):
        message = f"{NAME}:{arguments} is to fuse different retrievers, two or more"
        raise GoldspanError(message, hint=f"Write {NAME}:{BM25_OKAPI.name}:{SYMBOLS.name}.", code=Exit.USAGE)
    return fusing(f"{NAME}:{arguments}", [component(NAME, name) for name in names])


HYBRID = fusing(NAME, (BM25_OKAPI, SYMBOLS))
