from pathlib import Path

import polars as pl
import pytest

from lake.errors import Exit
from lake.store import Lake
from tests.tiny import build, command, ingested, stored

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


def test_relevance_by_intersection_over_union_is_that_of_a_plain_reading(tmp_path: Path) -> None:
    folder = tmp_path / "lake"
    ingested(folder, build(tmp_path / "source"), chunkers=("fixed-nws-200", "whole-file"))
    run = ("evaluate", "--systems", "*+bm25-okapi", "--tasks", "repoeval/prompt-iou", "--lake", folder)
    assert command(*run).code == 0
    lake = Lake(folder)
    gold = lake.read("gold_spans").filter(gold="context-and-completion")
    chunks = lake.read("files").join(lake.read("chunks"), on="sha256")
    hits, scores = lake.read("hits"), lake.read("scores")
    wanted: dict[tuple[str, str, str], float] = {}
    runs = lake.read("runs").filter(task="repoeval/prompt-iou", retriever="bm25-okapi")
    for run_id, chunker in runs.select("run_id", "chunker").iter_rows():
        for item, pool in lake.read("items").filter(benchmark="repoeval").select("item_id", "pool_id").iter_rows():
            answer = gold.filter(item_id=item)
            of_pool = chunks.filter(pool_id=pool, chunker=chunker).select("path", "line_start", "line_end").rows()
            returned = hits.filter(run_id=run_id, item_id=item).sort("rank")
            ranked = returned.select("path", "line_start", "line_end").rows()[:10]
            for percent in (30, 50, 70):
                alike = [_iou(chunk, answer) >= percent / 100 for chunk in of_pool]
                found = [_iou(chunk, answer) >= percent / 100 for chunk in ranked]
                wanted[run_id, f"repoeval@iou-{percent}-v1", item] = sum(found) / sum(alike) if sum(alike) else 0.0
    assert len({value for value in wanted.values()}) > 1
    recall = scores.filter(metric="recall", k=10).select("run_id", "protocol", "item_id", "value").rows()
    ours = {row[:3]: row[3] for row in recall}
    assert {key: ours[key] for key in wanted} == pytest.approx(wanted)


def _iou(chunk: tuple[str, int, int], gold: pl.DataFrame) -> float:
    path, start, end = chunk
    lines = {line for one, low, high in gold.select("path", "line_start", "line_end").rows() if one == path
             for line in range(low, high)}  # fmt: skip
    own = set(range(start, end))
    return len(own & lines) / len(own | lines) if own | lines else 0.0


def test_a_task_that_is_none_or_of_no_benchmark_here_is_refused(tmp_path: Path) -> None:
    ingested(tmp_path / "lake", build(tmp_path / "source"), chunkers=("whole-file",))
    unknown = command("evaluate", "--tasks", "repoeval/prompt-hrad", "--lake", tmp_path / "lake")
    assert (unknown.code, "Did you mean 'repoeval/prompt-hard'" in unknown.err) == (Exit.USAGE, True)
    other = command("evaluate", "--tasks", "repobench-r/chunks", "--lake", tmp_path / "lake")
    assert (other.code, "the lake holds no benchmark that repobench-r/chunks asks" in other.err) == (Exit.MISSING, True)
