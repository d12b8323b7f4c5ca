"""Repositories at commits: what is read, byte for byte, and that it is fetched once."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingest.sources.checkout import MAX_BLOB_BYTES
from ingest.sources.git import Repositories
from ingest.sources.git_address import RepositoryError
from lake.errors import Exit, GoldspanError
from tests.ingest.sources.git_remotes import Remote, commands, git_that, repositories

HULL = ("100644", "src/hull.py", b"planks = 12\r\nnails = 400\r\n")
README = ("100644", "README.md", b"# Boats")


def test_files_are_read_byte_for_byte(tmp_path: Path) -> None:
    remote = Remote(tmp_path / "remotes")
    commit = remote.commit(HULL, README, ("100755", "launch.sh", b"\xff\xfe no UTF-8\0"), ("100644", "empty", b""))
    found = repositories(tmp_path / "cache", tmp_path / "remotes").files("acme/boats", commit)
    assert found.commit == commit
    assert {file.path: data for file, data in found.read()} == {
        "README.md": b"# Boats",
        "empty": b"",
        "launch.sh": b"\xff\xfe no UTF-8\0",
        "src/hull.py": b"planks = 12\r\nnails = 400\r\n",
    }
    assert [file.path for file in found.files] == ["README.md", "empty", "launch.sh", "src/hull.py"]
    assert [file.n_bytes for file in found.files] == [7, 0, 12, 26]


def test_some_files_are_read_in_the_order_given(tmp_path: Path) -> None:
    remote = Remote(tmp_path / "remotes")
    commit = remote.commit(HULL, README, ("100644", "copy.md", b"# Boats"))
    found = repositories(tmp_path / "cache", tmp_path / "remotes").files("acme/boats", commit)
    chosen = [found.files[2], found.files[0], found.files[1]]
    assert [(file.path, data) for file, data in found.read(chosen)] == [
        ("src/hull.py", HULL[2]),
        ("README.md", b"# Boats"),
        ("copy.md", b"# Boats"),
    ]


def test_links_and_submodules_are_named_and_not_followed(tmp_path: Path) -> None:
    remote = Remote(tmp_path / "remotes")
    commit = remote.commit(
        HULL, ("120000", "out", b"/etc/passwd"), ("120000", "in", b"src"), ("160000", "lib", b"1" * 40)
    )
    found = repositories(tmp_path / "cache", tmp_path / "remotes").files("acme/boats", commit)
    assert [file.path for file in found.files] == ["src/hull.py"]
    assert [(refused.path, refused.reason) for refused in found.refused] == [
        ("in", "a symbolic link, which is not followed"),
        ("lib", "a submodule, which is not followed"),
        ("out", "a symbolic link, which is not followed"),
    ]


def test_a_name_that_is_no_utf_8_is_replaced_and_one_that_reads_alike_is_refused(tmp_path: Path) -> None:
    remote = Remote(tmp_path / "remotes")
    commit = remote.commit(
        ("100644", "caf\udce9.py", b"1"), ("100644", "caf\udce8.py", b"2"), ("100644", "café.py", b"3")
    )
    found = repositories(tmp_path / "cache", tmp_path / "remotes").files("acme/boats", commit)
    assert [file.path for file in found.files] == ["café.py", "caf\ufffd.py"]
    assert [refused.path for refused in found.refused] == ["caf\ufffd.py"]


@pytest.mark.parametrize("filters", [True, False])
def test_a_large_file_is_listed_and_not_read(tmp_path: Path, filters: bool) -> None:
    remote = Remote(tmp_path / "remotes", filters=filters)
    commit = remote.commit(("100644", "a.bin", b"x" * MAX_BLOB_BYTES), ("100644", "b.bin", b"y" * (MAX_BLOB_BYTES + 1)))
    found = repositories(tmp_path / "cache", tmp_path / "remotes").files("acme/boats", commit)
    assert [(file.path, len(data)) for file, data in found.read()] == [("a.bin", MAX_BLOB_BYTES)]
    assert [(file.path, file.n_bytes) for file in found.large] == [("b.bin", None if filters else MAX_BLOB_BYTES + 1)]


def test_a_commit_is_fetched_once_and_a_content_that_two_share_is_sent_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remote = Remote(tmp_path / "remotes")
    first = remote.commit(HULL, README)
    second = remote.commit(HULL, ("100644", "README.md", b"# Boats and ships"))
    log = git_that(tmp_path / "bin", monkeypatch, [])
    said: list[str] = []
    cache = repositories(tmp_path / "cache", tmp_path / "remotes", said)
    for commit in (first, second, first, second):
        assert [file.path for file in cache.files("acme/boats", commit).files] == ["README.md", "src/hull.py"]
    again = repositories(tmp_path / "cache", tmp_path / "remotes", said).files("acme/boats", first)
    assert [data for _, data in again.read()] == [b"# Boats", HULL[2]]
    assert said == [f"fetching {remote.url} at {first[:12]}", f"fetching {remote.url} at {second[:12]}"]
    assert len(commands(log, "fetch")) == 2
    # The first: a commit, two trees, two contents. The second: a commit, its tree and the one content that is new.
    counted = again.git.run("count-objects", "-v", timeout=60.0).out.decode()
    assert "in-pack: 8\n" in counted
    assert "packs: 2\n" in counted


def test_contents_are_read_many_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    remote = Remote(tmp_path / "remotes")
    commit = remote.commit(*(("100644", f"{n}.txt", str(n).encode()) for n in range(60)))
    log = git_that(tmp_path / "bin", monkeypatch, [])
    found = repositories(tmp_path / "cache", tmp_path / "remotes").files("acme/boats", commit)
    assert len(list(found.read())) == 60
    assert len(log.read_text().splitlines()) < 10


def test_without_a_commit_it_is_the_default_branch_as_it_was_first_seen(tmp_path: Path) -> None:
    remote = Remote(tmp_path / "remotes")
    first = remote.commit(HULL)
    remote.commit(README, branch="other")
    cache = repositories(tmp_path / "cache", tmp_path / "remotes")
    assert cache.files("acme/boats").commit == first
    later = remote.commit(HULL, README)
    assert cache.files("acme/boats").commit == first
    assert repositories(tmp_path / "cache2", tmp_path / "remotes").files("acme/boats").commit == later


def test_an_unknown_commit_is_told(tmp_path: Path) -> None:
    Remote(tmp_path / "remotes").commit(HULL)
    with pytest.raises(RepositoryError, match=f"boats has no commit {'1' * 40}") as told:
        repositories(tmp_path / "cache", tmp_path / "remotes").files("acme/boats", "1" * 40)
    assert told.value.code == Exit.MISSING


def test_the_id_of_a_tree_is_no_commit(tmp_path: Path) -> None:
    remote = Remote(tmp_path / "remotes")
    tree = remote.repo.commit(remote.commit(HULL)).tree.hexsha
    with pytest.raises(RepositoryError, match=f"boats has no commit {tree}"):
        repositories(tmp_path / "cache", tmp_path / "remotes").files("acme/boats", tree)


def test_an_empty_repository_is_told(tmp_path: Path) -> None:
    Remote(tmp_path / "remotes")
    with pytest.raises(RepositoryError, match="boats is empty, or names no default branch") as told:
        repositories(tmp_path / "cache", tmp_path / "remotes").files("acme/boats")
    assert told.value.code == Exit.MISSING


def test_a_repository_that_is_not_there_is_asked_for_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = git_that(tmp_path / "bin", monkeypatch, [])
    with pytest.raises(RepositoryError, match="there is no repository file:") as told:
        repositories(tmp_path / "cache", tmp_path / "remotes").files("acme/boats")
    assert told.value.code == Exit.MISSING
    assert len(commands(log, "ls-remote")) == 1


def test_an_old_server_that_gives_no_commit_by_its_id_is_asked_for_its_branches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remote = Remote(tmp_path / "remotes")
    old = remote.commit(HULL)
    new = remote.commit(README)
    remote.run("update-ref", "refs/heads/main", remote.run("commit-tree", f"{new}^{{tree}}", "-p", old, "-m", "then"))
    # The first protocol of git, which knows but what is advertised.
    git_that(tmp_path / "bin", monkeypatch, ['set -- -c protocol.version=0 "$@"'])
    cache = repositories(tmp_path / "cache", tmp_path / "remotes")
    assert [data for _, data in cache.files("acme/boats", old).read()] == [HULL[2]]
    with pytest.raises(RepositoryError, match=f"has no commit {'1' * 40}"):
        cache.files("acme/boats", "1" * 40)


def test_names_are_looked_up_at_github_unless_told_otherwise(tmp_path: Path) -> None:
    assert Repositories(tmp_path).base == "https://github.com"


def test_a_cache_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    Remote(tmp_path / "remotes").commit(HULL)
    (tmp_path / "cache").write_bytes(b"a file")
    with pytest.raises(GoldspanError, match="the cache cannot be used"):
        repositories(tmp_path / "cache", tmp_path / "remotes").files("acme/boats")
