from pathlib import Path
from unittest.mock import patch

import polars as pl
import pytest

from evaluate.partition import Partition
from evaluate.runs.pooling import aggregate_runs
from evaluate.selection import ItemPart, Selection, selected_parts
from evaluate.systems import Run
from lake.catalog.benchmarks.contextbench import CONTEXTBENCH_ISSUE, CONTEXTS, PUBLISHED
from lake.store import Lake
from tests.bench._context_lake import write

pytestmark = pytest.mark.slow

N_ITEMS, N_STEPS = 12, 5
PROTOCOLS = (CONTEXTS, PUBLISHED)
RUNS = [Run(f"contextbench.issue--agent-{number:02}--00000000") for number in range(3)]
SCORED = ("scores", "step_scores", "aggregates")


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """Three agents of five steps on twelve items in as many repositories."""
    write(str(tmp_path), str(N_ITEMS), str(len(RUNS)), str(N_STEPS))
    return Lake(tmp_path)


def asked(lake: Lake) -> list[ItemPart]:
    return list(selected_parts(lake, CONTEXTBENCH_ISSUE, Selection()))


def score(lake: Lake, runs: list[Run] = RUNS, code: str = "as it is") -> None:
    with patch("lake.make.code_digest", lambda *_: code):
        for part in asked(lake):
            Partition(part).run(runs)
        aggregate_runs(asked(lake), PROTOCOLS, runs)


def state(lake: Lake) -> dict[str, int]:
    """When each part was last written; what follows a part's name says what it was made of."""
    parts = [part.path for name in SCORED for part in lake.parts(name)]
    return {f"{path.parent}/{path.name.split('.')[0]}": path.stat().st_mtime_ns for path in parts}


def test_other_symbols_are_scored_anew(lake: Lake) -> None:
    score(lake)
    before = state(lake)
    (stored,) = lake.parts("symbols", rules="docs")
    frame = lake.scan_parts([stored], "symbols").collect()
    lake.write("symbols", frame.head(1), part=stored.name, fingerprint="fewer", rules="docs")
    score(lake)
    changed = {path for path, written in state(lake).items() if written != before[path]}
    assert changed == {path for path in before if CONTEXTS.name in path or "aggregates" in path}


def test_sources_are_slices_and_never_kept_apart(lake: Lake) -> None:
    (stored,) = lake.parts("items", benchmark="contextbench")
    items = lake.scan_parts([stored], "items").collect()
    source = pl.Series("source", ["Pro", "Multi"] * (N_ITEMS // 2))
    lake.write("items", items.with_columns(source), part=stored.name, fingerprint="two", benchmark="contextbench")
    score(lake)
    aggregates = lake.read("aggregates", benchmark="contextbench").filter(protocol=PUBLISHED.name)
    assert set(aggregates["slice"]) == {"all", "source", "repo"}
    assert set(aggregates.filter(pl.col("slice") == "source")["slice_value"]) == {"Pro", "Multi"}


def test_micro_redundancy_is_what_was_seen_again_over_what_was_seen(lake: Lake) -> None:
    score(lake)
    run = {"benchmark": "contextbench", "protocol": CONTEXTS.name, "run_id": RUNS[0].run_id}
    steps = lake.scan("step_scores", **run).filter(granularity="line").sort("item_id", "step").collect()
    seen, last = sum(steps["n_pred"]), sum(steps.filter(pl.col("step") == N_STEPS)["n_cumulative"])
    aggregates = lake.scan("aggregates").filter(**run).collect()
    # Source and language tell nothing apart here.
    assert set(aggregates["slice"]) == {"all", "repo"}
    found = aggregates.filter(metric="line_redundancy", slice="all")
    assert found["micro"].item() == pytest.approx(1 - last / seen, abs=1e-12)
    assert aggregates.filter(metric="line_auc", slice="all")["micro"].item() is None
