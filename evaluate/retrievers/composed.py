"""Retrievers composed of others: reciprocal rank fusion, search in two passes, and reranking by a cross-encoder."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from evaluate.embedding.models import Model, encoder_of
from evaluate.embedding.vectors import key_of
from evaluate.retrievers import Floats, Index, Pool, PoolScores, Queries, Retriever, retriever_of_name, retrievers
from evaluate.retrievers.dense import settings_in
from evaluate.retrievers.lexical import JACCARD_REGEX
from evaluate.retrievers.words import BM25_OKAPI, SYMBOLS
from evaluate.texts.tokens import Texts
from lake.errors import Exit, GoldspanError
from lake.fingerprint import sha256_of

K = 60


def fused(scores: Sequence[Floats]) -> Floats:
    """The sum of 1 / (60 + rank) over retrievers' scores; equal scores share their mean rank. NaN if all are NaN."""
    # Imported when needed: it takes a third of a second, and fifty megabytes per process.
    from scipy.stats import rankdata

    total = np.zeros(scores[0].shape)
    for of_retriever in scores:
        rank = rankdata(-of_retriever, axis=-1, nan_policy="omit")
        total += np.where(np.isnan(of_retriever), 0.0, 1 / (K + rank))
    return np.where(np.all(np.isnan(scores), axis=0), np.nan, total)


def fuse(pool: Pool, *, each: Sequence[Retriever]) -> Index:
    """An index that fuses the scores of each retriever's index."""
    indexes = [retriever.index(pool) for retriever in each]

    def search(queries: Queries) -> PoolScores:
        answers = [index.search(queries) for index in indexes]
        failed = {row: why for answer in answers for row, why in answer.failed.items()}
        return PoolScores(fused([answer.scores for answer in answers]), failed)

    return Index(search, sum(index.n_bytes for index in indexes))


def fusing(each: Sequence[Retriever]) -> Retriever:
    """A retriever that fuses the rankings of others."""
    names = [part.name for part in each]
    bounds = [part.tasks for part in each if part.tasks] or [()]
    return Retriever(
        name=":".join(["hybrid", *names]),
        title=f"{' + '.join(part.title for part in each)}, fused",
        meaning=f"Reciprocal rank fusion of {' and '.join(names)} over the same chunks: the sum of 1 / (60 + rank). "
        "Equal scores share their mean rank; a retriever adds nothing to chunks that it does not return.",
        index=partial(fuse, each=tuple(each)),
        source="Cormack, Clarke and Buettcher, Reciprocal Rank Fusion outperforms Condorcet and individual Rank "
        "Learning Methods, SIGIR 2009",
        parameters={"k": K, "fused": {part.name: dict(part.parameters) for part in each}},
        tasks=tuple(task for task in bounds[0] if all(task in other for other in bounds)),
        runs="named" if any(part.runs == "named" for part in each) else "asked",
        arguments=":RETRIEVER:RETRIEVER…",
        with_arguments=_fusing_named,
        components=tuple(each),
    )


def _fusing_named(arguments: str) -> Retriever:
    """The fusion of the named retrievers; a piece that names no retriever is an argument of the one before it."""
    # A colon starts a retriever if a known name follows.
    names = re.split(rf":(?=(?:{'|'.join(map(re.escape, retrievers()))})(?::|$))", arguments)
    if len(names) < 2 or len(set(names)) < len(names):
        message = f"hybrid:{arguments} needs two or more different retrievers"
        raise GoldspanError(message, hint=f"Write hybrid:{BM25_OKAPI.name}:{SYMBOLS.name}.", code=Exit.USAGE)
    return fusing([component("hybrid", name) for name in names])


HYBRID = replace(fusing((BM25_OKAPI, SYMBOLS)), name="hybrid")


def component(caller: str, name: str) -> Retriever:
    """A retriever that another one calls, by name; the oracle and `random` are errors."""
    retriever = retriever_of_name(name)
    if retriever.needs == "gold" or retriever.is_chance:
        message = f"retriever {caller!r} cannot call {name!r}, which is not a search method"
        raise GoldspanError(message, hint=f"Write {caller}:bm25-okapi, for example.", code=Exit.USAGE)
    return retriever


def search_twice(pool: Pool, *, both: Retriever) -> Index:
    """An index that searches twice with the index of `both`."""
    once = both.index(pool)

    def search(queries: Queries) -> PoolScores:
        """Search again, with each query's best chunk of another file appended (ties: the first; if all tie, none)."""
        first = once.search(queries)
        is_own = np.array(pool.path, object)[None, :] == np.array(queries.target_path, object)[:, None]
        others = np.where(is_own | np.isnan(first.scores), -np.inf, first.scores)
        texts = []
        for text, row in zip(queries.text, others, strict=True):
            returned = row[row > -np.inf]
            has_best = returned.size > 1 and returned.min() < returned.max()
            texts.append(f"{text}\n{pool.text[int(row.argmax())]}" if has_best else text)
        second = once.search(replace(queries, text=Texts(texts)))
        return PoolScores(second.scores, {**first.failed, **second.failed})

    return Index(search, once.n_bytes)


