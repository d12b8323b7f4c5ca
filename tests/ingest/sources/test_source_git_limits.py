"""Trees that are made to be too much: what is read of them, and the limit that the refusal names."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingest.sources import checkout
from ingest.sources.git_address import RepositoryError
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


@pytest.mark.parametrize("with_files", [True, False])
def test_a_tree_that_unfolds_is_refused_by_its_number_of_entries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, with_files: bool
) -> None:
    monkeypatch.setattr(checkout, "MAX_FILES", 1_000)
    remote = Remote(tmp_path / "remotes")
    bottom = file_tree(remote) if with_files else remote.run("mktree")
    # A hundred million entries, in eight small objects.
    commit = committed(remote, nested(remote, bottom, levels=8, times=10))
    with pytest.raises(RepositoryError, match="holds more than 1,000 files and folders, and is not read") as told:
        repositories(tmp_path / "cache", tmp_path / "remotes").files("acme/boats", commit)
    assert told.value.code == Exit.INVALID


def test_a_tree_is_refused_by_the_length_of_its_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkout, "MAX_CONTENTS_BYTES", 100)
    commit = Remote(tmp_path / "remotes").commit(HULL, ("100644", "x" * 100, b""))
    with pytest.raises(RepositoryError, match="more than 100 bytes of paths"):
        repositories(tmp_path / "cache", tmp_path / "remotes").files("acme/boats", commit)


def test_a_tree_is_refused_by_what_its_files_come_to_each_time_they_stand_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkout, "MAX_STREAMED_BYTES", 100)
    remote = Remote(tmp_path / "remotes")
    whole = remote.commit(*(("100644", f"{n}.py", b"x" * 10) for n in range(10)))
    more = remote.commit(*(("100644", f"{n}.py", b"x" * 10) for n in range(11)))
    cache = repositories(tmp_path / "cache", tmp_path / "remotes")
    assert len(cache.files("acme/boats", whole).files) == 10
    with pytest.raises(RepositoryError, match="more than 100 bytes of files"):
        cache.files("acme/boats", more)


def test_a_file_below_too_many_folders_is_refused_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    remote = Remote(tmp_path / "remotes")
    commit = remote.commit(("100644", "0/" * 1_500 + "a.py", b"x = 1\n"))
    found = repositories(tmp_path / "cache", tmp_path / "remotes").files("acme/boats", commit)
    assert not found.files
    assert [one.reason for one in found.refused] == ["more than 100 folders inside one another"]
    monkeypatch.setattr(checkout, "MAX_DEPTH", 2_000)
    found = repositories(tmp_path / "cache", tmp_path / "remotes").files("acme/boats", commit)
    assert [file.path for file in found.files] == ["0/" * 1_500 + "a.py"]


def test_a_path_that_is_too_long_is_refused_alone(tmp_path: Path) -> None:
    remote = Remote(tmp_path / "remotes")
    commit = committed(remote, nested(remote, file_tree(remote, "x" * 4_095), levels=1))
    found = repositories(tmp_path / "cache", tmp_path / "remotes").files("acme/boats", commit)
    assert [one.reason for one in found.refused] == ["its path is longer than 4,096 bytes"]


def test_a_listing_that_takes_too_long_is_one_repository_that_cannot_be_had(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkout, "MAX_FILES", 10**12)
    monkeypatch.setattr(checkout, "MAX_CONTENTS_BYTES", 10**12)
    remote = Remote(tmp_path / "remotes")
    commit = committed(remote, nested(remote, remote.run("mktree"), levels=9, times=10))
    cache = repositories(tmp_path / "cache", tmp_path / "remotes")
    monkeypatch.setattr(checkout, "LISTING_SECONDS", 0.3)
    with pytest.raises(RepositoryError, match=r"cannot be had: git ls-tree took longer than 0\.3 seconds"):
        cache.files("acme/boats", commit)


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
            "path caf\ufffd.py": "its name is no UTF-8; it is read with U+FFFD for what cannot be decoded",
        }.items()
    }
    again = Rejects()
    list(cloned.files(again, {"src/hull.py"}))
    assert not len(again)


def test_nothing_is_named_of_a_repository_that_is_read_whole(tmp_path: Path) -> None:
    commit = Remote(tmp_path / "remotes").commit(HULL)
    rejects = Rejects()
    found = repositories(tmp_path / "cache", tmp_path / "remotes").files("acme/boats", commit)
    found.reject_refused("repository acme/boats", rejects)
    assert not len(rejects)
