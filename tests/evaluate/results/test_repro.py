"""`python -m evaluate repro`: where a run comes from, and the same run made again."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import polars as pl
import pytest

from lake.store import Lake
from tests.tiny import command


@pytest.fixture
def run_id(lake_folder: Path) -> str:
    runs = Lake(lake_folder).read("runs").filter(pl.col("system").str.ends_with("+bm25-okapi")).sort("run_id")
    return str(runs["run_id"][0])


def test_a_runs_data_rules_versions_and_commands_are_printed(lake_folder: Path, run_id: str) -> None:
    said = command("evaluate", "repro", run_id, "--lake", lake_folder)
    assert said.code == 0, said.err
    told = json.loads(command("evaluate", "repro", run_id, "--lake", lake_folder, "--json").out)
    run = Lake(lake_folder).read("runs").row(by_predicate=pl.col("run_id") == run_id, named=True)
    assert told["run"]["fingerprint"] == run["fingerprint"]
    hashes = Lake(lake_folder).scan("scores").filter(pl.col("run_id") == run_id).select("protocol", "protocol_hash")
    assert told["protocols"] == dict(hashes.unique().collect().iter_rows())
    for fact in (run_id, run["system"], run["fingerprint"], run["parameters"], run["versions"], *told["protocols"]):
        assert fact in said.out
    assert "  python -m ingest repoeval --source FOLDER --subsets function-2k --chunkers " in said.out
    assert f"  python -m evaluate --benchmarks repoeval --systems {run['system']}" in said.out


def test_made_again_from_the_same_source_every_score_is_equal(lake_folder: Path, source: Path, run_id: str) -> None:
    said = command("evaluate", "repro", run_id, "--exec", "--source", source, "--lake", lake_folder)
    assert said.code == 0, said.err
    n = Lake(lake_folder).scan("scores").filter(pl.col("run_id") == run_id).select(pl.len()).collect().item()
    assert f"made again under the same id; {n:,} of {n:,} scores are equal to the last bit" in said.err


def test_a_score_that_is_another_is_counted_and_ends_with_3(lake_folder: Path, source: Path, run_id: str) -> None:
    lake = Lake(lake_folder)
    part = next(part for part in lake.parts("scores") if part.folders["run_id"] == run_id)
    frame = lake.scan_parts([part], "scores").select(*lake.read("scores").columns).collect()
    moved = frame.with_columns(value=pl.when(pl.int_range(pl.len()) == 0).then(0.125).otherwise("value"))
    lake.write("scores", moved.drop("benchmark"), part=part.name, fingerprint=part.fingerprint, **part.folders)
    said = command("evaluate", "repro", run_id, "--exec", "--source", source, "--lake", lake_folder)
    assert said.code == 3
    n = lake.scan("scores").filter(pl.col("run_id") == run_id).select(pl.len()).collect().item()
    # The one that is here and the one that is there are two rows.
    assert f"{n - 1:,} of {n + 1:,} scores are equal" in said.err


def test_an_imported_run_is_made_again_from_its_file(lake_folder: Path, source: Path, tmp_path: Path) -> None:
    items = Lake(lake_folder).scan("items").filter("scorable").select("item_id", "target_path").collect()
    rows = [f"{item_id}\t{path}\t1\t1.0" for item_id, path in items.iter_rows()]
    file = tmp_path / "mine.tsv"
    file.write_text("\n".join(["item_id\tdocument\trank\tscore", *rows]) + "\n")
    options = ("--benchmark", "repoeval", "--system", "mine", "--task", "repoeval/prompt", "--lake", lake_folder)
    said = command("ingest", "run", file, *options)
    assert said.code == 0, said.err
    assert command("evaluate", "--systems", "mine", "--lake", lake_folder).code == 0
    run_id = str(Lake(lake_folder).read("runs").filter(pl.col("system") == "mine")["run_id"].item())
    lacking = command("evaluate", "repro", run_id, "--exec", "--source", source, "--lake", lake_folder)
    assert lacking.code == 2
    assert "--file" in lacking.err
    said = command("evaluate", "repro", run_id, "--exec", "--source", source, "--file", file, "--lake", lake_folder)
    assert said.code == 0, said.err
    assert "under the same id" in said.err


def test_of_a_program_that_was_asked_the_commands_ask_it_again(lake_folder: Path, tmp_path: Path) -> None:
    program = tmp_path / "mine.py"
    program.write_text(
        "import json, sys\nfor line in sys.stdin: print(json.dumps({'id': json.loads(line)['id'], 'results': []}))\n"
    )
    options = ("--search", f"{sys.executable} {program}", "--benchmark", "repoeval", "--system", "mine", "--limit", 2)
    assert command("ingest", "run", *options, "--lake", lake_folder).code == 0
    run_id = str(Lake(lake_folder).read("runs").filter(pl.col("system") == "mine")["run_id"].item())
    said = command("evaluate", "repro", run_id, "--lake", lake_folder)
    assert (
        f"ingest run --benchmark repoeval --system mine --task repoeval/prompt --search '{options[1]}' --limit 2"
        in said.out
    )


def test_an_unknown_run_is_an_error_with_those_that_are_like_it(lake_folder: Path, run_id: str) -> None:
    said = command("evaluate", "repro", run_id[:-1], "--lake", lake_folder)
    assert said.code == 4
    assert run_id in said.err
