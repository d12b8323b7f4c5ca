"""The sample: the same on every machine, and in every row what RepoEval's own rows have."""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TypedDict

import pytest

from ingest.commands.open_source import open_source
from ingest.mining import sample
from ingest.mining.miner import Recipe
from ingest.mining.packages import read_package
from ingest.mining.sample import CONTEXTS, PACKAGES, SampleSource, of_package, open_sample, repoeval_folders
from ingest.mining.targets import BODY_LINES
from ingest.sources.tree import UNKNOWN_SIZE, Tree
from lake.errors import Exit, GoldspanError
from lake.offsets import split_lines
from lake.text import regex_tokens
from tests.tiny import command, stored

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]

REVISION = (
    "attrs==26.1.0 click==8.5.1 fsspec==2026.9.0 gitpython==3.2.1 httpx2==2.16.2 jinja2==3.1.6 jsonschema==4.26.0 "
    "markdown-it-py==4.3.0 packaging==26.3 python-dateutil==4.0.0 rich==15.0.0"
)
RECORDED = {
    "repoeval": "aedc1c527180326ef6f0f3d076c288c02661e22f81772786b608fcfc93728d86",
    "repobench-r": "830afdec927ea3da73b5c542470ea53893686a7fa1e605bb853409c5b6a2b27b",
}
"""What the sample was cut from when its digests were recorded, and these. Record them anew when a pin moves."""

DIGEST = """
import hashlib, sys
from ingest.mining.sample import open_sample
source, digest = open_sample(sys.argv[1]), hashlib.sha256()
for path in ("datasets", "repositories/function_level", "data"):
    for entry in getattr(source.tree(path), "entries", ()):
        digest.update(entry.path.encode() + b"\\0" + hashlib.sha256(entry.read()).digest())
print(source.revision, digest.hexdigest(), sep="\\n")
"""


class Metadata(TypedDict, total=False):
    task_id: str
    ground_truth: str
    fpath_tuple: list[str]
    context_start_lineno: int
    lineno: int
    line_no: int
    function_name: str


class Row(TypedDict):
    prompt: str
    metadata: Metadata


def _tree(source: SampleSource, path: str) -> Tree:
    tree = source.tree(path)
    assert tree is not None
    return tree


@pytest.fixture(scope="module")
def source() -> SampleSource:
    return open_sample("repoeval")


@pytest.fixture(scope="module")
def rows(source: SampleSource) -> dict[str, list[Row]]:
    files = {entry.path: entry.read() for entry in _tree(source, "datasets").entries}
    assert all(data.count(b"\n") == data.count(b"\r\n") and data.endswith(b"\r\n") for data in files.values())
    return {name: [json.loads(line) for line in data.decode().splitlines()] for name, data in files.items()}


@pytest.fixture(scope="module")
def code(source: SampleSource) -> dict[str, list[str]]:
    read = {entry.path: entry.read().decode() for entry in _tree(source, "repositories/function_level").entries}
    return {path: split_lines(text.replace("\r\n", "\n")) for path, text in read.items()}


def _function(rows: dict[str, list[Row]], context: str = "2k") -> list[Row]:
    return rows[f"function_level_completion_{context}_context_codex.test.jsonl"]


def _line(rows: dict[str, list[Row]], context: str = "2k") -> list[Row]:
    return rows[f"line_level_completion_{context}_context_codex.test.jsonl"]


def test_there_are_enough_questions_and_no_package_dominates(rows: dict[str, list[Row]]) -> None:
    for found in (_function(rows), _line(rows)):
        per_package = Counter(row["metadata"]["fpath_tuple"][0] for row in found)
        assert len(found) >= 300
        assert len(per_package) == len(PACKAGES) >= 8
        assert max(per_package.values()) <= max(recipe.limit for recipe in PACKAGES.values())
        assert min(per_package.values()) >= 20


def test_there_are_a_few_hundred_files_as_upstream_lays_them_out(source: SampleSource) -> None:
    paths = [entry.path for entry in _tree(source, "repositories/function_level").entries]
    assert 300 <= sum(path.endswith(".py") for path in paths) <= 450
    assert {path.split("/")[0] for path in paths} == {"function_level"}
    assert "function_level/pallets_click/click/core.py" in paths
    assert "function_level/pallets_click/LICENSE.txt" in paths
    assert paths == sorted(paths)
    other = [entry.path for entry in _tree(source, "repositories/line_and_api_level").entries]
    assert other == [path.replace("function_level", "line_and_api_level", 1) for path in paths]


