"""ContextBench from its publisher: rows in whatever Parquet files the hub lists, repositories from git."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from ingest.contents.processes import Workers
from ingest.pipeline import ingest
from ingest.sources.download import UnreachableError
from ingest.sources.hub import DATASETS, DatasetSource, HuggingFace
from lake.engine import IN_PROCESS
from lake.errors import Exit, GoldspanError
from lake.outcome import Outcome
from lake.store import Lake
from tests.ingest.benchmarks.contextbench.context_cases import FILES, contextbench, items, parquet, row, why_not
from tests.ingest.sources.git_remotes import Remote, repositories
from tests.tiny import command, put

REVISION = "c" * 40


class Hub(HuggingFace):
    """A hub that holds some files."""

    def __init__(self, files: Mapping[str, bytes], *, is_there: bool = True) -> None:
        self.files, self.is_there = files, is_there

    def resolve(self, dataset: str, revision: str) -> tuple[str, dict[str, int]]:
        assert (dataset, revision) in {("Contextbench/ContextBench", name) for name in ("main", REVISION)}
        if not self.is_there:
            message = "no route to host"
            raise UnreachableError(message)
        return REVISION, {path: len(data) for path, data in self.files.items()}

    def fetch(self, dataset: str, path: str, commit: str, cache: Path) -> Path:
        del dataset
        assert commit == REVISION
        file = cache / path.replace("/", "--")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(self.files[path])
        return file


def source(tmp_path: Path, files: Mapping[str, bytes], *, is_there: bool = True) -> DatasetSource:
    """The dataset with these files."""
    return DatasetSource(
        "contextbench", DATASETS["contextbench"], tmp_path / "cache", Hub(files, is_there=is_there), name="hub"
    )


def read(tmp_path: Path, opened: DatasetSource, subset: str = "full") -> Outcome:
    store = Lake(tmp_path / "lake")
    cloned = repositories(tmp_path / "cache", tmp_path / "remotes")
    with store.locked(), Workers(IN_PROCESS) as workers:
        return ingest(
            store, contextbench(), opened, subsets=[subset], chunkers=[], workers=workers, repositories=cloned
        )


def test_every_parquet_file_is_read_and_repositories_are_fetched(tmp_path: Path) -> None:
    commit = Remote(tmp_path / "remotes", "acme/rockets").commit(
        *(("100644", path, text.encode()) for path, text in FILES.items())
    )
    rows = [row(f"acme__rockets-{n}", base_commit=commit) for n in (1, 2)]
    files = {
        "README.md": b"# ContextBench",
        "data/train-00000-of-00001.parquet": parquet([*rows, row("acme__boats-3", repo="boats")]),
        "contextbench_verified/train-00000-of-00001.parquet": parquet(rows[1:]),
    }
    opened = source(tmp_path, files)
    assert opened.revision == f"Contextbench/ContextBench@{REVISION}"
    done = read(tmp_path, opened)
    assert (done.expected, done.scored) == (3, 2)
    found = why_not(tmp_path / "lake")
    assert [found[f"acme__rockets-{n}"] for n in (1, 2)] == [None, None]
    assert "its repository is not at hand: acme/boats" in str(found["acme__boats-3"])
    assert set(Lake(tmp_path / "lake").read("files")["path"]) == set(FILES)

    read(tmp_path, opened, "verified")
    assert set(items(tmp_path / "lake")) == {"acme__rockets-2"}


def test_a_pinned_commit_is_asked_what_it_holds(tmp_path: Path) -> None:
    pinned = replace(DATASETS["contextbench"], commit=REVISION)
    hub = Hub({"data/train.parquet": b"x", "notes.txt": b"y"})
    tree = DatasetSource("contextbench", pinned, tmp_path, hub, name="hub").tree("repo_files", ".")
    assert tree is not None
    assert [(entry.path, entry.size, entry.read()) for entry in tree.entries] == [("data/train.parquet", 1, b"x")]


def test_what_to_do_without_the_hub_works(tmp_path: Path) -> None:
    with pytest.raises(GoldspanError, match="no route to host") as caught:
        read(tmp_path, source(tmp_path, {}, is_there=False))
    assert caught.value.code == Exit.MISSING
    assert not items(tmp_path / "lake")
    assert "<folder>/contextbench/ and give SOURCE=<folder>" in caught.value.hint
    assert "REPOSITORIES=github" in caught.value.hint
    commit = Remote(tmp_path / "remotes", "acme/rockets").commit(
        *(("100644", path, text.encode()) for path, text in FILES.items())
    )
    put(tmp_path / "folder" / "contextbench" / "data" / "train.parquet", parquet([row(base_commit=commit)]))
    arguments = ["--source", tmp_path / "folder", "--repositories", f"file://{tmp_path / 'remotes'}"]
    said = command("ingest", "contextbench", *arguments, "--lake", tmp_path / "other", "--chunkers", "whole-file")
    assert said.code == Exit.DONE, said.err
    assert "1 of 1 item ready" in said.err


def test_that_nothing_can_be_scored_is_told_with_a_reason(tmp_path: Path) -> None:
    done = read(tmp_path, source(tmp_path, {"data/train.parquet": parquet([row(problem_statement=None)])}))
    [told] = [note for note in done.warnings if note.startswith("ContextBench: nothing")]
    assert "nothing of its items can be scored: acme__rockets-1: `problem_statement` is missing" in told


def test_that_nothing_could_be_read_is_told_with_a_reason(tmp_path: Path) -> None:
    done = read(tmp_path, source(tmp_path, {"data/train.parquet": b"no Parquet"}))
    [told] = [note for note in done.warnings if note.startswith("ContextBench: nothing")]
    assert "nothing could be read: data/train.parquet, the whole file: " in told
