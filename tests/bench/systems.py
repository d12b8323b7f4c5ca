"""Many systems on RepoEval: eight chunkers with six lexical retrievers, from an empty lake, beside rank_bm25."""

from collections.abc import Iterator
from pathlib import Path

from rank_bm25 import BM25Okapi

from lake.catalog.benchmarks.repoeval import REPOEVAL_PROMPT
from lake.text import words
from tests.bench import Bench, Row, Settings
from tests.bench._measure import Job, Stopwatch, call, row
from tests.bench.repobench import pools_of

CHUNKERS = (
    *(f"fixed-nws-{size}" for size in (300, 800, 1500, 2400)),
    "syntax-800",
    "syntax-1500",
    "definition",
    "whole-file",
)
RETRIEVERS = ("bm25-okapi", "bm25-lucene", "bm25-code", "tfidf", "identifiers", "jaccard-regex")
SUBSET = ("--subsets", "function-2k")
TARGET = {"seconds": 120, "peak_mb": 4_000}
PEER_CHUNKER, N_PEER_QUERIES = "fixed-nws-1500", 240


def run(settings: Settings, folder: Path) -> Iterator[Row]:
    """Every chunker with every retriever, and the peer with one chunker on some of the queries."""
    systems = ",".join(f"*+{name}" for name in RETRIEVERS)
    selected = () if settings.is_sample else SUBSET
    attempts = []
    for attempt in range(settings.attempts(large=True)):
        job = Job(settings, folder / str(attempt))
        ingest = job.stage("ingest", "--chunkers", ",".join(CHUNKERS), *selected, "repoeval")
        attempts.append((ingest, job.stage("evaluate", "--benchmarks", "repoeval", "--systems", systems)))
    peer = call(rank_bm25, job.lake)
    ingest, evaluate = min(attempts, key=lambda pair: pair[0].seconds + pair[1].seconds)
    yield row(f"ingest, {len(CHUNKERS)} chunkers", ingest)
    yield row(f"evaluate, {systems} and baselines, {evaluate.answer['expected']:,} rankings", evaluate)
    yield row("from an empty lake: both", ingest, evaluate, target={} if settings.is_sample else TARGET)
    what = f"rank_bm25 alone, {PEER_CHUNKER}, {peer.answer['queries']} queries, ranked and not scored"
    yield row(what, peer)


def rank_bm25(lake: str) -> dict[str, object]:
    """The package, in a child: an index per pool; cutting into words counts, reading the lake does not."""
    pools = pools_of(lake, REPOEVAL_PROMPT, PEER_CHUNKER, N_PEER_QUERIES)
    watch = Stopwatch()
    for pool, queries in pools:
        index = BM25Okapi([words(text) for text in pool.text])
        for text in queries.text:
            index.get_scores(words(text))
    return {**watch.read(), "queries": sum(len(queries) for _, queries in pools)}


SYSTEMS = Bench(
    name="systems",
    title="Many systems at once on RepoEval's functions",
    method=f"whole processes, large; chunkers {', '.join(CHUNKERS)}; retrievers {', '.join(RETRIEVERS)} and the "
    "baselines, scored under every protocol. The peer only ranks, for one chunker.",
    run=run,
)
