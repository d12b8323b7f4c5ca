"""RepoBench-R at its published size and below: made-up rows in the hub's layout, read, ranked and scored."""

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
from rank_bm25 import BM25Okapi

from evaluate.rank.pools import load_pools, queries_by_pool
from evaluate.retrievers import POOLS_AT_ONCE, Floats, Pool, Queries
from evaluate.retrievers.words import BM25_OKAPI
from lake.catalog.benchmarks.repobench_r import REPOBENCH_OFFICIAL
from lake.catalog.protocol import Task
from lake.pools import stratified
from lake.store import Lake
from lake.text import words
from tests.bench import Bench, Row, Settings, Target
from tests.bench._measure import NO_TARGET, Job, Measured, Stopwatch, beside, call, fastest, row
from tests.bench._repobench_rows import NAMES, SPLITS, rows_folder

SIZES = (12_000, 48_000, 192_000)
PUBLISHED = 192_000
"""About how many rows the published dataset has; the target is meant for it."""

CHUNKER = "whole-file"
RETRIEVERS = ("bm25-okapi", "jaccard-regex")
SYSTEMS = ",".join(f"{CHUNKER}+{name}" for name in RETRIEVERS)
SUBSETS = ",".join(f"{name}/{split}" for name in NAMES for split in SPLITS)
BOTH = {"seconds": 240, "peak_mb": 3_000}
N_QUERIES = 10_000
EQUAL = {"difference": 1e-9}


def run(settings: Settings, folder: Path) -> Iterator[Row]:
    """Size by size; the ranking of the smallest is compared with a peer's as well."""
    sizes = sorted(settings.rows or SIZES)
    for size in sizes:
        job = Job(replace(settings, source=str(rows_folder(size))), folder / str(size))
        yield from _stages(size, job)
        if size == sizes[0]:
            yield from _peer(settings, job.lake, folder)
        shutil.rmtree(job.folder)


def _stages(size: int, job: Job) -> Iterator[Row]:
    """Both stages from an empty lake, and how long a thousand rows take: the same at every size, if cost is linear."""
    done: list[Measured] = []
    of_stages = {
        "ingest": ("repobench-r", "--subsets", SUBSETS, "--chunkers", CHUNKER),
        "evaluate": ("--benchmarks", "repobench-r", "--systems", SYSTEMS),
    }
    for stage, arguments in of_stages.items():
        done.append(job.stage(stage, *arguments))
        yield _row(size, stage, done[-1])
    yield _row(size, "both", *done, target=BOTH if size == PUBLISHED else {})


def _row(size: int, what: str, *measured: Measured, target: Target = NO_TARGET) -> Row:
    per_thousand = 1_000 * sum(each.seconds for each in measured) / size
    what = f"{size:,} rows: {what}, {per_thousand:.2f} s per 1,000 rows"
    return row(what, *measured, target=target)


def _peer(settings: Settings, lake: Path, folder: Path) -> Iterator[Row]:
    """Scores of `bm25-okapi` on the published task beside rank_bm25, which indexes each item's candidates."""
    theirs = fastest(settings.attempts(), lambda: call(rank_bm25, lake, folder / "theirs.npy"))
    ours = fastest(settings.attempts(), lambda: call(goldspan, lake, folder / "ours.npy"))
    apart = float(np.abs(np.load(folder / "ours.npy") - np.load(folder / "theirs.npy")).max())
    size = f"{ours.answer['queries']:,} queries, {ours.answer['candidates']:,} candidates, one core"
    peer = (f"rank_bm25.BM25Okapi per item: {size}", theirs)
    yield from beside(peer, (f"ours: {size}", ours), EQUAL, apart)


def goldspan(lake: str, output: str) -> dict[str, object]:
    """Ours, in a child: many pools at once."""
    pools = pools_of(lake, REPOBENCH_OFFICIAL, CHUNKER, N_QUERIES, POOLS_AT_ONCE)
    watch = Stopwatch()
    scores = [BM25_OKAPI.index(pool).search(queries).scores[pool.places] for pool, queries in pools]
    return _answer(watch, scores, pools, output)


def rank_bm25(lake: str, output: str) -> dict[str, object]:
    """The package, in a child: an index per item; a text that several hold is split into words once, as ours is."""
    pools = pools_of(lake, REPOBENCH_OFFICIAL, CHUNKER, N_QUERIES)
    watch = Stopwatch()
    words_of = cache(words)
    scores = [
        BM25Okapi([words_of(text) for text in pool.text]).get_scores(words(query))
        for pool, queries in pools
        for query in queries.text
    ]
    return _answer(watch, scores, pools, output)


def _answer(
    watch: Stopwatch, scores: list[Floats], pools: Sequence[tuple[Pool, Queries]], output: str
) -> dict[str, object]:
    values = np.concatenate(scores)
    cost = watch.read()
    np.save(output, values)
    return {**cost, "queries": sum(len(queries) for _, queries in pools), "candidates": len(values)}


def pools_of(lake: str, task: Task, chunker: str, n: int, n_side_by_side: int = 1) -> list[tuple[Pool, Queries]]:
    """Some of a task's items with their pools, read beforehand: that is the same for both sides, and not timed."""
    store, benchmark = Lake(Path(lake)), task.benchmark
    items = stratified(store.read("items", benchmark=benchmark).filter("scorable"), n)
    items = items.join(store.read("queries", benchmark=benchmark, query=task.query), on="item_id")
    pools = list(queries_by_pool(items, load_pools(store, chunker, items["pool_id"]), n_side_by_side))
    for pool, _ in pools:
        list(pool.text)
    return pools


REPOBENCH = Bench(
    name="repobench",
    title="RepoBench-R at its published size",
    method=f"rows are made up, 5 to 20 candidates of 1 KB each, and kept for the next time in the system's folder for "
    f"temporary files; ROWS=12000,48000 for other sizes than {', '.join(f'{size:,}' for size in SIZES)}. Whole "
    f"processes, large; all subsets, {SYSTEMS} and baselines, every protocol.",
    run=run,
)
