"""The sample: the same on every machine, and in every row what RepoEval's and RepoBench-R's own rows have."""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from ingest.commands.open_source import open_source
from ingest.mining import sample
from ingest.mining.sample import PLACES_FILE, PROMPT_TOKENS, SampleSource, open_sample, read_places
from ingest.sources.tree import UNKNOWN_SIZE
from lake.errors import Exit, GoldspanError
from tests.tiny import ROOT, command, put, stored

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


@pytest.mark.parametrize("benchmark", RECORDED)
def test_the_sample_is_the_same_in_every_process_and_on_every_machine(benchmark: str) -> None:
    environment = {**os.environ, "PYTHONHASHSEED": "2", "LC_ALL": "C", "TZ": "Asia/Tokyo"}
    words = [sys.executable, "-c", DIGEST, benchmark]
    printed = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, check=True).stdout
    revision, digest = printed.split("\n", 1)
    assert (revision, digest.strip()) == (REVISION, RECORDED[benchmark]), (
        "a pin moved: python -m tests.ingest.mining.make_places, and record the digest anew"
    )


def _rows(source: SampleSource, folder: str) -> dict[str, list[dict[str, object]]]:
    tree = source.tree(folder)
    assert tree is not None
    assert {entry.size for entry in tree.entries} == {UNKNOWN_SIZE}
    return {entry.path: [json.loads(line) for line in entry.read().splitlines()] for entry in tree.entries}


def test_there_are_enough_questions_and_no_repository_dominates() -> None:
    completions = _rows(open_sample("repoeval"), "datasets")
    assert len(completions) == 2 * len(PROMPT_TOKENS)
    for rows in completions.values():
        per_package = Counter(row["metadata"]["fpath_tuple"][0] for row in rows)  # type: ignore[index]  # as JSON has it
        assert len(rows) >= 300
        assert (len(per_package), max(per_package.values())) == (11, 30)
    for name, rows in _rows(open_sample("repobench-r"), "data").items():
        levels = Counter((row["split"], row["level"]) for row in rows)
        assert min(levels["test", level] for level in ("easy", "hard")) >= (100 if "python" in name else 12)
        repos = {split: {row["repo_name"] for row in rows if row["split"] == split} for split in ("test", "train")}
        assert len(repos["test"]) >= 2
        assert len(repos["train"]) == 1
        assert not repos["test"] & repos["train"]


def test_the_sample_says_what_it_is(tmp_path: Path) -> None:
    source = open_sample("repoeval")
    assert (source.name, source.label) == ("sample", "sample")
    assert source.revision.split()[1] == f"click=={importlib.metadata.version('click')}"
    assert source.licences["pallets_click"] == "BSD-3-Clause"
    assert all("MIT" in licence or "BSD" in licence or "Apache" in licence for licence in source.licences.values())
    assert source.tree("nowhere") is None
    assert open_source("sample", "repobench-r", cache=tmp_path).revision == source.revision
    assert open_source("sample", "contextbench", cache=tmp_path).label == "sample"
    with pytest.raises(GoldspanError, match="no sample of another") as caught:
        open_source("sample", "another", cache=tmp_path)
    assert caught.value.code == Exit.MISSING


def test_places_are_of_one_version_of_a_package(tmp_path: Path) -> None:
    moved = put(tmp_path / "places.jsonl", PLACES_FILE.read_bytes().replace(b"attrs==26.1.0", b"attrs==26.2.0", 1))
    with pytest.raises(GoldspanError, match=r"the package attrs==26\.2\.0, which is installed as 26\.1\.0"):
        read_places(moved)


@pytest.mark.slow
@pytest.mark.parametrize("benchmark", RECORDED)
def test_what_is_current_is_known_without_cutting_the_sample(
    benchmark: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = (benchmark, "--chunkers", "whole-file", "--limit", "5", "--lake", tmp_path)
    assert command("ingest", *arguments).code == 0
    before = stored(tmp_path)

    def cut(*_: object) -> bytes:
        message = "the sample is cut again"
        raise AssertionError(message)

    monkeypatch.setattr(sample, "lines_of", cut)
    assert command("ingest", *arguments).code == 0
    assert stored(tmp_path) == before
