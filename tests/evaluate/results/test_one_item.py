import json
import re
import shutil
import sys
from pathlib import Path

import polars as pl
import pytest

from lake.errors import Exit
from lake.store import Lake
from tests.once import linked
from tests.tiny import Said, command


@pytest.fixture(scope="module")
def lake(_made_once: Path) -> Path:
    return _made_once / "lake"


def _item(lake: Path, *arguments: object) -> Said:
    return command("evaluate", "item", *arguments, "--lake", lake)


def test_an_item_says_what_was_asked_what_is_gold_and_how_every_system_did(lake: Path) -> None:
    store = Lake(lake)
    item_id = store.read("items").filter("scorable")["item_id"].sort()[0]
    run = _item(lake, item_id).done()
    (prompt,) = store.read("queries").filter(item_id=item_id)["text"]
    assert all(line.strip() in run.out for line in prompt.splitlines())
    protocol = re.search(r"gold \((\S+)\)", run.out)
    assert protocol is not None
    scores = store.read("scores", protocol=protocol[1]).filter(item_id=item_id, metric="line_f1", k=8000)
    runs = store.read("runs").select("run_id", "system")
    for system, value in scores.join(runs, on="run_id").select("system", "value").iter_rows():
        assert f"  {value:.3f}  {system}" in run.out


def test_a_systems_results_have_a_mark_and_the_arithmetic(lake: Path) -> None:
    store, system = Lake(lake), "window-4-2+bm25-okapi"
    item_id = store.read("items").filter("scorable")["item_id"].sort()[0]
    run = _item(lake, item_id, "--systems", system).done()
    value, numerator, denominator = re.search(  # type: ignore[union-attr]  # it is there, or the test fails
        rf"{re.escape(system)}: line_f1@8000 (\S+) = (\S+) / (\S+)", run.out
    ).groups()
    assert float(value) == pytest.approx(float(numerator) / float(denominator), abs=5e-4)
    results = re.findall(r"^  ([✓✗]) +(\d+)  (\S+) (\d+)-(\d+)(?:  (\d+) gold lines?)?$", run.out, re.MULTILINE)
    run_id = store.read("runs").filter(system=system)["run_id"][0]
    hits = store.read("hits", run_id=run_id).filter(item_id=item_id, part="ranking").sort("rank").head(20)
    assert [(path, int(start) - 1, int(end)) for _, _, path, start, end, _ in results] == hits.select(
        "path", "line_start", "line_end"
    ).rows()
    assert {mark for mark, *_, n_gold in results if n_gold} <= {"✓"}
    assert {mark for mark, *_, n_gold in results if not n_gold} <= {"✗"}


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["function-2k/zoo_animals/00"], Exit.USAGE, "Did you mean"),
        (["function-2k/zoo_animals/0", "--systems", "window-4-2+bm26-okapi"], Exit.USAGE, "Did you mean"),
        (["function-2k/zoo_animals/0", "--protocol", "chunking"], Exit.USAGE, "chunking-v1"),
    ],
)
def test_an_unknown_name_is_said(lake: Path, arguments: list[str], code: Exit, words: str) -> None:
    _item(lake, *arguments).ended(code, words)


def test_the_status_of_a_lake(lake: Path, tmp_path: Path) -> None:
    run = command("evaluate", "status", "--lake", lake).done()
    head, row = (line.split("\t") for line in run.out.splitlines()[1:])
    about = dict(zip(head, row, strict=True))
    items = Lake(lake).read("items")
    assert (about["benchmark"], about["scored"]) == ("repoeval", "yes")
    assert about["items"] == f"{items.height:,}"
    assert "make report" in run.err
    path = Lake(lake).read("files")["path"][0]
    (tmp_path / "my.tsv").write_text(f"item_id\tdocument\tscore\nfunction-2k/zoo_animals/0\t{path}\t1\n")
    more = linked(lake, tmp_path / "more")
    given = (tmp_path / "my.tsv", "--benchmark", "repoeval", "--system", "theirs", "--lake", more)
    command("ingest", "run", *given).done()
    run = command("evaluate", "status", "--lake", more).done()
    assert run.out.rstrip().endswith("in part")
    assert "BENCHMARKS=repoeval" in run.err
    shutil.rmtree(more / "aggregates")
    assert "next: make evaluate" in command("evaluate", "status", "--lake", more).done().err
    command("evaluate", "status", "--lake", tmp_path / "none").refused(Exit.MISSING, "make ingest")


def test_what_cannot_be_scored_is_not_evaluated_next(tmp_path: Path) -> None:
    (tmp_path / "zoo").mkdir()
    (tmp_path / "zoo" / "a.py").write_text("a = 1\nb = 2\n")
    backwards = {"question": "Where is a?", "repo": "zoo", "gold": [{"path": "a.py", "start": 2, "end": 1}]}
    (tmp_path / "my.jsonl").write_text(json.dumps(backwards))
    own = ("--items", tmp_path / "my.jsonl", "--repositories", tmp_path, "--lake", tmp_path / "lake")
    command("ingest", "own", *own).ended(Exit.INCOMPLETE)
    run = command("evaluate", "status", "--lake", tmp_path / "lake").done()
    assert run.out.splitlines()[2].split("\t")[:4] == ["my", "own", "1", "1"]
    assert "make evaluate" not in run.err


SYSTEM = "window-4-2+own-file"


def listed(lake: Path, *arguments: object) -> Said:
    return command("evaluate", "items", "repoeval", *arguments, "--lake", lake)


