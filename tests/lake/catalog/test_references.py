from pathlib import Path

import pytest

from lake.benchmarks import protocols_called
from lake.catalog.references import unbeaten_baselines
from lake.errors import GoldspanError
from lake.store import Lake

CHANCE, OPEN_FILE, ORACLE = ("random", True), ("own-file", True), ("oracle", True)
BM25, AGENT = ("bm25-okapi", False), ("", False)


def _named(
    *rows: tuple[tuple[str, bool], float | None], task: str = "repoeval/prompt", lower: bool = False
) -> list[str]:
    found = unbeaten_baselines(task, [(*who, value) for who, value in rows], lower_is_better=lower)
    return [sentence.partition(":")[0].rpartition(" ")[2] for sentence in found]


def test_the_baseline_that_no_system_is_above_is_named() -> None:
    assert _named((ORACLE, 0.9), (CHANCE, 0.2), (BM25, 0.1)) == ["random"]
    assert _named((ORACLE, 0.9), (OPEN_FILE, 0.8), (BM25, 0.1), (CHANCE, 0.05)) == ["own-file"]
    assert _named((OPEN_FILE, 0.8), (CHANCE, 0.3), (BM25, 0.1)) == ["own-file", "random"]


def test_nothing_is_said_where_a_system_leads_or_there_is_none() -> None:
    assert _named((CHANCE, 0.1), (BM25, 0.2)) == []
    assert _named((CHANCE, 0.1), (BM25, 0.05), (AGENT, 0.2)) == []
    assert _named((CHANCE, 0.1), (ORACLE, 0.2)) == []
    assert _named((CHANCE, 0.1), (BM25, None)) == []


def test_the_lowest_number_leads_where_lower_is_better() -> None:
    assert _named((CHANCE, 0.1), (BM25, 0.2), lower=True) == ["random"]
    assert _named((CHANCE, 0.3), (BM25, 0.2), lower=True) == []


@pytest.mark.parametrize("task", ["repobench-r/official", "repobench-r/chunks", "contextbench/issue", "mine/own"])
def test_every_task_has_a_reason(task: str) -> None:
    (sentence,) = unbeaten_baselines(task, [(*CHANCE, 0.2), (*BM25, 0.1)])
    assert ("imports" in sentence) == (task == "repobench-r/chunks")


def test_a_name_without_its_benchmark_means_every_protocol_of_that_name(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    assert [one.name for one in protocols_called(lake, "docs-v1")] == ["contextbench@docs-v1"]
    assert [one.name for one in protocols_called(lake, "contextbench@docs-v1")] == ["contextbench@docs-v1"]
    assert {"repoeval@chunking-v1", "repobench-r@chunking-v1"} <= {
        one.name for one in protocols_called(lake, "chunking-v1")
    }
    assert [one.name for one in protocols_called(lake, "chunking-v1", "repoeval")] == ["repoeval@chunking-v1"]


def test_an_unknown_one_is_refused_with_what_may_be_meant(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    with pytest.raises(GoldspanError, match="Did you mean 'docs-v1'"):
        protocols_called(lake, "dcs-v1")
