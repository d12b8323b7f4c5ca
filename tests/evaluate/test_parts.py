import os
from pathlib import Path

import pytest

import evaluate.rank.pools
import evaluate.selection
import ingest.benchmarks.repobench_r as repobench_r
from lake.engine import MANY_JOBS, Engine, parse_engine
from lake.store import Lake
from lake.usage import run_costs
from tests.engines import mapped
from tests.ingest.benchmarks.repobench_r.test_repobench import put, row
from tests.tiny import command, stored

pytestmark = pytest.mark.slow

NAMES = ("python_cff", "java_cff")
MADE = ("hits", "run_items", "runs", "scores", "aggregates", "relevance")


def _row(number: int, n_candidates: int) -> dict[str, object]:
    candidates = [f"def helper_{(number + n) % 9}(value):\n    return value + {n}\n" for n in range(n_candidates)]
    code = f"def main():\n    total = {number}\n    value = helper_{number % 9}\n"
    return row(gold=number % n_candidates, repo_name=f"somebody/repo{number % 3}", context=candidates, code=code)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rows")
    for name in NAMES:
        put(folder, [_row(n, 5) for n in range(11)], [_row(n, 11) for n in range(9)], name=name)
    return folder


def _ingested(source: Path, lake: Path, names: tuple[str, ...] = NAMES, chunkers: str = "whole-file") -> Path:
    subsets = ",".join(f"{name}/test" for name in names)
    command(
        "ingest", "repobench-r", "--source", source, "--subsets", subsets, "--chunkers", chunkers, "--lake", lake
    ).done()
    return lake


def _evaluated(lake: Path, *arguments: object) -> Path:
    command("evaluate", "--lake", lake, *arguments).done()
    return lake


@pytest.fixture
def _five_rows_a_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repobench_r, "ROWS_OF_A_PART", 5)
    monkeypatch.setattr(evaluate.selection, "ITEMS_AT_ONCE", 5)


@pytest.fixture
def lake(source: Path, tmp_path: Path, _five_rows_a_part: None) -> Path:
    """Both subsets in parts of five rows, under one chunker."""
    return _ingested(source, tmp_path / "lake")


@pytest.mark.usefixtures("_five_rows_a_part")
def test_one_more_subset_leaves_every_part_of_the_other_alone(source: Path, tmp_path: Path) -> None:
    lake = _evaluated(_ingested(source, tmp_path / "lake", NAMES[:1]))
    before = stored(lake, "hits", "run_items", "scores", "relevance")
    times = {path: (lake / path).stat().st_mtime_ns for path in before}
    _evaluated(_ingested(source, lake))
    after = stored(lake, "hits", "run_items", "scores", "relevance")
    assert len(after) == 2 * len(before)
    assert before.items() <= after.items()
    assert {path: (lake / path).stat().st_mtime_ns for path in before} == times
    assert set(Lake(lake).read("runs")["n_items"]) == {40}
    # What the parts cost that were ranked before is known still.
    assert set(run_costs(Lake(lake)).collect()["n_queries"]) == {40}


def test_small_parts_are_ranked_and_scored_together(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_fives = Lake(_evaluated(lake)).read("scores")
    monkeypatch.setattr(evaluate.selection, "ITEMS_AT_ONCE", 2_000)
    store = Lake(_evaluated(lake))
    assert {part.name for name in MADE for part in store.parts(name)} == {"java_cff-test-0000+7", "all"}
    key = ["run_id", "protocol", "item_id", "granularity", "metric", "k"]
    assert store.read("scores").sort(key).equals(in_fives.sort(key))


@pytest.mark.usefixtures("processes")
def test_the_engine_goes_by_the_number_of_jobs() -> None:
    automatic = parse_engine("auto")
    assert automatic == Engine(None)
    here = {os.getpid()}
    assert set(mapped(automatic, _process, range(MANY_JOBS - 1))) == here
    if (os.cpu_count() or 1) > 1:
        assert not set(mapped(automatic, _process, range(MANY_JOBS))) & here
        with automatic.executor(2, are_long=True) as executor:
            assert not set(automatic.results(executor, _process, range(2))) & here


def _process(job: int) -> int:
    del job
    return os.getpid()
