"""ContextBench's sample: the same commits everywhere, patches that apply, gold in every form, two agents apart."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from git import Actor, Repo
from tree_sitter import Parser
from tree_sitter_language_pack import get_parser

from ingest.benchmarks.contextbench.gold_contexts import docs_path, gold_of
from ingest.mining.contextbench_sample import HURRIED, METHODICAL, ContextBenchSample
from ingest.mining.contextbench_sample_texts import (
    Edit,
    SampleRepository,
    edited,
    gold_lines,
    patch_of,
    sample_repositories,
    viewed,
)
from ingest.open_source import open_source
from ingest.runs.formats.contextbench_unified import trajectories as unified_trajectories
from ingest.runs.formats.mini_swe_agent import trajectories as mini_trajectories
from ingest.runs.trajectories.trajectory import View
from ingest.runs.trajectories.trajectory_file import TrajectoryFile
from ingest.sources.clones import ClonedRepository
from ingest.sources.git_making import AUTHOR, FIRST_SECOND
from lake.errors import GoldspanError
from lake.rejects import Rejects
from lake.text import language_of
from tests.tiny import ROOT, command

REPOSITORIES = sample_repositories()
CASES = [(repository, instance) for repository in REPOSITORIES for instance in repository.instances]
IDS = [f"{repository.name}-{instance.number}" for repository, instance in CASES]

COMMITS = """
import sys
from pathlib import Path
from ingest.mining.contextbench_sample import ContextBenchSample
sys.stdout.buffer.write(ContextBenchSample(Path(sys.argv[1])).tree(".").entries[0].read())
"""

GoldLines = set[tuple[str, int]]


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> ContextBenchSample:
    return ContextBenchSample(tmp_path_factory.mktemp("sample with a space"))


@pytest.fixture(scope="module")
def rows(sample: ContextBenchSample) -> dict[str, dict[str, object]]:
    tree = sample.tree(".")
    assert tree is not None
    assert [entry.path for entry in tree.entries] == ["test.jsonl"]
    found = [json.loads(line) for line in tree.entries[0].read().splitlines()]
    return {row["original_inst_id"]: row for row in found}


def _lines(spans: Sequence[tuple[str, int, int]]) -> GoldLines:
    return {(path, line) for path, first, last in spans for line in range(first, last + 1)}


def _viewed(views: Sequence[View]) -> GoldLines:
    return _lines([(view.path, view.start, view.end) for view in views if view.start and view.end])


def test_there_are_ten_instances_and_more_in_four_languages(rows: dict[str, dict[str, object]]) -> None:
    assert len(rows) >= 10
    assert {row["language"] for row in rows.values()} >= {"python", "go", "typescript", "rust"}
    assert all(str(row["problem_statement"]).count("\n") >= 3 for row in rows.values())
    assert len({row["instance_id"] for row in rows.values()}) == len(rows)


@pytest.mark.parametrize("repository", REPOSITORIES, ids=lambda one: one.name)
def test_a_repository_has_folders_a_dotfile_a_readme_and_sound_code(repository: SampleRepository) -> None:
    for after in repository.states:
        texts = repository.texts(after)
        assert 8 <= len(texts) <= 24
        assert any(path.count("/") >= 2 for path in texts)
        assert any(path.startswith(".") for path in texts)
        assert "README.md" in texts
        for path, text in texts.items():
            assert text.endswith("\n") or not text
            if language := language_of(path):
                parser: Parser = get_parser(language)  # type: ignore[arg-type]  # a literal of 173 names
                assert not parser.parse(text.encode()).root_node.has_error, path


@pytest.mark.parametrize(("repository", "instance"), CASES, ids=IDS)
def test_every_patch_applies_to_its_commit(repository: SampleRepository, instance: object, tmp_path: Path) -> None:
    (one,) = [known for known in repository.instances if known is instance]
    texts = repository.texts(one.after)
    for edits in [one.edits, *(made.patch for made in (one.methodical, one.hurried) if isinstance(made.patch, list))]:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        repo = Repo.init(folder, mkdir=True)
        for path, text in texts.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(text.encode())
        (tmp_path / "a.patch").write_bytes(patch_of(texts, edits).encode())
        repo.git.apply("--whitespace=nowarn", str(tmp_path / "a.patch"))
        after = edited(texts, edits)
        found = [file for file in folder.rglob("*") if file.is_file() and ".git" not in file.relative_to(folder).parts]
        assert {file.relative_to(folder).as_posix(): file.read_bytes().decode() for file in found} == after
        (tmp_path / "a.patch").unlink()


@pytest.mark.parametrize(("repository", "instance"), CASES, ids=IDS)
def test_gold_is_read_as_it_was_declared_whatever_its_form(
    repository: SampleRepository, instance: object, rows: dict[str, dict[str, object]]
) -> None:
    (one,) = [known for known in repository.instances if known is instance]
    row = rows[f"{repository.repo.replace('/', '__')}-{one.number}"]
    texts = repository.texts(one.after)
    spans = [(docs_path(span.file), span.line_start, span.line_end) for span in gold_of(row)]
    assert spans == gold_lines(texts, one.gold)
    assert all(1 <= first <= last <= texts[path].count("\n") for path, first, last in spans)
    assert row["patch"] == patch_of(texts, one.edits)


def test_every_form_of_gold_and_of_paths_is_there() -> None:
    assert {one.encoding for _, one in CASES} == {"json", "native", "blocks", "init-add", "gold-ctx"}
    assert {one.prefix.split("/")[1] if "/" in one.prefix else "" for _, one in CASES} == {"", "testbed", "workspace"}
    assert any(path.startswith(".") for _, one in CASES for path, _, _ in one.gold)


def test_commits_are_the_same_wherever_they_are_made(tmp_path: Path) -> None:
    made = []
    for n, settings in enumerate(
        [
            {"TZ": "Pacific/Auckland", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "1"},
            {"TZ": "America/New_York", "LC_ALL": "C", "LANG": "de_DE", "PYTHONHASHSEED": "2"}
            | {
                "GIT_AUTHOR_DATE": "@1 +0900",
                "GIT_COMMITTER_NAME": "Else",
                "GIT_AUTHOR_EMAIL": "x@y",
                "HOME": "/nowhere",
            },
        ]
    ):
        arguments = [sys.executable, "-c", COMMITS, str(tmp_path / str(n))]
        environment = {"PATH": os.environ["PATH"], **settings}
        made.append(subprocess.run(arguments, cwd=ROOT, env=environment, capture_output=True, check=True).stdout)
    assert made[0] == made[1]
    assert len({json.loads(line)["base_commit"] for line in made[0].splitlines()}) == 8


def test_git_itself_gives_the_same_commits(sample: ContextBenchSample, tmp_path: Path) -> None:
    repository = next(one for one in REPOSITORIES if one.name == "tides")
    repo = Repo.init(tmp_path / "made", mkdir=True)
    name, _, email = AUTHOR.removesuffix(">").partition(" <")
    messages = ["Begin", "Fix #3", "Fix #3, #7"]
    commits = []
    for n, (after, message) in enumerate(zip(repository.states, messages, strict=True)):
        for path, text in repository.texts(after).items():
            (tmp_path / "made" / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "made" / path).write_text(text, encoding="utf-8")
        repo.git.add("--all")
        date = f"{FIRST_SECOND + n * 86_400} +0000"
        who = Actor(name, email)
        commits.append(repo.index.commit(f"{message}", author=who, committer=who, author_date=date, commit_date=date))
    assert [commit.hexsha for commit in commits] == list(sample.commits(repository).values())


def test_its_repositories_are_fetched_from_git(sample: ContextBenchSample, rows: dict[str, dict[str, object]]) -> None:
    for repository, instance in CASES:
        row = rows[f"{repository.repo.replace('/', '__')}-{instance.number}"]
        files = ClonedRepository(sample.own_repositories, repository.repo, str(row["base_commit"])).files(Rejects())
        assert {file.path: file.data.decode() for file in files} == repository.texts(instance.after)


def test_both_agents_are_read_and_one_finds_more_gold_with_less(sample: ContextBenchSample) -> None:
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
    for repository, instance in CASES:
        item = f"{repository.repo.replace('/', '__')}-{instance.number}"
        gold = _lines(gold_lines(repository.texts(instance.after), instance.gold))
        texts = repository.texts(instance.after)
        there = _lines([(path, 1, text.count("\n")) for path, text in texts.items()])
        for name, made, declared in (
            (METHODICAL, methodical[item], instance.methodical),
            (HURRIED, hurried[item], instance.hurried),
        ):
            named = [_lines(viewed(step)) for step in [*declared.steps, declared.final]]
            found = [_viewed(step) for step in [*made.steps, made.final or ()]]
            assert found == ([lines & there for lines in named] if name == METHODICAL else named)
            assert all(lines & there for lines in found)
            assert {path for lines in found for path, _ in lines} <= set(texts)
            coverage[name].append(len(gold & found[-1]) / len(gold))
        assert methodical[item].patch == patch_of(repository.texts(instance.after), instance.edits)
        assert (hurried[item].patch == "") == (instance.hurried.patch == "none")
    assert len(methodical) == len(hurried) == len(CASES)
    assert min(coverage[METHODICAL]) > 0.7
    assert sum(coverage[HURRIED]) < 0.5 * sum(coverage[METHODICAL])


def test_what_is_built_is_built_once(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    first = {one.name: ContextBenchSample(cache).commits(one) for one in REPOSITORIES}
    built = {path: path.stat().st_mtime_ns for path in cache.rglob("*.pack")} | {
        path: path.stat().st_mtime_ns for path in cache.rglob("objects/??/*")
    }
    assert built
    assert first == {one.name: ContextBenchSample(cache).commits(one) for one in REPOSITORIES}
    assert built == {path: path.stat().st_mtime_ns for path in built}


def test_an_edit_that_does_not_fit_is_told() -> None:
    for edit, said in [
        (Edit(path="a", old="x", new="y"), "'x' does not stand there once"),
        (Edit(path="a", old="b", new="y"), "'b' does not stand there once"),
        (Edit(path="a", old="", new="y"), "'' does not stand there once"),
    ]:
        with pytest.raises(ValueError, match=said):
            edited({"a": "b b"}, [edit])


def test_the_sample_is_ingested_whole(tmp_path: Path) -> None:
    said = command("ingest", "contextbench", "--lake", tmp_path / "lake", "--chunkers", "whole-file")
    assert said.code == 0, said.err
    assert "12 of 12 items ready" in said.err
    assert "labelled sample" in said.err


def test_a_cache_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "cache").write_bytes(b"a file")
    with pytest.raises(GoldspanError, match="the cache cannot be used"):
        open_source("sample", "contextbench", cache=tmp_path / "cache").tree(".")
