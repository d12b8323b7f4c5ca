"""Scoring gathered contexts of a made-up benchmark of the full size, under both protocols."""

import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import polars as pl

from evaluate.partition import Partition
from evaluate.score.conformance import protocol_hash
from evaluate.selection import Selection, selected_parts
from evaluate.systems import Run
from lake.catalog.benchmarks.contextbench import CONTEXTBENCH_ISSUE, CONTEXTS, PUBLISHED
from lake.store import Lake
from tests.bench import Bench, Row, Settings
from tests.bench import _context_lake as made_up
from tests.bench._measure import Measured, call, fastest, row

N_ITEMS, N_RUNS, N_STEPS = 1_136, 20, 60
FULL = {"seconds": 20, "peak_mb": 4_000}
_WRITTEN = ("scores", "step_scores", "aggregates")


def run(settings: Settings, folder: Path) -> Iterator[Row]:
    """Protocol by protocol, each with nothing scored yet."""
    lake, size = folder / "full", f"{N_ITEMS:,} items x {N_RUNS} runs x {N_STEPS} steps"
    call(made_up.write, lake, N_ITEMS, N_RUNS, N_STEPS)
    for protocol in (PUBLISHED.name, CONTEXTS.name):
        measured = fastest(settings.attempts(large=True), partial(_scored, lake, protocol))
        yield row(f"{protocol}: {size}", measured, target=FULL)


def _scored(lake: Path, protocol: str) -> Measured:
    for name in _WRITTEN:
        shutil.rmtree(lake / name, ignore_errors=True)
    return call(score, lake, protocol)


def score(folder: str, protocol: str) -> dict[str, object]:
    """Score and aggregate every imported run of a lake under a protocol."""
    lake = Lake(Path(folder))
    runs = lake.scan("runs", benchmark="contextbench").filter(pl.col("origin") == "imported").collect()["run_id"]
    for part in list(selected_parts(lake, CONTEXTBENCH_ISSUE, Selection())):
        Partition(part).run([Run(run_id, protocol) for run_id in runs.sort()])
    return {"runs": len(runs)}


# Sealing a protocol belongs to the start, as importing does.
protocol_hash(PUBLISHED)
protocol_hash(CONTEXTS)

CONTEXT_SCORING = Bench(
    name="contexts",
    title="contexts of agents, scored",
    method="from a lake with nothing scored to its tables: scores, steps and aggregates; sealing the protocols is not "
    "timed. That the published rules are computed to the last digit is held by tests/parity.",
    run=run,
)
