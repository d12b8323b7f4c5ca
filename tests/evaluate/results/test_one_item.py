"""One item and one lake at the command line: question, gold, scores, what was returned; and what comes next."""

from __future__ import annotations

import re
from pathlib import Path

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
    said = _item(lake, item_id)
    assert said.code == 0, said.err
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
    said = _item(lake, item_id, "--systems", system)
    assert said.code == 0, said.err
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
    said = command("evaluate", "status", "--lake", lake)
    assert said.code == 0
    head, row = (line.split("\t") for line in said.out.splitlines()[1:])
    about = dict(zip(head, row, strict=True))
    items = Lake(lake).read("items")
    assert (about["benchmark"], about["scored"]) == ("repoeval", "yes")
    assert about["items"] == f"{items.height:,}"
    assert "make report" in said.err
    said = command("evaluate", "status", "--lake", tmp_path / "none")
    assert said.code == Exit.MISSING
    assert "make ingest" in said.err
