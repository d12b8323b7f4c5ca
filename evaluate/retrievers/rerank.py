"""Reranking: a cross-encoder reads the query beside each of the best chunks of another retriever, and orders them anew.

Which chunks are the best is that retriever's own order, ties by the pool's; where a task hides the query's own file,
its chunks are among them. Scores are kept in the lake by the model and both texts; like dense vectors, they differ in
the last bits between machines.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from evaluate.embedding.models import Model, encoder_of
from evaluate.embedding.vectors import key_of
from evaluate.retrievers import Floats, Index, Integers, Pool, PoolScores, Queries, Retriever
from evaluate.retrievers._arguments import component, settings_in
from lake.errors import Exit, GoldspanError
from lake.fingerprint import sha256_of

_MODEL = "cross-encoder/ms-marco-MiniLM-L6-v2"
TOP = 100


def index(first: Retriever, model: Model, top: int, pool: Pool) -> Index:
    """The other retriever's index of the pool, whose best chunks the cross-encoder reads."""
    indexed = first.index(pool)

    def search(queries: Queries) -> PoolScores:
        """The cross-encoder's scores of the best; the others follow below in their order, ties left as ties."""
        answer = indexed.search(queries)
        scores = np.array(answer.scores, dtype=np.float64)
        best = [_best(row, top) for row in scores]
        pairs = [(text, pool.text[n]) for text, places in zip(queries.text, best, strict=True) for n in places]
        read = iter(_read(model, pool, pairs))
        for row, places in zip(scores, best, strict=True):
            anew = np.array([next(read) for _ in places])
            is_left = ~np.isnan(row)
            is_left[places] = False
            # Different scores are counted down from the worst that was read.
            order = np.unique(-row[is_left], return_inverse=True)[1]
            row[is_left] = anew.min(initial=0.0) - 1 - order
            row[places] = anew
        return PoolScores(scores, answer.failed)

    return Index(search, indexed.n_bytes)


def _read(model: Model, pool: Pool, pairs: Sequence[tuple[str, str]]) -> list[float]:
    """The score of each pair, as it is in the lake; what is not there yet is worked out."""
    keys = [sha256_of(f"{key_of(query)}{key_of(text)}".encode()) for query, text in pairs]
    scores = pool.vectors_of_lake().get(
        model.identity(kind="pairs"),
        dict(zip(keys, pairs, strict=True)),
        lambda missing: encoder_of(model, is_cross=True).scores(missing),
    )
    return [float(scores.matrix[scores.row[key], 0]) for key in keys]


def _best(scores: Floats, n: int) -> Integers:
    """The places of the best of some scores, ties by their places; NaN is none."""
    order = np.argsort(np.where(np.isnan(scores), np.inf, -scores), kind="stable")
    return order[: min(n, int((~np.isnan(scores)).sum()))]


def _of(text: str) -> Retriever:
    """`RETRIEVER[:model=NAME][:top=N]`: what stands before the first argument of ours is the retriever's name."""
    parts = text.split(":")
    n = next((n for n in range(len(parts), 0, -1) if parts[n - 1].partition("=")[0] not in ("model", "top")), 0)
    given = settings_in("rerank", ":".join(parts[n:]), ("model", "top"))
    if n == 0 or not parts[0]:
        raise _NONE
    first = component("rerank", ":".join(parts[:n]))
    model, top = Model(given.get("model", _MODEL)), int(given.get("top", TOP))
    arguments = [f"model={model.shown}" if part.startswith("model=") else part for part in parts[n:]]
    return Retriever(
        name=":".join(["rerank", first.name, *arguments]),
        title=f"{first.title}, reranked",
        meaning=_MEANING.format(top=top, first=first.title, model=Path(model.shown).name),
        index=partial(index, first, model, top),
        parameters={"of": first.name, "model": model.shown, "top": top},
        needs=first.needs,
        runs="named",
        missing=model.missing,
        revision=partial(getattr, model, "revision"),
        components=(first,),
    )


_USAGE = "Write rerank:bm25-okapi, or rerank:bm25-okapi:model=NAME:top=50."

_NONE = GoldspanError("rerank orders another retriever's best chunks anew: which?", hint=_USAGE, code=Exit.USAGE)

_MEANING = (
    "The {top} best chunks of {first}, ordered by what the cross-encoder {model} says when it reads each beside the "
    "query; the others follow in their order. A long query is cut from the left, to half of what the model takes."
)


def _of_none(_: Pool) -> Index:
    raise _NONE


RERANK = Retriever(
    name="rerank",
    title="Reranked",
    meaning=_MEANING.format(top=TOP, first="another retriever", model="that is named"),
    index=_of_none,
    runs="named",
    missing=lambda: _USAGE,
    arguments=":RETRIEVER:model=NAME:top=100",
    with_arguments=_of,
)