def in_two_passes(both: Retriever) -> Retriever:
    """A retriever that searches twice with another one."""
    return Retriever(
        name=f"repocoder:{both.name}",
        title=f"{both.title}, in two passes",
        meaning="The first pass finds the best chunk outside the query's own file; the second pass searches with the "
        f"query followed by the text of that chunk. Each pass is {both.name}: {both.meaning}",
        index=partial(search_twice, both=both),
        source="After RepoCoder's iteration (Zhang et al., 2023), with one difference: the chunk itself is added "
        "to the query, not a model's completion; no model is called. It is not RepoCoder's own search.",
        parameters={"passes": both.name, **both.parameters},
        tasks=both.tasks,
        runs="named" if both.runs == "named" else "asked",
        arguments=":RETRIEVER",
        with_arguments=lambda name: in_two_passes(component("repocoder", name)),
        components=(both,),
    )


_REPOCODER = replace(in_two_passes(JACCARD_REGEX), name="repocoder")

_MODEL = "cross-encoder/ms-marco-MiniLM-L6-v2"
TOP = 100


def reranked(first: Retriever, model: Model, top: int, pool: Pool) -> Index:
    """An index whose best chunks by `first` are scored again by the cross-encoder."""
    indexed = first.index(pool)

    def search(queries: Queries) -> PoolScores:
        """The cross-encoder's scores of the best chunks; the others follow below in their order, ties left as ties."""
        answer = indexed.search(queries)
        scores = np.array(answer.scores, dtype=np.float64)
        order = np.argsort(np.where(np.isnan(scores), np.inf, -scores), kind="stable")
        best = [row[: min(top, n)] for row, n in zip(order, (~np.isnan(scores)).sum(axis=1), strict=True)]
        pairs = [(text, pool.text[n]) for text, places in zip(queries.text, best, strict=True) for n in places]
        keys = [sha256_of(f"{key_of(query)}{key_of(text)}".encode()) for query, text in pairs]
        assert pool.vectors is not None, "a pool of a lake"
        known = pool.vectors.get(
            model.identity(kind="pairs"),
            dict(zip(keys, pairs, strict=True)),
            lambda missing: encoder_of(model, is_cross=True).scores(missing),
        )
        read = (float(known[key][0]) for key in keys)
        for row, places in zip(scores, best, strict=True):
            anew = np.array([next(read) for _ in places])
            is_left = ~np.isnan(row)
            is_left[places] = False
            # Each distinct score becomes the next integer step below the worst score of the cross-encoder.
            order = np.unique(-row[is_left], return_inverse=True)[1]
            row[is_left] = anew.min(initial=0.0) - 1 - order
            row[places] = anew
        return PoolScores(scores, answer.failed)

    return Index(search, indexed.n_bytes)


def _reranking(text: str) -> Retriever:
    """Parse `RETRIEVER[:model=NAME][:top=N]`: everything before the first argument of our own names the retriever."""
    parts = text.split(":")
    n = next((n for n in range(len(parts), 0, -1) if parts[n - 1].partition("=")[0] not in ("model", "top")), 0)
    given = settings_in("rerank", ":".join(parts[n:]), ("model", "top"))
    if n == 0 or not parts[0]:
        message = "rerank needs a retriever whose best chunks it reorders"
        raise GoldspanError(message, hint=_USAGE, code=Exit.USAGE)
    first = component("rerank", ":".join(parts[:n]))
    model, top = Model(given.get("model", _MODEL)), given.get("top", TOP)
    arguments = [f"model={model.shown}" if part.startswith("model=") else part for part in parts[n:]]
    return Retriever(
        name=":".join(["rerank", first.name, *arguments]),
        title=f"{first.title}, reranked",
        meaning=_MEANING.format(top=top, first=first.title, model=Path(model.shown).name),
        index=partial(reranked, first, model, top),
        parameters={"of": first.name, "model": model.shown, "top": top},
        needs=first.needs,
        runs="named",
        missing=model.missing,
        revision=partial(getattr, model, "revision"),
        components=(first,),
    )


_USAGE = "Write rerank:bm25-okapi, or rerank:bm25-okapi:model=NAME:top=50."
_MEANING = (
    "The {top} best chunks of {first}, reordered by the cross-encoder {model}, which reads each together with the "
    "query; the other chunks follow in their order. Long queries are cut at the start, to half of the model's input "
    "length."
)

RERANK = Retriever(
    name="rerank",
    title="Reranked",
    meaning=_MEANING.format(top=TOP, first="another retriever", model="that is named"),
    index=partial(reranked, BM25_OKAPI, Model(""), TOP),
    runs="named",
    missing=lambda: _USAGE,
    arguments=":RETRIEVER:model=NAME:top=100",
    with_arguments=_reranking,
)
