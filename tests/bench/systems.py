"""The ground for many systems: eight chunkers with six lexical retrievers on RepoEval, from an empty lake."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tests.bench import Bench, Row, Settings, Target
from tests.bench._measure import ChildError, call
from tests.bench.bm25 import CHUNKER, N_QUERIES, rank_bm25
from tests.bench.repoeval import from_nothing

CHUNKERS = (
    *(f"fixed-nws-{size}" for size in (300, 800, 1500, 2400)),
    "syntax-800",
    "syntax-1500",
    "definition",
    "whole-file",
)
RETRIEVERS = ("bm25-okapi", "bm25-lucene", "bm25-code", "tfidf", "identifiers", "jaccard-regex")
SUBSET = ("--subsets", "function-2k")
TARGET = Target(seconds=120, peak_mb=4_000)


def run(settings: Settings, folder: Path) -> Iterator[Row]:
    """Every chunker with every retriever, and the peer with one chunker on some of the queries."""
    selected = () if settings.is_sample else SUBSET
    try:
        yield from from_nothing(settings, folder, CHUNKERS, RETRIEVERS, TARGET, *selected)
        peer = call(rank_bm25, str(folder / "0" / "lake"), str(folder / "peer.npz"))
    except ChildError as error:
        yield Row("from an empty lake", failed=error.line)
        return
    what = (
        f"rank_bm25 alone, {CHUNKER}, {min(N_QUERIES, int(str(peer.said['queries'])))} queries, ranked and not scored"
    )
    yield Row(what, peer.seconds, peer.peak_mb, peer.cpu_seconds, extra=peer.said)


SYSTEMS = Bench(
    name="systems",
    title="Many systems at once on RepoEval's functions",
    method=f"whole processes, large; chunkers {', '.join(CHUNKERS)}; retrievers {', '.join(RETRIEVERS)} and the "
    "baselines, scored under every protocol. The peer only ranks, for one chunker.",
    run=run,
)
