import gzip
import json
from pathlib import Path

import polars as pl
import pytest

from lake.errors import Exit
from lake.store import Lake
from tests.ingest.benchmarks.repobench_r.test_repobench import ingested, put, row
from tests.tiny import Said, command

EASY, HARD = "python_cff/test/easy/0", "python_cff/test/hard/0"
ROWS = {
    "easy": [{"3": [1, 0, 2, 3, 4], "10": [4, 3, 2, 1, 0], "ground_truth": 1}],
    "hard": [{"3": list(range(9, -1, -1)), "10": [], "ground_truth": 1}],
}


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    source = put(tmp_path / "source", [row()], [row(10)])
    assert ingested(source, tmp_path / "lake").code == Exit.DONE
    return Lake(tmp_path / "lake")


def imported(lake: Lake, value: object, name: str = "python_first.json", *arguments: object) -> Said:
    file = lake.root.parent / name
    data = value if isinstance(value, bytes) else json.dumps(value, indent=4).encode()
    file.write_bytes(data)
    options = ("--benchmark", "repobench-r", "--system", "theirs", "--lake", lake.root)
    return command("ingest", "run", file, *options, *arguments)


def test_the_lists_of_the_tasks_query_are_the_rankings_of_its_rows(lake: Lake) -> None:
    imported(lake, ROWS).done("python_first.json, RepoBench-R results (by its content: --format repobench)")
    hits = lake.read("hits").sort("item_id", "rank").group_by("item_id", maintain_order=True).agg("path")
    assert dict(hits.iter_rows()) == {
        EASY: [f"cand:{number}" for number in (1, 0, 2, 3, 4)],
        HARD: [f"cand:{number}" for number in range(9, -1, -1)],
    }
    assert lake.read("runs")["task"].to_list() == ["repobench-r/official"]
    command("evaluate", "--systems", "theirs", "--lake", lake.root).done()
    accuracy = lake.read("scores").filter(pl.col("metric") == "accuracy", pl.col("k") == 1)
    values = accuracy.filter(pl.col("run_id").str.contains("theirs")).select("item_id", "value")
    assert dict(values.iter_rows()) == {EASY: 1.0, HARD: 0.0}


def test_a_file_of_one_length_of_query_is_read_packed_too(lake: Lake) -> None:
    data = gzip.compress(json.dumps({"easy": [{"10": [2, 1], "ground_truth": 1}]}).encode())
    assert "ingest: 1 of 1 item;" in imported(lake, data, "python_cff.json.gz").err
    assert lake.read("hits").sort("rank")["path"].to_list() == ["cand:2", "cand:1"]


@pytest.mark.parametrize(
    ("value", "name", "why"),
    [
        (ROWS, "results.json", "its name does not say which part of RepoBench-R it answers"),
        (ROWS, "java_first.json", "no item of the file is in"),
        ({"easy": [{"5": [0], "10": [0]}]}, "python_first.json", "easy[0]: no list of candidates' numbers from 0"),
        ({"easy": [{"3": ["0"]}]}, "python_first.json", "easy[0]: no list of candidates' numbers from 0"),
        ({"easy": [{"3": [True]}]}, "python_first.json", "easy[0]: no list of candidates' numbers from 0"),
        ({"easy": [{"3": [0, 0]}]}, "python_first.json", "a document listed twice for an item"),
        ({"easy": [{"3": [0], "ground_truth": 2}]}, "python_first.json", "right candidate is 2 in the file, 1 here"),
        ({"easy": [], "medium": []}, "python_first.json", "it is no object of easy and hard"),
        (b'{"easy": [{"3": [0', "python_first.json", "is it cut off?"),
    ],
)
def test_what_is_no_result_of_its_scripts_is_refused(lake: Lake, value: object, name: str, why: str) -> None:
    imported(lake, value, name).refused(Exit.INVALID, why)
    assert lake.parts("hits") == []
