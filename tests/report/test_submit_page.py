import os
import shlex
from pathlib import Path

import polars as pl
import pytest
import yaml

from lake.errors import Exit
from lake.store import Lake
from report.build import build
from report.tables_read import TablesRead
from tests.frames import change, write
from tests.report.html import Element, parse, table
from tests.report.small_lake import run_id, write_run
from tests.tiny import ROOT, command, put, submitter

SUBMISSION = {
    "date": "2026-01-31", "benchmark": "repoeval", "task": "repoeval/prompt", "label": "sample", "kind": "agent",
    "authors": ["A. <b>Author</b>"], "contact": "", "url": "", "licence": "MIT", "description": "Made up.",
    "revision": "", "cost": "", "status": "reported", "why": "", "file": "run.trec", "reported": [],
}  # fmt: skip
REPORTED = [{"metric": "ndcg@10", "value": 0.98765}]


@pytest.fixture
def submitted(small: Lake) -> Lake:
    """The small lake with a submission that was scored, a newer claim and one that waits."""
    name = run_id("handed-in")
    write_run(small, "handed-in")
    row = small.read("runs", run_id=name).to_dicts()[0]
    row |= {"origin": "imported", "format": "trec", "file": "run.trec", "retriever": None}
    write(small, "runs", [row], benchmark="repoeval", run_id=name)
    of_run = {"system": "handed-in", "status": "scored", "run_id": name, "reported": REPORTED}
    waiting = {"system": "other", "status": "waiting", "why": "the lake does not hold it"}
    write(small, "submissions", [
        {**SUBMISSION, "submission": "handed-in/2026-01-31", **of_run},
        {**SUBMISSION, "submission": "claim/2026-01-31", "system": "claim", "file": None, "reported": REPORTED},
        {**SUBMISSION, "submission": "other/2026-01-31", **waiting},
    ])  # fmt: skip
    return small


def test_a_run_says_where_its_numbers_come_from(submitted: Lake) -> None:
    runs = {run.system: run for run in TablesRead(submitted).runs}
    assert runs["fixed-nws-1500+bm25-okapi"].provenance == "run here"
    assert runs["handed-in"].provenance == "scored here from the submitted ranking"
    assert runs["handed-in"].kind == "agent"
    assert "claim" not in runs


def blocks(page: Element) -> tuple[dict[str, str], list[str]]:
    codes = page.all("code")
    files = {str(code.attributes["data-recipe"]): code.text_raw for code in codes if "data-recipe" in code.attributes}
    return files, [code.text_raw for code in codes if "data-command" in code.attributes]


def test_numbers_alone_are_on_no_leaderboard(submitted: Lake, tmp_path: Path) -> None:
    site = tmp_path / "site"
    build(submitted, site)
    page = parse((site / "submit.html").read_text())
    rows = {row[0]: row[1:] for row in table(page, "3 submissions")[1:]}
    assert rows["claim"][2:4] == ["reported only, not ranked", "ndcg@10 0.988"]
    assert rows["handed-in"][2] == "scored here"
    assert rows["other"][2] == "waiting: the lake does not hold it"
    assert rows["claim"][4] == "Made up. A. <b>Author</b> · MIT"
    shown = [path.name for path in site.rglob("*.html") if "claim" in path.read_text() or "0.988" in path.read_text()]
    assert sorted(shown) == ["data.html", "handed-in.html", "submit.html"]
    system = parse((site / "systems/handed-in.html").read_text()).text
    assert "scored here from the submitted ranking" in system
    assert "Its authors report ndcg@10 0.988 (repoeval/prompt): not ranked." in system


def test_recipes_are_shown_as_the_files_have_them(pages: dict[str, Element]) -> None:
    files, _ = blocks(pages["submit.html"])
    for name in (".github/workflows/publish.yml", "site/recipes/gate.yml"):
        assert files[name] == (ROOT / name).read_text()
        assert yaml.safe_load(files[name])["jobs"]


def test_the_three_commands_of_the_page_make_check_and_hand_in_a_ranking(lake_folder: Path, tmp_path: Path) -> None:
    command("report", "--lake", lake_folder, "--site", tmp_path / "site").done()
    files, commands = blocks(parse((tmp_path / "site/submit.html").read_text()))
    checkout = tmp_path / "checkout"
    for name, text in files.items():
        put(checkout / name, text.encode())
    (checkout / "lake/data").symlink_to(lake_folder)
    run = submitter(checkout)
    make, check, hand_in = commands
    run(make)
    assert "5 of 5 items" in run(check)
    run(hand_in)
    folder = shlex.split(check)[-1]
    run("git -C ../origin ls-tree -r --name-only my-retriever > listed")
    assert (checkout / "listed").read_text().split() == [f"{folder}/run.tsv", f"{folder}/system.yaml"]
    command("ingest", "submissions", checkout / "lake/submissions", "--lake", lake_folder).done()
    assert "my-retriever" in Lake(lake_folder).read("runs")["system"]


def test_the_recipes_gate_fails_on_a_drop(lake_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    step = yaml.safe_load((ROOT / "site/recipes/gate.yml").read_text())["jobs"]["gate"]["steps"][-1]
    for name, value in {**step["env"], "SYSTEM": "whole-file+bm25-okapi"}.items():
        monkeypatch.setenv(name, value)
    words = [os.path.expandvars(word) for word in shlex.split(step["run"])]
    assert words[:4] == [".venv/bin/python", "-m", "evaluate", "compare"]
    monkeypatch.chdir(tmp_path)
    command("report", "--lake", lake_folder, "--site", "before").done()
    command("evaluate", *words[3:], "--lake", lake_folder).done()
    now = Lake(lake_folder)
    change(now, "scores", *now.parts("scores", protocol=step["env"]["PROTOCOL"]), value=pl.col("value") * 0.5)
    ended = command("evaluate", *words[3:], "--lake", lake_folder)
    assert ended.code == Exit.GATE, ended.out + ended.err
