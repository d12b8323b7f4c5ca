"""Our Okapi index beside rank_bm25.BM25Okapi: the same chunks, the same words, the same queries."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from rank_bm25 import BM25Okapi

from evaluate.rank.pools import load_pools, queries_by_pool
from evaluate.retrievers import Floats, Pool, Queries
from evaluate.retrievers.bm25 import BM25_OKAPI
from lake.catalog.benchmarks.repoeval import REPOEVAL_PROMPT
from lake.sampling import stratified
from lake.store import Lake
from lake.text import words
from tests.bench import Bench, Row, Settings, Target
from tests.bench._job import Job
from tests.bench._measure import ChildError, Stopwatch, call, fastest

CHUNKER = "fixed-nws-1500"
N_QUERIES = 240
EQUAL = Target(difference=1e-9)

Search = Callable[[Queries], Floats]
"""From queries to scores of shape (queries, chunks)."""


def run(settings: Settings, folder: Path) -> Iterator[Row]:
    """Ours as a small measurement, the peer as a large one."""
    job = Job(settings, folder)
    try:
        job.stage("ingest", "--chunkers", CHUNKER, "repoeval")
        theirs = fastest(settings.attempts(large=True), lambda _: call(rank_bm25, job.lake, folder / "theirs.npz"))
        ours = fastest(settings.attempts(), lambda _: call(goldspan, job.lake, folder / "ours.npz"))
    except ChildError as error:
        yield Row("ours and rank_bm25", failed=error.line)
        return
    mine, other = np.load(folder / "ours.npz"), np.load(folder / "theirs.npz")
    difference = max(float(np.abs(mine[pool] - other[pool]).max()) for pool in other.files)
    for name, measured, apart in (("rank_bm25.BM25Okapi", theirs, None), ("ours", ours, difference)):
        said = measured.said
        what = f"{name}: {said['documents']} chunks, {said['pools']} pools, {said['queries']} queries"
        yield Row(
            f"{what}; indexing {said['index_seconds']:.2f} s",
            measured.seconds,
            measured.peak_mb,
            measured.cpu_seconds,
            ratio=theirs.seconds / measured.seconds,
            difference=apart,
            against="" if apart is None else "of rank_bm25",
            target=Target() if apart is None else EQUAL,
            extra=said,
        )


def goldspan(lake: str, output: str) -> dict[str, object]:
    """Ours, in a child: one sparse product."""

    def search(pool: Pool) -> Search:
        index = BM25_OKAPI.index(pool)
        return lambda queries: index.search(queries).scores

    return _searched(search, lake, output)


def rank_bm25(lake: str, output: str) -> dict[str, object]:
    """The package, in a child."""

    def indexed(pool: Pool) -> Search:
        peer = BM25Okapi([words(text) for text in pool.text])
        return lambda queries: np.array([peer.get_scores(words(text)) for text in queries.text])

    return _searched(indexed, lake, output)


def _searched(index_of: Callable[[Pool], Search], lake: str, output: str) -> dict[str, object]:
    """Index every pool and score its queries; cutting into words counts for both, reading for none."""
    store = Lake(Path(lake))
    items = stratified(store.read("items", benchmark="repoeval").filter("scorable"), N_QUERIES)
    items = items.join(store.read("queries", benchmark="repoeval", query=REPOEVAL_PROMPT.query), on="item_id")
    asked = list(queries_by_pool(items, load_pools(store, CHUNKER, items["pool_id"])))
    scores: dict[str, Floats] = {}
    watch, index_seconds = Stopwatch(), 0.0
    for pool, queries in asked:
        began = time.perf_counter()
        search = index_of(pool)
        index_seconds += time.perf_counter() - began
        scores[pool.pool_id] = search(queries)
    cost = watch.read()
    np.savez(output, allow_pickle=False, **scores)
    return {
        **cost,
        "index_seconds": index_seconds,
        "pools": len(asked),
        "documents": sum(len(pool) for pool, _ in asked),
        "queries": items.height,
    }


BM25 = Bench(
    name="bm25",
    title="BM25 beside rank_bm25",
    method="indexing and searching RepoEval's pools, cutting into words included; ours small, the peer large.",
    run=run,
)
