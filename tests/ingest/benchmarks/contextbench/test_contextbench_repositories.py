from dataclasses import replace
from functools import partial
from pathlib import Path

import polars as pl
import pytest

from ingest.benchmarks.contextbench.pools import repository_finder
from ingest.benchmarks.contextbench.rows import Instance
from ingest.contents.processes import Workers
from ingest.pipeline import ingest
from ingest.rejects import Rejects
from ingest.sources.hub import open_hub
from ingest.sources.repository import RepositoryError, parquet_files
from ingest.sources.tree import RawFiles, Tree, TreeFile
from lake.engine import IN_PROCESS
from lake.errors import Exit
from lake.outcome import Outcome
from lake.store import Lake
from tests.ingest.benchmarks.contextbench.context_cases import (
    COMMIT,
    COMMITTED,
    FILES,
    File,
    blob_id,
    contextbench,
    entry,
    items,
    parquet,
    repo_parquet,
    row,
    upstream,
    why_not,
)
from tests.ingest.sources.git_remotes import Remote, repositories
from tests.ingest.sources.test_source_hub_dataset import FakeHub
from tests.tiny import command, put, refused


def read(data: bytes, only: set[str] | None = None) -> tuple[list[TreeFile], list[tuple[str, str]]]:
    rejects = Rejects()
    files = sorted(parquet_files(entry("acme.parquet", data), "repo_files", rejects, only))
    assert all(reject.source == "repo_files/acme.parquet" for reject in rejects)
    return files, [(reject.position, reject.reason) for reject in rejects]


def rows(*given: File) -> bytes:
    kind = pl.Binary if any(isinstance(content, bytes) for _, _, content in given) else pl.String
    frame = pl.DataFrame(given, schema={"path": pl.String, "blob_sha": pl.String, "content": kind}, orient="row")
    return parquet(frame.to_dict(as_series=True))


def test_files_come_with_their_bytes() -> None:
    files, rejects = read(repo_parquet())
    assert files == [TreeFile(path, FILES[path].encode()) for path in sorted(FILES)]
    assert rejects == []


@pytest.mark.parametrize(
    ("path", "content", "reason"),
    [
        ("../a.py", "x", "not a path inside a repository"),
        ("src/../../a.py", "x", "not a path inside a repository"),
        ("/etc/passwd", "x", "not a path inside a repository"),
        ("./a.py", "x", "not a path inside a repository"),
        ("src//a.py", "x", "not a path inside a repository"),
        ("", "x", "not a path inside a repository"),
        (None, "x", "its path or its content is missing"),
        ("a.py", None, "its path or its content is missing"),
    ],
)
def test_a_file_that_is_not_as_it_should_be_is_rejected_alone(path: str, content: str | None, reason: str) -> None:
    files, rejects = read(rows((path, None, content), ("b.py", None, "y")))
    assert files == [TreeFile("b.py", b"y")]
    assert rejects == [(f"path {path}", reason)]


def test_content_is_held_against_its_git_id() -> None:
    files, rejects = read(rows(("a.py", blob_id(b"x"), "x"), ("b.py", blob_id(b"x"), "y"), ("c.py", "no id", "z")))
    assert files == [TreeFile("a.py", b"x")]
    assert rejects == [(f"path {path}", "its content is not what blob_sha says") for path in ("b.py", "c.py")]


def test_text_that_was_decoded_with_replacement_is_kept_and_counted() -> None:
    files, rejects = read(rows(("a.py", blob_id(b"\xff"), "\ufffd"), ("b.py", blob_id("\ufffd".encode()), "\ufffd")))
    assert ([(file.path, file.is_replaced) for file in files], rejects) == ([("a.py", True), ("b.py", False)], [])


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "the Parquet cannot be read"),
        (repo_parquet()[:-40], "the Parquet cannot be read"),
        (repo_parquet()[:200] + b"\0" * 400 + repo_parquet()[600:], "the Parquet cannot be read"),
        (parquet({"path": ["a.py"], "text": ["x"]}), "it has path \\(String\\)"),
        (parquet({"file": ["a.py"], "text": ["x"]}), "it has none of them"),
        (parquet({"path": [1], "content": ["x"]}), r"path \(Int64\)"),
        (parquet({"path": ["a"], "content": [["x"]]}), r"content \(List\(String\)\)"),
        (parquet({"path": ["a"], "content": ["x"], "blob_sha": [7]}), r"blob_sha \(Int64\)"),
    ],
)
def test_a_parquet_file_that_is_none_or_another_says_so(data: bytes, reason: str) -> None:
    with pytest.raises(RepositoryError, match=reason):
        read(data)


