"""ContextBench's sample: the same commits everywhere, patches that apply, gold in every form, two agents apart."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from ingest.benchmarks.contextbench.gold import docs_path, gold_of
from ingest.commands.open_source import open_source
from ingest.mining.sample import ContextBenchSample, contextbench_sample
from ingest.runs.calls.parsed import FileSpan
from ingest.runs.formats.contextbench_unified import trajectories as unified_trajectories
from ingest.runs.formats.mini_swe_agent import trajectories as mini_trajectories
from ingest.runs.trajectories.trajectory_file import TrajectoryFile
from ingest.sources.repository import ClonedRepository
from lake.errors import GoldspanError
from lake.rejects import Rejects
from tests.tiny import ROOT, command

METHODICAL, HURRIED = "sample-methodical", "sample-hurried"
ROWS = [
    json.loads(line)
    for line in (ROOT / "ingest/mining/data/contextbench/test.jsonl").read_text(encoding="utf-8").splitlines()
]
IDS = [row["original_inst_id"] for row in ROWS]

Row = dict[str, str]
GoldLines = set[tuple[str, int]]

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


def _lines(spans: Sequence[tuple[str, int, int]]) -> GoldLines:
    return {(path, line) for path, first, last in spans for line in range(first, last + 1)}


def _viewed(views: Sequence[FileSpan]) -> GoldLines:
    return _lines([(view.path, view.start, view.end) for view in views if view.start and view.end])


def _gold(row: Mapping[str, object]) -> list[tuple[str, int, int]]:
    return [(docs_path(span.file), span.line_start, span.line_end) for span in gold_of(row)]


def test_there_are_thirty_instances_in_five_repositories_and_languages() -> None:
    assert len({row["instance_id"] for row in ROWS}) == len(ROWS) == 30
    assert len({row["repo"] for row in ROWS}) == len({row["language"] for row in ROWS}) == 5


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_every_patch_applies_to_its_commit(row: Row, texts: dict[str, dict[str, str]], tmp_path: Path) -> None:
    for path, text in texts[row["original_inst_id"]].items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(text.encode())
    apply = ["git", "apply", "--check", "-"]
    subprocess.run(apply, cwd=tmp_path, input=row["patch"].encode(), check=True)


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_gold_quotes_the_lines_it_names(row: dict[str, object], texts: dict[str, dict[str, str]]) -> None:
    files = texts[str(row["original_inst_id"])]
    forms = ("gold_context", "gold_ctx", "init_ctx", "add_ctx")
    quoted = "".join(text if isinstance(text := row.get(form, ""), str) else json.dumps(text) for form in forms)
    for path, first, last in _gold(row):
        lines = files[path].split("\n")
        assert 1 <= first <= last <= len(lines) - 1
        for number, line in enumerate(lines[first - 1 : last], start=first):
            assert f"{number}\t{line}" in quoted or json.dumps(f"{number}\t{line}")[1:-1] in quoted


def test_every_form_of_gold_and_of_paths_is_there() -> None:
    forms = {(key, type(row[key]).__name__) for row in ROWS for key in row if key.endswith(("_context", "_ctx"))}
    assert forms == {("gold_context", "list"), ("gold_context", "str"), ("gold_ctx", "str"), ("init_ctx", "str"),
                     ("add_ctx", "str")}  # fmt: skip
    texts = [row["gold_context"] for row in ROWS if isinstance(row.get("gold_context"), str)]
    assert {text.startswith("[") for text in texts} == {True, False}
    prefixes = {span.file.split("/")[1] if span.file.startswith("/") else "" for row in ROWS for span in gold_of(row)}
    assert prefixes == {"", "testbed", "workspace"}
    assert any(path.startswith(".") for row in ROWS for path, _, _ in _gold(row))


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


def test_both_agents_are_read_and_one_finds_more_gold_with_less(
    sample: ContextBenchSample, texts: dict[str, dict[str, str]]
) -> None:
    runs = {run.system: run.path for run in sample.recorded()}
    assert sorted(runs) == [HURRIED, METHODICAL]
    methodical = {
        one.item: one for one in unified_trajectories(TrajectoryFile(METHODICAL, lambda: runs[METHODICAL].open("rb")))
    }
    hurried = {
        one.item: one
        for file in sorted(runs[HURRIED].iterdir())
        for one in mini_trajectories(TrajectoryFile(file.name, lambda file=file: file.open("rb")))  # type: ignore[misc]  # bound
    }
    coverage: dict[str, list[float]] = {METHODICAL: [], HURRIED: []}
    for row in ROWS:
        item = row["original_inst_id"]
        gold = _lines(_gold(row))
        there = _lines([(path, 1, text.count("\n")) for path, text in texts[item].items()])
        for name, made in ((METHODICAL, methodical[item]), (HURRIED, hurried[item])):
            found = [_viewed(step) for step in [*made.steps, made.final or ()]]
            assert all(lines & there for lines in found)
            assert name == HURRIED or all(lines <= there for lines in found)
            coverage[name].append(len(gold & found[-1]) / len(gold))
        assert methodical[item].patch == row["patch"]
        assert hurried[item].patch != row["patch"]
    assert len(methodical) == len(hurried) == len(ROWS)
    assert min(coverage[METHODICAL]) > 0.7
    assert sum(coverage[HURRIED]) < 0.5 * sum(coverage[METHODICAL])


def test_what_is_built_is_built_once(tmp_path: Path) -> None:
    def built() -> dict[Path, int]:
        assert contextbench_sample(tmp_path / "a cache").own_repositories.base
        objects = [*(tmp_path / "a cache").rglob("*.pack"), *(tmp_path / "a cache").rglob("objects/??/*")]
        return {path: path.stat().st_mtime_ns for path in objects}

    first = built()
    assert first
    assert built() == first


def test_the_sample_is_ingested_whole(tmp_path: Path) -> None:
    said = command("ingest", "contextbench", "--lake", tmp_path / "lake", "--chunkers", "whole-file")
    assert said.code == 0, said.err
    assert "30 of 30 items ready" in said.err
    assert "labelled sample" in said.err


def test_a_cache_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "cache").write_bytes(b"a file")
    source = open_source("sample", "contextbench", cache=tmp_path / "cache")
    assert isinstance(source, ContextBenchSample)
    with pytest.raises(GoldspanError, match="the cache cannot be used"):
        _ = source.own_repositories
