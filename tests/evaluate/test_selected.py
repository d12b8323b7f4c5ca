import shutil
from pathlib import Path

import polars as pl
import pytest

from lake.errors import Exit
from lake.store import Lake
from tests.ingest.benchmarks.repobench_r.test_repobench import put, row
from tests.tiny import build, command

pytestmark = pytest.mark.slow

ROWS = [row(), row(6, 0), row(7, 2)]
SYSTEMS = ("--systems", "whole-file+tfidf")


@pytest.fixture(scope="module")
def _both(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("both")
    build(home / "source" / "repoeval")
    put(home / "source" / "repobench-r", ROWS, [])
    chunkers = ("--chunkers", "whole-file")
    for name in ("repoeval", "repobench-r"):
        command("ingest", name, "--source", home / "source" / name, *chunkers, "--lake", home / "lake").done()
    return home / "lake"


@pytest.fixture
def lake(_both: Path, tmp_path: Path) -> Lake:
    return Lake(shutil.copytree(_both, tmp_path / "lake"))


def _asked(lake: Lake, task: str) -> set[str]:
    runs = lake.read("runs").filter(task=task, system="whole-file+tfidf")
    items = lake.read("run_items").filter(pl.col("run_id").is_in(runs["run_id"].implode()))
    return set(items["item_id"])


def test_items_are_selected_by_id_and_by_a_file_of_ids(lake: Lake, tmp_path: Path) -> None:
    ids = lake.read("items", benchmark="repoeval").filter("scorable")["item_id"].sort().to_list()
    command("evaluate", "repoeval", "--items", f"item_id={ids[0]}", *SYSTEMS, "--lake", lake.root).done()
    assert _asked(lake, "repoeval/prompt") == {ids[0]}
    file = tmp_path / "ids.txt"
    file.write_text("\n".join(ids[1:3]))
    command("evaluate", "repoeval", "--items", file, *SYSTEMS, "--lake", lake.root).done()
    assert _asked(lake, "repoeval/prompt") == set(ids[:3])
    assert not lake.parts("runs", benchmark="repobench-r")
    runs = lake.read("runs").filter(system="whole-file+tfidf")
    assert set(runs["status"]) == {"partial"}
    assert set(runs["n_items"]) == {1, 2}


def test_a_benchmark_without_a_selected_item_is_left_as_it_is(lake: Lake) -> None:
    run = command("evaluate", "--items", "level=easy", *SYSTEMS, "--lake", lake.root)
    run.done("repoeval is unchanged: none of its items is selected")
    assert _asked(lake, "repobench-r/chunks")
    none = command("evaluate", "--items", "level=simple", *SYSTEMS, "--lake", lake.root)
    none.refused(Exit.MISSING, "no item of repobench-r, repoeval has level=simple")


def test_a_limit_of_ingest_is_of_all_subsets_together(tmp_path: Path) -> None:
    put(put(tmp_path / "source", ROWS, []), ROWS, [], name="python_cfr")
    arguments = ("--source", tmp_path / "source", "--chunkers", "whole-file", "--lake", tmp_path / "lake")
    command("ingest", "repobench-r", "--limit", 3, *arguments).done()
    items = Lake(tmp_path / "lake").read("items")
    assert sorted(items["subset"].value_counts().rows()) == [("python_cff", 2), ("python_cfr", 1)]


def test_a_program_is_asked_the_selected_items_alone(lake: Lake, tmp_path: Path) -> None:
    ids = lake.read("items", benchmark="repoeval").filter("scorable")["item_id"].sort().to_list()
    program = tmp_path / "program.py"
    program.write_text(
        "import json, sys\nfor line in sys.stdin: print(json.dumps({'id': json.loads(line)['id'], 'results': []}))\n"
    )
    options = ("--benchmark", "repoeval", "--system", "mine", "--lake", lake.root)
    command("ingest", "run", "--search", f"python3 {program}", "--items", ids[0], *options).done()
    row = lake.read("runs").row(0, named=True)
    assert (row["n_items"], row["status"]) == (1, "partial")
    assert row["selection"] == [{"column": "item_id", "value": ids[0]}]
    assert lake.read("run_items")["item_id"].to_list() == [ids[0]]
