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
    said = command("evaluate", "repro", run_id, "--lake", lake_folder).done()
    told = json.loads(command("evaluate", "repro", run_id, "--lake", lake_folder, "--json").out)
    run = Lake(lake_folder).read("runs").row(by_predicate=pl.col("run_id") == run_id, named=True)
    assert told["run"]["fingerprint"] == run["fingerprint"]
    hashes = Lake(lake_folder).scan("scores").filter(pl.col("run_id") == run_id).select("protocol", "protocol_hash")
    assert told["protocols"] == dict(hashes.unique().collect().iter_rows())
    for fact in (run_id, run["system"], run["fingerprint"], run["parameters"], run["versions"], *told["protocols"]):
        assert fact in said.out
    assert "  python -m ingest repoeval --source FOLDER --subsets function-2k --chunkers " in said.out
    assert f"  python -m evaluate --benchmarks repoeval --systems {run['system']}" in said.out


def made_again(lake: Path, run_id: str, folder: Path, **places: Path) -> None:
    """Run the commands that are printed in a lake of their own: it has the run with the same scores."""
    told = json.loads(command("evaluate", "repro", run_id, "--lake", lake, "--json").out)
    for words in told["commands"]:
        said = command(*(places.get(word, word) for word in words), "--lake", folder)
        assert said.code in (0, 5), said.err
    first, again = (Lake(root).scan("scores").filter(run_id=run_id).collect() for root in (lake, folder))
    assert first.height > 0
    assert again.sort(pl.all()).equals(first.sort(pl.all()))


def test_the_commands_of_an_imported_run_make_it_from_its_file(lake_folder: Path, source: Path, tmp_path: Path) -> None:
    items = Lake(lake_folder).scan("items").filter("scorable").select("item_id", "target_path").collect()
    rows = [f"{item_id}\t{path}\t1\t1.0" for item_id, path in items.iter_rows()]
    file = tmp_path / "mine.tsv"
    file.write_text("\n".join(["item_id\tdocument\trank\tscore", *rows]) + "\n")
    options = ("--benchmark", "repoeval", "--system", "mine", "--task", "repoeval/prompt", "--lake", lake_folder)
    command("ingest", "run", file, *options).done()
    assert command("evaluate", "--systems", "mine", "--lake", lake_folder).code == 0
    run_id = str(Lake(lake_folder).read("runs").filter(pl.col("system") == "mine")["run_id"].item())
    made_again(lake_folder, run_id, tmp_path / "again", FOLDER=source, FILE=file)


def test_of_a_program_that_was_asked_the_commands_ask_it_again(lake_folder: Path, tmp_path: Path) -> None:
    program = tmp_path / "mine.py"
    program.write_text(
        "import json, sys\nfor line in sys.stdin: print(json.dumps({'id': json.loads(line)['id'], 'results': []}))\n"
    )
    options = ("--search", f"{sys.executable} {program}", "--benchmark", "repoeval", "--system", "mine", "--limit", 2)
    assert command("ingest", "run", *options, "--lake", lake_folder).code == 0
    run_id = str(Lake(lake_folder).read("runs").filter(pl.col("system") == "mine")["run_id"].item())
    said = command("evaluate", "repro", "mine", "--lake", lake_folder)
    assert said.out == command("evaluate", "repro", run_id, "--lake", lake_folder).out
    assert (
        f"ingest run --benchmark repoeval --system mine --task repoeval/prompt --search '{options[1]}' --limit 2"
        in said.out
    )


def test_an_unknown_run_is_an_error_with_those_that_are_like_it(lake_folder: Path, run_id: str) -> None:
    said = command("evaluate", "repro", run_id[:-1], "--lake", lake_folder)
    assert said.code == 4
    assert run_id in said.err