def rows_of(run: Said) -> list[list[str]]:
    return [line.split("\t") for line in run.out.splitlines() if not line.startswith("# ")][1:]


def test_items_have_their_best_score_and_the_line_before_the_hole(lake_folder: Path) -> None:
    lake, run = Lake(lake_folder), listed(lake_folder)
    assert run.code == 0, run.err
    scores = lake.read("scores", protocol="repoeval@chunking-v1").filter(metric="line_f1", k=8000)
    runs = lake.read("runs").filter(~pl.col("retriever").is_in(["oracle", "random"]))
    best = scores.join(runs, on="run_id").group_by("item_id").agg(pl.col("value").max())
    queries = dict(lake.read("queries", query="prompt").select("item_id", "text").iter_rows())
    rows = rows_of(run)
    assert {row[0]: row[2] for row in rows} == {item_id: f"{value:.3f}" for item_id, value in best.iter_rows()}
    for item_id, _, _, _, line in rows:
        assert line in queries[item_id].splitlines()[-1]


def test_what_a_system_failed_is_what_it_scores_0(lake_folder: Path) -> None:
    lake = Lake(lake_folder)
    (run_id,) = lake.read("runs").filter(system=SYSTEM)["run_id"]
    scores = lake.read("scores", run_id=run_id, protocol="repoeval@chunking-v1").filter(metric="line_f1", k=8000)
    failed = sorted(scores.filter(pl.col("value") == 0)["item_id"])
    assert sorted(row[0] for row in rows_of(listed(lake_folder, "--failed-by", SYSTEM))) == failed
    chosen = listed(lake_folder, "--where", "repo=zoo_animals")
    assert {row[1] for row in rows_of(chosen)} == {"zoo_animals"}
    assert "2 items" in chosen.out.splitlines()[0]


def test_what_is_not_there_is_said(lake_folder: Path) -> None:
    assert "Did you mean 'window-4-2+own-file'" in listed(lake_folder, "--failed-by", "window-4-2+own-fil").err
    command("evaluate", "items", "repoval", "--lake", lake_folder).ended(2)
    assert "no item of repoeval has repo=zoo" in listed(lake_folder, "--where", "repo=zoo").err
    assert "--where 'nothing=1': items are selected by column=value" in listed(lake_folder, "--where", "nothing=1").err


@pytest.fixture
def run_id(lake_folder: Path) -> str:
    runs = Lake(lake_folder).read("runs").filter(pl.col("system").str.ends_with("+bm25-okapi")).sort("run_id")
    return str(runs["run_id"][0])


def test_a_runs_data_rules_versions_and_commands_are_printed(lake_folder: Path, run_id: str) -> None:
    result = command("evaluate", "repro", run_id, "--lake", lake_folder).done()
    told = json.loads(command("evaluate", "repro", run_id, "--lake", lake_folder, "--json").out)
    run = Lake(lake_folder).read("runs").row(by_predicate=pl.col("run_id") == run_id, named=True)
    assert told["run"]["fingerprint"] == run["fingerprint"]
    hashes = Lake(lake_folder).scan("scores").filter(pl.col("run_id") == run_id).select("protocol", "protocol_hash")
    assert told["protocols"] == dict(hashes.unique().collect().iter_rows())
    for fact in (run_id, run["system"], run["fingerprint"], run["parameters"], run["versions"], *told["protocols"]):
        assert fact in result.out
    assert "  python -m ingest repoeval --source FOLDER --subsets function-2k --chunkers " in result.out
    assert f"  python -m evaluate --benchmarks repoeval --systems {run['system']}" in result.out


def made_again(lake: Path, run_id: str, folder: Path, **places: Path) -> None:
    """Run the commands that are printed in a lake of their own: it has the run with the same scores."""
    told = json.loads(command("evaluate", "repro", run_id, "--lake", lake, "--json").out)
    for words in told["commands"]:
        run = command(*(places.get(word, word) for word in words), "--lake", folder)
        assert run.code in (0, 5), run.err
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
    command("evaluate", "--systems", "mine", "--lake", lake_folder).done()
    run_id = str(Lake(lake_folder).read("runs").filter(pl.col("system") == "mine")["run_id"].item())
    made_again(lake_folder, run_id, tmp_path / "again", FOLDER=source, FILE=file)


def test_of_a_program_that_was_asked_the_commands_ask_it_again(lake_folder: Path, tmp_path: Path) -> None:
    program = tmp_path / "mine.py"
    program.write_text(
        "import json, sys\nfor line in sys.stdin: print(json.dumps({'id': json.loads(line)['id'], 'results': []}))\n"
    )
    options = ("--search", f"{sys.executable} {program}", "--benchmark", "repoeval", "--system", "mine", "--limit", 2)
    command("ingest", "run", *options, "--lake", lake_folder).done()
    run_id = str(Lake(lake_folder).read("runs").filter(pl.col("system") == "mine")["run_id"].item())
    run = command("evaluate", "repro", "mine", "--lake", lake_folder)
    assert run.out == command("evaluate", "repro", run_id, "--lake", lake_folder).out
    ingest = f"ingest run --benchmark repoeval --system mine --task repoeval/prompt --search '{options[1]}' --limit 2"
    assert ingest in run.out


def test_an_unknown_run_is_an_error_with_those_that_are_like_it(lake_folder: Path, run_id: str) -> None:
    command("evaluate", "repro", run_id[:-1], "--lake", lake_folder).ended(4, run_id)