@pytest.mark.parametrize(
    "name", ["acme__rockets-1", upstream("acme__rockets-1"), f"acme__rockets@{COMMIT}", "inside/acme__rockets-1"]
)
def test_a_repository_is_found_by_an_instance_or_by_its_own_name(name: str) -> None:
    ids = ("acme__rockets-1", upstream("acme__rockets-1"))
    mine = Instance(*ids, "acme/rockets", COMMIT, "", None, None, None, [], None, ("", ""))
    other = replace(mine, item_id="acme__rockets-2", upstream_id=None, commit="c" * 40)
    files = Tree("repo_files", [entry(f"{name}.parquet", b""), entry("other__thing-1.parquet", b"")])
    find = repository_finder(RawFiles([], [files]), [mine, other])
    repository = find(mine)
    assert isinstance(repository, partial)
    assert repository.args[0].path == f"{name}.parquet"
    assert find(other) is None


def test_a_repository_from_git_gives_the_same_files(tmp_path: Path) -> None:
    remote = Remote(tmp_path / "remotes", "acme/rockets")
    link = ("120000", "link.py", b"src/engine.py")
    commit = remote.commit(*COMMITTED, link)
    cloned = repositories(tmp_path / "cache", tmp_path / "remotes").files("acme/rockets", commit)
    assert list(cloned(Rejects())) == read(repo_parquet())[0]
    assert [file.path for file in cloned(Rejects(), {"README.md", "link.py"})] == ["README.md"]


REVISION = "c" * 40


def read_hub(tmp_path: Path, subset: str = "full") -> Outcome:
    store, opened = Lake(tmp_path / "lake"), open_hub("contextbench", tmp_path / "cache")
    opened = replace(opened, repositories=repositories(tmp_path / "cache", tmp_path / "remotes").files)
    with store.locked(), Workers(IN_PROCESS) as workers:
        return ingest(store, contextbench(), opened, subsets=[subset], chunkers=[], workers=workers)


def test_all_parquet_files_are_read_and_repositories_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit = Remote(tmp_path / "remotes", "acme/rockets").commit(*COMMITTED)
    rows = [row(f"acme__rockets-{n}", base_commit=commit) for n in (1, 2)]
    files = {
        "README.md": b"# ContextBench",
        "data/train-00000-of-00001.parquet": parquet([*rows, row("acme__boats-3", repo="boats")]),
        "contextbench_verified/train-00000-of-00001.parquet": parquet(rows[1:]),
    }
    FakeHub(monkeypatch, files, REVISION)
    done = read_hub(tmp_path)
    revision = Lake(tmp_path / "lake").read("benchmarks")["revision"].to_list()
    assert revision == [f"Contextbench/ContextBench@{REVISION}"]
    assert (done.expected, done.scored) == (3, 2)
    reasons = why_not(tmp_path / "lake")
    assert [reasons[f"acme__rockets-{n}"] for n in (1, 2)] == [None, None]
    assert "its repository is not available: acme/boats" in str(reasons["acme__boats-3"])
    assert set(Lake(tmp_path / "lake").read("files")["path"]) == set(FILES)

    read_hub(tmp_path, "verified")
    assert set(items(tmp_path / "lake")) == {"acme__rockets-2"}


def test_what_to_do_without_the_hub_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    FakeHub(monkeypatch, {}, REVISION).is_there = False
    with refused("no route to host", Exit.MISSING) as caught:
        read_hub(tmp_path)
    assert not items(tmp_path / "lake")
    assert "<folder>/contextbench/ and give SOURCE=<folder>" in caught.value.hint
    assert "REPOSITORIES=github" in caught.value.hint
    commit = Remote(tmp_path / "remotes", "acme/rockets").commit(*COMMITTED)
    put(tmp_path / "folder" / "contextbench" / "data" / "train.parquet", parquet([row(base_commit=commit)]))
    arguments = ["--source", tmp_path / "folder", "--repositories", f"file://{tmp_path / 'remotes'}"]
    run = command("ingest", "contextbench", *arguments, "--lake", tmp_path / "other", "--chunkers", "whole-file")
    run.done("1 of 1 item ready")


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        (
            parquet([row(problem_statement=None)]),
            "1 item cannot be scored: acme__rockets-1: `problem_statement` must",
        ),
        (b"no Parquet", "nothing could be read: data/train.parquet, the whole file: "),
    ],
)
def test_nothing_to_score_has_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: bytes, why: str) -> None:
    FakeHub(monkeypatch, {"data/train.parquet": rows}, REVISION)
    assert f"ContextBench: {why}" in "\n".join(read_hub(tmp_path).warnings)
