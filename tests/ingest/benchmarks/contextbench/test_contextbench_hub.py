"""ContextBench from its publisher: rows in whatever Parquet files the hub lists, repositories from git."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingest.contents.processes import Workers
from ingest.pipeline import ingest
from ingest.sources.hub import open_hub
from lake.engine import IN_PROCESS
from lake.errors import Exit, GoldspanError
from lake.outcome import Outcome
from lake.store import Lake
from tests.ingest.benchmarks.contextbench.context_cases import FILES, contextbench, items, parquet, row, why_not
from tests.ingest.sources.fake_hub import FakeHub
from tests.ingest.sources.git_remotes import Remote, repositories
from tests.tiny import command, put

REVISION = "c" * 40


def read(tmp_path: Path, subset: str = "full") -> Outcome:
    store, opened = Lake(tmp_path / "lake"), open_hub("contextbench", tmp_path / "cache")
    cloned = repositories(tmp_path / "cache", tmp_path / "remotes")
    with store.locked(), Workers(IN_PROCESS) as workers:
        return ingest(
            store, contextbench(), opened, subsets=[subset], chunkers=[], workers=workers, repositories=cloned
        )()


def test_every_parquet_file_is_read_and_repositories_are_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = Remote(tmp_path / "remotes", "acme/rockets").commit(
        *(("100644", path, text.encode()) for path, text in FILES.items())
    )
    rows = [row(f"acme__rockets-{n}", base_commit=commit) for n in (1, 2)]
    files = {
        "README.md": b"# ContextBench",
        "data/train-00000-of-00001.parquet": parquet([*rows, row("acme__boats-3", repo="boats")]),
        "contextbench_verified/train-00000-of-00001.parquet": parquet(rows[1:]),
    }
    FakeHub(monkeypatch, files, REVISION)
    done = read(tmp_path)
    revision = Lake(tmp_path / "lake").read("benchmarks")["revision"].to_list()
    assert revision == [f"Contextbench/ContextBench@{REVISION}"]
    assert (done.expected, done.scored) == (3, 2)
    found = why_not(tmp_path / "lake")
    assert [found[f"acme__rockets-{n}"] for n in (1, 2)] == [None, None]
    assert "its repository is not at hand: acme/boats" in str(found["acme__boats-3"])
    assert set(Lake(tmp_path / "lake").read("files")["path"]) == set(FILES)

    read(tmp_path, "verified")
    assert set(items(tmp_path / "lake")) == {"acme__rockets-2"}


def test_what_to_do_without_the_hub_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    FakeHub(monkeypatch, {}, REVISION).is_there = False
    with pytest.raises(GoldspanError, match="no route to host") as caught:
        read(tmp_path)
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


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        (parquet([row(problem_statement=None)]), "of its items can be scored: acme__rockets-1: `problem_statement` is"),
        (b"no Parquet", "could be read: data/train.parquet, the whole file: "),
    ],
)
def test_that_nothing_can_be_scored_or_read_is_told_with_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: bytes, why: str
) -> None:
    FakeHub(monkeypatch, {"data/train.parquet": rows}, REVISION)
    [told] = [note for note in read(tmp_path).warnings if note.startswith("ContextBench: nothing")]
    assert f"nothing {why}" in told
