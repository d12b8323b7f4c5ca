"""Trees that are made to be too much: what is read of them, and the limit that the refusal names."""

from __future__ import annotations

from functools import partialmethod
from pathlib import Path

import pytest

from ingest.sources import git_process
from ingest.sources.git_process import GitFolder, RepositoryError
from ingest.sources.repository import ClonedRepository
from lake.errors import Exit
from lake.rejects import Rejects
from tests.ingest.sources.git_remotes import Remote, repositories

HULL = ("100644", "src/hull.py", b"planks = 12\n")


def committed(remote: Remote, tree: str) -> str:
    """A tree as the commit of the main branch."""
    commit = remote.run("commit-tree", tree, "-m", "made for a test")
    remote.run("update-ref", "refs/heads/main", commit)
    return commit


def nested(remote: Remote, bottom: str, levels: int, times: int = 1) -> str:
    """A tree that holds another some times, which holds another, and so on down to the bottom."""
    tree = bottom
    for _ in range(levels):
        rows = "".join(f"040000 tree {tree}\t{n}\n" for n in range(times))
        tree = remote.run("mktree", given=rows.encode())
    return tree


def file_tree(remote: Remote, name: str = "a.py") -> str:
    blob = remote.run("hash-object", "-w", "--stdin", given=b"x = 1\n")
    return remote.run("mktree", given=f"100644 blob {blob}\t{name}\n".encode())


def test_a_tree_that_unfolds_is_refused_by_its_number_of_entries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git_process, "MAX_FILES", 1_000)
    remote = Remote(tmp_path / "remotes")
    # A hundred million entries, in nine small objects.
    commit = committed(remote, nested(remote, file_tree(remote), levels=8, times=10))
    with pytest.raises(
        RepositoryError, match="holds more than 1,000 files or 8,589,934,592 bytes, and is not read"
    ) as told:
        repositories(tmp_path / "cache", tmp_path / "remotes").files("acme/boats", commit)
    assert told.value.code == Exit.INVALID


def test_a_tree_of_nothing_but_folders_ends_with_its_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    remote = Remote(tmp_path / "remotes")
    commit = committed(remote, nested(remote, remote.run("mktree"), levels=9, times=10))
    cache = repositories(tmp_path / "cache", tmp_path / "remotes")
    soon = partialmethod(GitFolder._started, seconds=2.0)  # what an archive may take
    monkeypatch.setattr(GitFolder, "_started", soon)
    with pytest.raises(RepositoryError, match=r"git archive took longer than 2 seconds") as told:
        cache.files("acme/boats", commit)
    assert told.value.code == Exit.MISSING


def test_what_is_not_read_of_a_repository_is_named_once_for_each_reason(tmp_path: Path) -> None:
    links = [("120000", f"link{n}", b"src/hull.py") for n in range(5)]
    given = [HULL, *links, ("160000", "lib", b"1" * 40), ("100644", "caf\udce9.py", b"x = 1\n")]
    commit = Remote(tmp_path / "remotes").commit(*given)
    cloned = ClonedRepository(repositories(tmp_path / "cache", tmp_path / "remotes"), "acme/boats", commit)
    rejects = Rejects()
    assert [file.path for file in cloned.files(rejects)] == ["caf\ufffd.py", "src/hull.py"]
    assert {(one.source, one.position, one.reason) for one in rejects} == {
        (f"repository acme/boats@{commit}", position, reason)
        for position, reason in {
            "path link0, link1, link2 and 2 more": "a symbolic link, which is not followed",
            "path lib": "a submodule, which is not followed",
        }.items()
    }
    again = Rejects()
    list(cloned.files(again, {"src/hull.py"}))
    assert not len(again)
