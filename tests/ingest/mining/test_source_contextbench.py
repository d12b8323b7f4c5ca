"""ContextBench's sample: the same commits everywhere, patches that apply, gold in every form, two agents apart."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ingest.mining.sample import ContextBenchSample, contextbench_sample
from ingest.sources.repository import ClonedRepository
from lake.rejects import Rejects
from tests.tiny import ROOT

ROWS = [
    json.loads(line)
    for line in (ROOT / "ingest/mining/data/contextbench/test.jsonl").read_text(encoding="utf-8").splitlines()
]
IDS = [row["original_inst_id"] for row in ROWS]

Row = dict[str, str]
MADE = """
import sys
from pathlib import Path
from ingest.mining.sample import contextbench_sample
from ingest.sources.git_process import GitFolder
folder = Path(contextbench_sample(Path(sys.argv[1])).own_repositories.base.removeprefix("file://"))
for made in sorted(folder.glob("*/*")):
    print(made.name, GitFolder(made).run("rev-list", "main").split())
"""


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> ContextBenchSample:
    return contextbench_sample(tmp_path_factory.mktemp("sample"))


@pytest.fixture(scope="module")
def texts(sample: ContextBenchSample) -> dict[str, dict[str, str]]:
    """Instance → the files of its repository at its commit."""
    found = {}
    for row in ROWS:
        files = ClonedRepository(sample.own_repositories, row["repo"], row["base_commit"]).files(Rejects())
        found[row["original_inst_id"]] = {file.path: file.data.decode() for file in files}
    return found


def test_there_are_thirty_instances_in_five_repositories_and_languages() -> None:
    assert len({row["instance_id"] for row in ROWS}) == len(ROWS) == 30
    assert len({row["repo"] for row in ROWS}) == len({row["language"] for row in ROWS}) == 5


def test_commits_are_the_same_wherever_they_are_made(tmp_path: Path) -> None:
    elsewhere = {"GIT_AUTHOR_DATE": "@1 +0900", "GIT_COMMITTER_NAME": "Else", "GIT_AUTHOR_EMAIL": "x@y", "HOME": "/no"}
    made = []
    for n, settings in enumerate(
        [
            {"TZ": "Pacific/Auckland", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "1"},
            {"TZ": "America/New_York", "LC_ALL": "C", "LANG": "de_DE", "PYTHONHASHSEED": "2"} | elsewhere,
        ]
    ):
        arguments = [sys.executable, "-c", MADE, str(tmp_path / str(n))]
        environment = {"PATH": os.environ["PATH"], **settings}
        made.append(subprocess.run(arguments, cwd=ROOT, env=environment, capture_output=True, check=True).stdout)
    assert made[0] == made[1]
    assert {row["base_commit"] for row in ROWS} <= set(made[0].decode().replace("'", " ").split())


def test_what_is_built_is_built_once(tmp_path: Path) -> None:
    def built() -> dict[Path, int]:
        assert contextbench_sample(tmp_path / "a cache").own_repositories.base
        objects = [*(tmp_path / "a cache").rglob("*.pack"), *(tmp_path / "a cache").rglob("objects/??/*")]
        return {path: path.stat().st_mtime_ns for path in objects}

    first = built()
    assert first
    assert built() == first


def test_the_sample_is_ingested_whole(sample_contextbench: Path) -> None:
    said = (sample_contextbench / "said").read_text(encoding="utf-8")
    assert "30 of 30 items ready" in said
    assert "labelled sample" in said
