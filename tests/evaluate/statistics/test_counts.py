"""What a mean is over: n and the counts beside it, under every protocol that scores the samples."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from lake.catalog.protocols import protocols
from lake.store import Lake
from tests.tiny import command

pytestmark = pytest.mark.slow

MEASURE = ["run_id", "protocol", "granularity", "metric", "k"]


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> pl.DataFrame:
    """The samples' aggregates over all items, each with what plain counting of its scores gives."""
    home = tmp_path_factory.mktemp("counts")
    _run(home, "ingest", "--source", "sample", "--chunkers", "whole-file")
    lake = Lake(home / "lake")
    # Two agents' answers: one to some items alone, one to all, in a file that is in no repository.
    items = lake.read("items", benchmark="contextbench").filter("scorable").sort("item_id")["item_id"]
    for system, path, n in (("hasty", "README.md", items.len() // 2), ("lost", "no/such.py", items.len())):
        given = home / f"{system}.jsonl"
        given.write_text("".join(f"{json.dumps(_answer(item, path))}\n" for item in items.head(n)))
        _run(home, "ingest", "run", given, "--benchmark", "contextbench", "--system", system, "--asked-all")
    _run(home, "evaluate", "--systems", "*+bm25*,sample-*,hasty,lost")
    done = lake.scan("run_items").filter(pl.col("status") == "done").select("run_id", "item_id", is_done=True)
    has_value = pl.col("value").is_not_null()
    plain = (
        lake.scan("scores")
        .join(done, on=["run_id", "item_id"], how="left")
        .with_columns(is_empty=(~has_value).all().over("run_id", "protocol", "item_id"))
        .with_columns(is_failed=pl.col("is_empty") | pl.col("is_done").is_null())
        .group_by(MEASURE)
        .agg(
            valued=has_value.sum(),
            rows=pl.len(),
            failed=pl.col("is_failed").sum(),
            not_applicable=(~has_value & ~pl.col("is_failed")).sum(),
            failed_in_the_mean=(has_value & pl.col("is_failed")).sum(),
            mean=pl.col("value").mean(),
        )
    )
    whole = lake.scan("aggregates").filter(pl.col("slice") == "all").join(plain, on=MEASURE, how="left")
    return whole.collect()


def _run(home: Path, stage: str, *line: str | Path) -> None:
    said = command(stage, *line, "--lake", home / "lake")
    assert said.code in (0, 5), said.err


def _answer(item: str, path: str) -> dict[str, object]:
    seen = {"files": [path], "spans": {path: [{"type": "line", "start": 1, "end": 2}]}, "symbols": {}}
    final = {f"pred_{name}": value for name, value in seen.items()}
    return {"instance_id": item, "model_patch": "", "traj_data": {"pred_steps": [seen], **final}}


def test_every_protocol_of_the_samples_is_counted(counted: pl.DataFrame) -> None:
    of_samples = {name for name in protocols() if name.partition("@")[0] in {"repoeval", "repobench-r", "contextbench"}}
    # Completions are imported alone, and no sample brings any; the others' tasks run where they are named.
    pools = ("hard-negatives", "random-negatives", "vector-negatives", "scale-1", "scale-4", "scale-16")
    names = ("completion", *pools, "needs", "iou-30", "iou-50", "iou-70")
    asked_for = {f"repoeval@{name}-v1" for name in names}
    assert set(counted["protocol"]) == of_samples - asked_for


def test_n_is_what_the_mean_is_over(counted: pl.DataFrame) -> None:
    assert counted["n"].to_list() == counted["valued"].to_list()
    assert counted["macro"].to_list() == pytest.approx(counted["mean"].to_list(), abs=1e-12, nan_ok=True)


def test_what_is_not_in_the_mean_failed_or_is_not_applicable(counted: pl.DataFrame) -> None:
    for stored, plain in (("n_items", "rows"), ("n_failed", "failed"), ("n_not_applicable", "not_applicable")):
        assert counted[stored].to_list() == counted[plain].to_list(), stored


def test_a_failed_item_counts_in_the_mean_unless_the_protocol_leaves_it_out(counted: pl.DataFrame) -> None:
    left_out = pl.col("n_items") - pl.col("n") - pl.col("n_not_applicable")
    by_protocol = {}
    for name, protocol in protocols().items():
        primary = counted.filter(protocol=name, metric=protocol.primary.metric, k=protocol.primary.k)
        by_protocol[name] = set(primary.select(left_out).to_series())
    assert max(by_protocol.pop("contextbench@official-v1")) > 0
    assert set.union(*by_protocol.values()) == {0}
    # Under `docs-v1` both agents are scored on every item, and only what one passed over is a failure.
    of_lines = counted.filter(metric="line_coverage", k=0, protocol="contextbench@docs-v1")
    assert of_lines.filter(pl.col("n_failed") > 0).height == 1
    assert of_lines["n"].to_list() == of_lines["n_items"].to_list()


def test_every_mean_over_two_repositories_or_more_has_its_interval(counted: pl.DataFrame) -> None:
    counted = counted.filter(pl.col("n") > 0)
    for low, mean, high in (("low", "macro", "high"), ("by_repo_low", "by_repo", "by_repo_high")):
        # Null is of one repository alone, or of one whose items alone have a value.
        assert counted.filter(~pl.col(mean).is_between(low, high)).is_empty()
    several = counted.filter(pl.col("n_repos") > 1)
    assert several.height > 100
    assert several.filter(pl.col("n") == pl.col("n_items"))["low"].null_count() == 0
    assert several.filter(pl.col("n") > 1)["item_low"].null_count() == 0
    # What random is expected to score has an interval over repositories as any mean has.
    chance = several.filter(pl.col("run_id").str.contains("+random", literal=True))
    assert chance.filter(pl.col("low") < pl.col("high")).height > 0
