"""A task that is to be named: it runs where it is, is kept from then on, and touches no other's numbers."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from lake.errors import Exit
from lake.store import Lake
from tests.evaluate.test_engine import stored
from tests.tiny import build, command, ingested

HARD = "repoeval/prompt-hard"


def _of(lake: Path, name: str) -> dict[str, bytes]:
    return {path: data for path, data in stored(lake).items() if f"run_id=repoeval.{name}--" in path}


def test_hard_negatives_are_a_task_that_runs_where_it_is_named(tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    ingested(lake, build(tmp_path / "source"), chunkers=("whole-file",))
    run = ("evaluate", "--systems", "*+bm25-okapi", "--lake", lake)
    assert command(*run).code == 0
    alone = _of(lake, "prompt")
    assert (len(alone) > 0, _of(lake, "prompt-hard")) == (True, {})
    assert command(*run, "--tasks", HARD).code == 0
    hard = _of(lake, "prompt-hard")
    # The other task's numbers, ranks and comparisons are what they were.
    assert _of(lake, "prompt") == alone
    store = Lake(lake)
    runs = store.read("runs").filter(task=HARD)
    hits = store.scan("hits").filter(pl.col("run_id").is_in(runs["run_id"].implode())).collect()
    assert hits.filter(pl.col("path").str.starts_with("other/")).height > 0
    assert set(hits.filter(pl.col("path").str.contains("^other/"))["path"]) <= {
        "other/zoo_animals/cats.py", "other/zoo_animals/dogs.py", "other/zoo_animals/copy/cats.py",
        "other/acme_rockets/rockets/engine.py", "other/acme_rockets/rockets/orbit.py",
    }  # fmt: skip
    protocols = store.read("scores").filter(pl.col("run_id").is_in(runs["run_id"].implode()))["protocol"]
    assert set(protocols) == {"repoeval@hard-negatives-v1"}
    # Once it was run it is kept.
    store.remove(store.parts("hits", run_id=runs["run_id"][0])[0])
    assert command(*run).code == 0
    assert _of(lake, "prompt-hard") == hard


def test_a_task_that_is_none_or_of_no_benchmark_here_is_refused(tmp_path: Path) -> None:
    ingested(tmp_path / "lake", build(tmp_path / "source"), chunkers=("whole-file",))
    unknown = command("evaluate", "--tasks", "repoeval/prompt-hrad", "--lake", tmp_path / "lake")
    assert (unknown.code, "Did you mean 'repoeval/prompt-hard'" in unknown.err) == (Exit.USAGE, True)
    other = command("evaluate", "--tasks", "repobench-r/chunks", "--lake", tmp_path / "lake")
    assert (other.code, "the lake holds no benchmark that repobench-r/chunks asks" in other.err) == (Exit.MISSING, True)
