"""ContextBench with four chunkers and four systems, part by part, and what all of it would take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl

from lake.store import Lake
from tests.bench import Bench, Row, Settings, Target
from tests.bench._job import DONE
from tests.bench._made_contextbench import instances_folder
from tests.bench._measure import ChildError, Measured, call, command
from tests.bench._parts import spent_by
from tests.bench.contexts import without_trajectories

N_ITEMS, N_CORES = 1_136, 2
SYSTEMS = ("*+bm25-okapi", "*+jaccard-regex", "*+random", "*+oracle")
WHOLE = Target(seconds=3_600, peak_mb=4_000)

INGEST = {
    "blobs": ["ingest.pipeline:_ingest_subset"],
    "chunks": ["ingest.pipeline:cut_pools"],
    "symbols": ["ingest.pipeline:cut_symbols"],
}
EVALUATE = {
    "tokens": ["evaluate.rank.chunk_texts:ChunkTexts._count"],
    "ranking": ["evaluate.partition:Partition.run"],
    "scoring": ["evaluate.partition:score_part"],
    "random": ["evaluate.partition:expected_contexts"],
    "statistics": [
        "evaluate.runs.task_runs:aggregate_runs",
        "evaluate.pipeline:compare_task",
    ],
}
SPREAD = frozenset({"symbols", "tokens", "ranking"})
"""The parts that are handed out to as many processes as there are cores."""


def run(settings: Settings, folder: Path) -> Iterator[Row]:
    """Ingest, then evaluate, each in a process of its own; then both for all items."""
    published = Path(settings.source, "contextbench")
    if not published.is_dir():
        yield Row("ContextBench's own data", failed="SOURCE is to be a folder that holds contextbench")
        return
    if settings.full:
        yield from _full(published, max(1, round(settings.full * N_ITEMS)), folder)
        return
    source, lake = without_trajectories(published, folder / "source"), folder / "lake"
    seconds, peak = 0.0, 0.0
    try:
        for function in (ingest, evaluate):
            measured = call(function, source, lake)
            yield from _rows(function.__name__, measured)
            seconds += _for_all(measured)
            peak = max(peak, measured.peak_mb)
    except ChildError as error:
        yield Row("four chunkers, four systems", failed=error.line)
        return
    yield Row(f"all {N_ITEMS:,} items on {N_CORES} cores, projected", seconds, peak, target=WHOLE)


def _full(published: Path, n_items: int, folder: Path) -> Iterator[Row]:
    """Both stages as they are typed, over made-up instances in git repositories, and what an instance costs."""
    source, repositories = instances_folder(published / "repo_files", n_items)
    lake = ["--lake", str(folder / "lake"), "--json", "--quiet"]
    given = {
        "ingest": ["contextbench", "--source", str(source), "--repositories", repositories.as_uri()],
        "evaluate": ["contextbench", "--systems", ",".join(SYSTEMS)],
    }
    done: list[Measured] = []
    for stage, arguments in given.items():
        try:
            measured = command(["-m", stage, *arguments, *lake], allowed=DONE)
        except ChildError as error:
            yield Row(f"{n_items:,} made-up items: {stage}", failed=error.line)
            return
        done.append(measured)
        what = f"{n_items:,} made-up items: {stage}, {1_000 * measured.cpu_seconds / n_items:,.0f} CPU ms an item"
        yield Row(what, measured.seconds, measured.peak_mb, measured.cpu_seconds, extra={"items": n_items})
    yield Row(
        f"{n_items:,} made-up items: both",
        sum(measured.seconds for measured in done),
        max(measured.peak_mb for measured in done),
        sum(measured.cpu_seconds for measured in done),
        target=WHOLE if n_items == N_ITEMS else Target(),
    )


def ingest(source: str, lake: str) -> dict[str, object]:
    """Read and cut; what each part took, and how many items can be scored."""
    arguments = ["read", "contextbench", "--source", source, "--lake", lake, "--quiet"]
    return {"parts": spent_by("ingest.commands", arguments, INGEST), "items": _n_items(lake)}


def evaluate(source: str, lake: str) -> dict[str, object]:
    """Rank and score in one process, whatever the cores; what each part took, and for how many items."""
    del source
    arguments = ["run", "--lake", lake, "--systems", ",".join(SYSTEMS), "--engine", "local:1", "--quiet"]
    return {"parts": spent_by("evaluate.commands", arguments, EVALUATE), "items": _n_items(lake)}


def _n_items(lake: str) -> int:
    return int(Lake(Path(lake)).scan("items").select(pl.col("scorable").sum()).collect().item())


def _parts(measured: Measured) -> Mapping[str, tuple[float, float]]:
    parts = measured.said["parts"]
    assert isinstance(parts, dict)
    return {name: (wall, processor) for name, (wall, processor) in parts.items()}


def _rows(stage: str, measured: Measured) -> Iterator[Row]:
    parts = _parts(measured)
    for name, (wall, processor) in parts.items():
        yield Row(f"{stage}: {name}", wall, cpu_seconds=processor)
    wall, processor = (sum(one) for one in zip(*parts.values(), strict=True))
    extra = {"items": measured.said["items"]}
    yield Row(f"{stage}: all, {measured.said['items']} items", wall, measured.peak_mb, processor, extra=extra)


def _for_all(measured: Measured) -> float:
    """Seconds for all items: each part's processor seconds per item, on the cores that it is spread over."""
    n_items = measured.said["items"]
    assert isinstance(n_items, int)
    per_item = sum(processor / (N_CORES if name in SPREAD else 1) for name, (_, processor) in _parts(measured).items())
    return per_item / n_items * N_ITEMS


CONTEXTBENCH = Bench(
    name="contextbench",
    title="ContextBench with four chunkers and four systems",
    method=f"from an empty lake, the items whose repositories are at hand; {', '.join(SYSTEMS)}. A part's seconds are "
    "without those of parts within it; symbols are with the chunks along syntax trees, which share the parse. "
    f"Projected to {N_ITEMS:,} items: as many processor seconds per item, though items share files; "
    f"{', '.join(sorted(SPREAD))} on {N_CORES} cores, the rest on one; cloning apart. FULL=1 measures so many made-up "
    "items instead, whole processes with cloning, over 66 git repositories of the sizes of those in SOURCE; FULL=0.1 a "
    "tenth of them.",
    run=run,
)
