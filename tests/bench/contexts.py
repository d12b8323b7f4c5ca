"""Scoring gathered contexts: the published runs beside sets in loops, and a made-up benchmark of the full size."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from evaluate.partition import Partition
from evaluate.score.conformance import protocol_hash
from evaluate.selection import Selection, selected_parts
from evaluate.systems import Run
from lake.catalog.benchmarks.contextbench import CONTEXTBENCH_ISSUE, CONTEXTS, PUBLISHED
from lake.store import Lake
from tests.bench import Bench, Row, Settings, Target
from tests.bench import _context_lake as made_up
from tests.bench import _context_peer as peer
from tests.bench._measure import ChildError, Measured, call, command, fastest

N_ITEMS, N_RUNS, N_STEPS = 1_136, 20, 60
INGEST = Target(seconds=60, peak_mb=3_000)
PARITY = Target(seconds=0.35, difference=1e-12)
FULL = Target(seconds=60, peak_mb=4_000)
_WRITTEN = ("scores", "step_scores", "aggregates")


def run(settings: Settings, folder: Path) -> Iterator[Row]:
    """The published runs where the source has them, then the made-up ones."""
    published = Path(settings.source, "contextbench", "parity")
    if published.is_dir():
        try:
            yield from _parity(settings, published, folder)
        except ChildError as error:
            yield Row("the published runs", failed=error.line)
    try:
        call(made_up.write, folder / "full", N_ITEMS, N_RUNS, N_STEPS)
        size = f"{N_ITEMS:,} items x {N_RUNS} runs x {N_STEPS} steps"
        for protocols in (PUBLISHED.name, CONTEXTS.name):
            found = _ours(folder / "full", protocols, settings.attempts(large=True))
            yield Row(f"{protocols}: {size}", found.seconds, found.peak_mb, found.cpu_seconds, target=FULL)
    except ChildError as error:
        yield Row("a made-up benchmark", failed=error.line)


def _parity(settings: Settings, published: Path, folder: Path) -> Iterator[Row]:
    lake = folder / "parity"
    read = _ingest(settings.source, published, lake, folder / "source")
    yield Row("ingest: files and definitions", read.seconds, read.peak_mb, read.cpu_seconds, target=INGEST)
    theirs = fastest(settings.attempts(), lambda _: call(peer.score, lake, folder / "peer.parquet"))
    n = theirs.said["answers"]
    yield Row(f"sets in loops: {n} answers", theirs.seconds, theirs.peak_mb, theirs.cpu_seconds)
    for protocol, target in ((PUBLISHED, PARITY), (CONTEXTS, Target())):
        ours = _ours(lake, protocol.name, settings.attempts())
        apart = _difference(lake, folder / "peer.parquet") if protocol is PUBLISHED else None
        yield Row(
            f"{protocol.name}: the published runs",
            ours.seconds,
            ours.peak_mb,
            ours.cpu_seconds,
            ratio=theirs.seconds / ours.seconds,
            difference=apart,
            against="" if apart is None else "of sets in loops",
            target=target,
        )


def _ingest(source: str, published: Path, lake: Path, bare: Path) -> Measured:
    """The items, their repositories' files and definitions, then the published runs; what the first took."""
    where = ("--lake", str(lake))
    without_trajectories(Path(source, "contextbench"), bare)
    asked = ["contextbench", "--source", str(bare), "--chunkers", "whole-file"]
    # 5: some of the items lack their repositories.
    read = command(["-m", "ingest", *asked, *where], allowed=(0, 5))
    for file in sorted(published.glob("*/unified.jsonl")):
        of = ("--benchmark", "contextbench", "--system", file.parent.name)
        command(["-m", "ingest", "run", str(file), *of, *where], allowed=(0, 5))
    return read


def without_trajectories(published: Path, bare: Path) -> Path:
    """A source with ContextBench's data alone: trajectories beside it would be imported as runs of their own."""
    (bare / "contextbench").mkdir(parents=True)
    for file in published.glob("*.parquet"):
        shutil.copy(file, bare / "contextbench")
    (bare / "contextbench" / "repo_files").symlink_to((published / "repo_files").resolve())
    return bare


def _ours(lake: Path, protocol: str, times: int) -> Measured:
    """Score with nothing scored yet."""

    def once(_: int) -> Measured:
        for name in _WRITTEN:
            shutil.rmtree(lake / name, ignore_errors=True)
        return call(score, lake, protocol)

    return fastest(times, once)


def score(folder: str, protocol: str) -> dict[str, object]:
    """Score and aggregate every imported run of a lake under a protocol."""
    lake = Lake(Path(folder))
    runs = lake.scan("runs", benchmark="contextbench").filter(pl.col("origin") == "imported").collect()["run_id"]
    asked = list(selected_parts(lake, CONTEXTBENCH_ISSUE, Selection()))
    rules = next(one for one in (CONTEXTS, PUBLISHED) if one.name == protocol)
    for part in asked:
        Partition(part).score([Run(run_id) for run_id in runs.sort()], [rules])
    return {"runs": len(runs)}


def _difference(lake: Path, theirs: Path) -> float:
    """The largest difference from the peer's values; infinite where either has one that the other has not."""
    ours = Lake(lake).read("scores", benchmark="contextbench", protocol=PUBLISHED.name)
    key = ["run_id", "item_id", "metric"]
    both = pl.read_parquet(theirs).join(
        ours.drop_nulls("value").select(*key, ours="value"), on=key, how="full", coalesce=True
    )
    both = both.filter(~pl.col("metric").str.starts_with("editloc"), pl.col("metric") != "n_steps")
    apart = both.select((pl.col("value") - pl.col("ours")).abs().fill_null(float("inf")).max()).item()
    return float(apart)


# Sealing a protocol belongs to the start, as importing does.
protocol_hash(PUBLISHED)
protocol_hash(CONTEXTS)

CONTEXT_SCORING = Bench(
    name="contexts",
    title="contexts of agents, scored",
    method="from a lake with nothing scored to its tables: scores, steps and aggregates; imports and sealing the "
    "protocols are not timed. The peer answers the published rules with Python sets from the same lake.",
    run=run,
)