@pytest.mark.parametrize("context", CONTEXTS)
def test_every_function_row_has_the_facts_of_the_real_rows(
    rows: dict[str, list[Row]], code: dict[str, list[str]], context: str
) -> None:
    for row in _function(rows, context):
        metadata, prompt = row["metadata"], row["prompt"]
        assert list(row) == ["prompt", "metadata"]
        assert list(metadata) == [
            "task_id", "ground_truth", "fpath_tuple", "context_start_lineno", "lineno", "function_name",
        ]  # fmt: skip
        lines = code["/".join(["function_level", *metadata["fpath_tuple"]])]
        start, hole, truth = metadata["context_start_lineno"], metadata["lineno"], metadata["ground_truth"]
        n = truth.count("\n")
        assert n in BODY_LINES
        assert truth == "".join(lines[hole : hole + n])
        assert truth.endswith("\n")
        whole = "".join(lines[start:hole]).rstrip()
        assert whole.endswith(prompt)
        assert len(whole) - len(prompt) < len(lines[start])
        assert prompt == prompt.rstrip()
        assert len(regex_tokens(prompt)) <= CONTEXTS[context]
        assert start == 0 or len(regex_tokens(prompt)) == CONTEXTS[context]
        assert start > 0 or prompt == whole or len(regex_tokens(prompt)) == CONTEXTS[context]
        assert metadata["task_id"] == metadata["fpath_tuple"][0].replace("_", "--", 1) + "/idx"
        assert re.search(rf"def {re.escape(metadata['function_name'])}\b", "".join(lines[:hole]))


@pytest.mark.parametrize("benchmark", RECORDED)
def test_the_sample_is_the_same_in_every_process_and_on_every_machine(benchmark: str) -> None:
    environment = {**os.environ, "PYTHONHASHSEED": "2", "LC_ALL": "C", "TZ": "Asia/Tokyo"}
    words = [sys.executable, "-c", DIGEST, benchmark]
    printed = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, check=True).stdout
    revision, digest = printed.split("\n", 1)
    assert (revision, digest.strip()) == (REVISION, RECORDED[benchmark]), (
        "a pin, the grammar or a rule changed: record the digest anew"
    )


def test_task_files_are_made_only_when_they_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    mined = list[str]()

    def mine(_: object, recipe: Recipe) -> dict[str, list[object]]:
        mined.append(recipe.repository)
        return {"function": [], "line": [], "api": []}

    monkeypatch.setattr(sample, "mine_completions", mine)
    entries = _tree(open_sample("repoeval"), "datasets").entries
    assert ({entry.size for entry in entries}, mined) == ({UNKNOWN_SIZE}, [])
    assert [entry.read() for entry in entries] == [b""] * 6
    assert len(mined) == len(PACKAGES)


def test_the_sample_says_what_it_is(source: SampleSource, tmp_path: Path) -> None:
    assert (source.name, source.label) == ("sample", "sample")
    assert source.revision.split()[1] == f"click=={importlib.metadata.version('click')}"
    assert len(source.licences) == len(PACKAGES)
    assert source.licences["pallets_click"] == "BSD-3-Clause"
    assert all(re.search("MIT|BSD|Apache", licence) for licence in source.licences.values())
    assert source.tree("nowhere") is None
    assert open_source("sample", "repoeval", cache=tmp_path).revision == source.revision
    assert open_source("sample", "contextbench", cache=tmp_path).label == "sample"
    with pytest.raises(GoldspanError, match="no sample of another") as caught:
        open_source("sample", "another", cache=tmp_path)
    assert caught.value.code == Exit.MISSING


@pytest.mark.parametrize("benchmark", ["repoeval", "repobench-r"])
def test_what_is_current_is_known_without_cutting_the_sample(
    benchmark: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = (benchmark, "--chunkers", "whole-file", "--limit", "5", "--lake", tmp_path)
    assert command("ingest", *arguments).code == 0
    before = stored(tmp_path)

    def cut(*_: object) -> bytes:
        message = "the sample is cut again"
        raise AssertionError(message)

    monkeypatch.setattr(sample, "mine_completions", cut)
    monkeypatch.setattr(sample, "mine_next_lines", cut)
    assert command("ingest", *arguments).code == 0
    assert stored(tmp_path) == before


def test_another_release_of_a_package_or_another_recipe_makes_other_task_files() -> None:
    recipe = PACKAGES["attrs"]
    package = read_package("attrs")
    name, file = next(iter(package.files.items()))
    released = replace(package, files={**package.files, name: replace(file, made_from="sha256=x")})
    made = [of_package(package, recipe), of_package(released, recipe), of_package(package, replace(recipe, limit=3))]
    assert len({repoeval_folders([one])["datasets"][0].made_from for one in made}) == 3
