"""Where nothing has changed a stage says so from its stamp alone; whatever changes makes it look again."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lake.store import Lake
from report.folder import SiteFolder
from tests.tiny import ROOT, build, stored

CHUNKER = "window-4-2"

# What a stage opens and imports, said after all that it says itself.
WATCHED = """
import atexit, json, runpy, sys
opened = []
sys.addaudithook(lambda event, given: opened.append(str(given[0])) if event == "open" else None)
stage, *sys.argv[1:] = sys.argv[1:]
heavy = ("polars", "numpy", "pyarrow", "typer", "rich", "pydantic", "dataframely")
atexit.register(lambda: print(json.dumps({
    "parts": sorted({path for path in opened if path.endswith(".parquet")}),
    "imported": [name for name in heavy if name in sys.modules],
})))
runpy.run_module(stage, run_name="__main__", alter_sys=True)
"""


class Stages:
    """A source, a lake and a site, over which the three stages run as commands."""

    def __init__(self, home: Path) -> None:
        self.home, self.lake = home, home / "lake"
        self.printed: list[str] = []

    def run(self, stage: str, *more: str, code: str = WATCHED) -> tuple[dict[str, list[str]], str]:
        """What a stage opened and imported, and its last block."""
        given = {
            "ingest": ["repoeval", "--source", str(self.home / "source"), "--chunkers", CHUNKER],
            "evaluate": ["--systems", "*+jaccard-regex"],
            "report": ["--site", str(self.home / "site")],
        }
        words = [sys.executable, "-c", code, stage, *given[stage], "--lake", str(self.lake), *more]
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        done = subprocess.run(words, cwd=ROOT, env=kept, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        self.printed = done.stdout.splitlines()[:-1]
        return json.loads(done.stdout.splitlines()[-1]), done.stderr

    def looks(self, stage: str, *more: str) -> bool:
        """Whether a stage looks at what there is."""
        return bool(self.run(stage, *more)[0]["imported"])


@pytest.fixture(scope="module")
def _done(tmp_path_factory: pytest.TempPathFactory) -> Stages:
    stages = Stages(tmp_path_factory.mktemp("unchanged") / "home")
    build(stages.home / "source")
    for stage in ("ingest", "evaluate", "report"):
        stages.run(stage)
    return stages


@pytest.fixture
def stages(_done: Stages) -> Stages:
    """All three stages were run once, and are all current."""
    for stage in ("ingest", "evaluate", "report"):
        _done.run(stage)
    return _done


def test_where_nothing_changed_no_part_is_opened_and_nothing_large_imported(stages: Stages) -> None:
    before = stored(stages.lake)
    for stage in ("ingest", "evaluate", "report"):
        watched, said = stages.run(stage)
        assert watched == {"parts": [], "imported": []}
        assert " made" not in said
        assert re.search(r" current in \d+\.\d s → ", said)
    assert stored(stages.lake) == before


def test_what_was_said_is_said_again(stages: Stages) -> None:
    stages.run("evaluate", "--json")
    watched, said = stages.run("evaluate", "--json")
    assert (watched["imported"], said) == ([], "")


def test_what_was_asked_for_is_printed_again_without_a_look(stages: Stages) -> None:
    stages.run("evaluate")
    assert any(f"{CHUNKER}+jaccard-regex" in line for line in stages.printed)
    before = stages.printed
    assert not stages.looks("evaluate")
    assert stages.printed == before


def test_a_part_that_is_damaged_removed_or_foreign_is_noticed(stages: Stages) -> None:
    part = Lake(stages.lake).parts("scores")[0].path
    whole = part.read_bytes()
    part.write_bytes(whole[:100] + bytes([whole[100] ^ 1]) + whole[101:])
    assert "its bytes are not those that were written" in stages.run("evaluate")[1]
    assert part.read_bytes() == whole
    part.unlink()
    assert "1 made" in stages.run("evaluate")[1]
    shutil.copy(part, part.with_name("part-foreign.parquet"))
    assert "it is a copy of" in stages.run("evaluate")[1]
    assert not stages.looks("evaluate")


def test_what_evaluate_makes_does_not_keep_ingest_busy_and_what_it_damages_does(stages: Stages) -> None:
    assert not stages.looks("ingest")
    part = Lake(stages.lake).parts("hits")[0].path
    whole = part.read_bytes()
    part.write_bytes(whole[:-1])
    assert stages.looks("ingest")
    stages.run("evaluate")
    assert part.read_bytes() == whole


def test_another_byte_in_the_source_is_noticed(stages: Stages) -> None:
    file = next(path for path in sorted((stages.home / "source").rglob("*.py")))
    text = file.read_bytes()
    file.write_bytes(text.replace(b"a", b"b", 1))
    assert stages.looks("ingest")
    assert not stages.looks("ingest")
    file.write_bytes(text)
    assert stages.looks("ingest")


def test_a_stamp_that_is_older_than_a_part_does_not_keep_ingest_busy(stages: Stages) -> None:
    stages.run("evaluate", "--json")
    older = {*(stages.lake / ".current").glob("evaluate-*")}
    Lake(stages.lake).parts("hits")[0].path.unlink()
    stages.run("evaluate", "--debug")
    for newer in {*(stages.lake / ".current").glob("evaluate-*")} - older:
        newer.unlink()
    stages.run("ingest")
    assert not stages.looks("ingest")


def test_another_question_or_setting_is_looked_at_and_kept_beside(stages: Stages) -> None:
    assert stages.looks("evaluate", "--limit", "2")
    stages.run("evaluate")
    stages.run("report")
    assert not stages.looks("evaluate")


def test_without_stamps_all_is_looked_at_and_nothing_made(stages: Stages) -> None:
    shutil.rmtree(stages.lake / ".current")
    watched, said = stages.run("evaluate")
    assert "polars" in watched["imported"]
    assert " made" not in said
    assert not stages.looks("evaluate")


def test_a_changed_page_of_the_site_is_noticed(stages: Stages) -> None:
    page = stages.home / "site" / "index.html"
    whole = page.read_bytes()
    page.write_bytes(whole + b" ")
    assert stages.looks("report")
    assert page.read_bytes() == whole


def test_a_damaged_stamp_or_manifest_is_none(stages: Stages) -> None:
    deep = "[" * 100_000
    for stamp in (stages.lake / ".current").iterdir():
        stamp.write_text(deep)
    assert stages.looks("evaluate")
    (stages.home / "site/manifest.json").write_text(deep)
    assert SiteFolder(stages.home / "site").manifest() is None
