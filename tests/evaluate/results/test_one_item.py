import re
import shutil
from pathlib import Path

import polars as pl
import pytest

from lake.errors import Exit
from lake.store import Lake
from tests.tiny import Said, build, command


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("item")
    given = ("repoeval", "--source", build(home / "source"), "--chunkers", "window-4-2", "--lake", home / "lake")
    assert command("ingest", *given).code == 0
    said = command("evaluate", "status", "--lake", home / "lake")
    assert "next: " in said.err
    assert "BENCHMARKS=repoeval" in said.err
    assert command("evaluate", "--lake", home / "lake").code == 0
    return home / "lake"


def _item(lake: Path, *arguments: object) -> Said:
    return command("evaluate", "item", *arguments, "--lake", lake)


def test_an_item_says_what_was_asked_what_is_gold_and_how_every_system_did(lake: Path) -> None:
    store = Lake(lake)
    item_id = store.read("items").filter("scorable")["item_id"].sort()[0]
    said = _item(lake, item_id).done()
    (prompt,) = store.read("queries").filter(item_id=item_id)["text"]
    assert all(line.strip() in said.out for line in prompt.splitlines())
    protocol = re.search(r"gold \((\S+)\)", said.out)
    assert protocol is not None
    scores = store.read("scores", protocol=protocol[1]).filter(item_id=item_id, metric="line_f1", k=8000)
    runs = store.read("runs").select("run_id", "system")
    for system, value in scores.join(runs, on="run_id").select("system", "value").iter_rows():
        assert f"  {value:.3f}  {system}" in said.out


def test_a_systems_results_have_a_mark_and_the_arithmetic(lake: Path) -> None:
    store, system = Lake(lake), "window-4-2+bm25-okapi"
    item_id = store.read("items").filter("scorable")["item_id"].sort()[0]
    said = _item(lake, item_id, "--systems", system).done()
    value, numerator, denominator = re.search(  # type: ignore[union-attr]  # it is there, or the test fails
        rf"{re.escape(system)}: line_f1@8000 (\S+) = (\S+) / (\S+)", said.out
    ).groups()
    assert float(value) == pytest.approx(float(numerator) / float(denominator), abs=5e-4)
    results = re.findall(r"^  ([✓✗]) +(\d+)  (\S+) (\d+)-(\d+)(?:  (\d+) gold lines?)?$", said.out, re.MULTILINE)
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
    said = _item(lake, *arguments)
    assert said.code == code
    assert words in said.err


def test_the_status_of_a_lake(lake: Path, tmp_path: Path) -> None:
    said = command("evaluate", "status", "--lake", lake).done()
    head, row = (line.split("\t") for line in said.out.splitlines()[1:])
    about = dict(zip(head, row, strict=True))
    items = Lake(lake).read("items")
    assert (about["benchmark"], about["scored"]) == ("repoeval", "yes")
    assert about["items"] == f"{items.height:,}"
    assert "make report" in said.err
    path = Lake(lake).read("files")["path"][0]
    (tmp_path / "my.tsv").write_text(f"item_id\tdocument\tscore\nfunction-2k/zoo_animals/0\t{path}\t1\n")
    more = shutil.copytree(lake, tmp_path / "more")
    given = (tmp_path / "my.tsv", "--benchmark", "repoeval", "--system", "theirs", "--lake", more)
    command("ingest", "run", *given).done()
    said = command("evaluate", "status", "--lake", more).done()
    assert said.out.rstrip().endswith("in part")
    assert "BENCHMARKS=repoeval" in said.err
    said = command("evaluate", "status", "--lake", tmp_path / "none")
    assert said.code == Exit.MISSING
    assert "make ingest" in said.err


SYSTEM = "window-4-2+own-file"


def listed(lake: Path, *arguments: object) -> Said:
    return command("evaluate", "items", "repoeval", *arguments, "--lake", lake)


def rows_of(said: Said) -> list[list[str]]:
    return [line.split("\t") for line in said.out.splitlines() if not line.startswith("# ")][1:]


def test_items_have_their_best_score_and_the_line_before_the_hole(lake_folder: Path) -> None:
    lake, said = Lake(lake_folder), listed(lake_folder)
    assert said.code == 0, said.err
    scores = lake.read("scores", protocol="repoeval@chunking-v1").filter(metric="line_f1", k=8000)
    runs = lake.read("runs").filter(~pl.col("retriever").is_in(["oracle", "random"]))
    best = scores.join(runs, on="run_id").group_by("item_id").agg(pl.col("value").max())
    queries = dict(lake.read("queries", query="prompt").select("item_id", "text").iter_rows())
    rows = rows_of(said)
    assert {item_id: score for item_id, _, score, _, _ in rows} == {
        item_id: f"{value:.3f}" for item_id, value in best.iter_rows()
    }
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
    assert command("evaluate", "items", "repoval", "--lake", lake_folder).code == 2
    assert "no item of repoeval has repo=zoo" in listed(lake_folder, "--where", "repo=zoo").err
    assert "--where 'nothing=1': items are selected by column=value" in listed(lake_folder, "--where", "nothing=1").err
