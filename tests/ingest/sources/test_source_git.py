"""Repositories at commits: what is read, byte for byte, and that it is fetched once."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingest.sources.git_process import MAX_BLOB_BYTES, GitFolder, RepositoryError
from ingest.sources.repository import ClonedRepository
from lake.errors import Exit
from lake.rejects import Rejects
from tests.ingest.sources.git_remotes import Remote, commands, git_that, repositories

HULL = ("100644", "src/hull.py", b"planks = 12\r\nnails = 400\r\n")
README = ("100644", "README.md", b"# Boats")


def test_files_are_read_byte_for_byte(tmp_path: Path) -> None:
    remote = Remote(tmp_path / "remotes")
    commit = remote.commit(HULL, README, ("100755", "launch.sh", b"\xff\xfe no UTF-8\0"), ("100644", "empty", b""))
    found = repositories(tmp_path / "cache", tmp_path / "remotes").files("acme/boats", commit)
    assert dict(found.read()) == {
        "README.md": b"# Boats",
        "empty": b"",
        "launch.sh": b"\xff\xfe no UTF-8\0",
        "src/hull.py": b"planks = 12\r\nnails = 400\r\n",
    }
    assert [path for path, *_ in found.files] == ["README.md", "empty", "launch.sh", "src/hull.py"]


def test_attributes_in_the_tree_change_nothing_and_run_nothing(tmp_path: Path) -> None:
    remote = Remote(tmp_path / "remotes")
    attributes = b"*.py export-ignore\n* text eol=crlf filter=evil ident\nREADME.md export-subst\n"
    readme = ("100644", "README.md", b"$Format:%H$ $Id$\n")
    commit = remote.commit(HULL, readme, ("100644", ".gitattributes", attributes))
    found = repositories(tmp_path / "cache", tmp_path / "remotes").files("acme/boats", commit)
    assert dict(found.read()) == {".gitattributes": attributes, "README.md": readme[2], HULL[1]: HULL[2]}


def test_a_name_that_is_no_utf_8_is_replaced_and_one_that_reads_alike_is_refused(tmp_path: Path) -> None:
    remote = Remote(tmp_path / "remotes")
    commit = remote.commit(
        ("100644", "caf\udce9.py", b"a"), ("100644", "caf\udcea.py", b"b"), ("100644", "café.py", b"c")
    )
    cloned = ClonedRepository(repositories(tmp_path / "cache", tmp_path / "remotes"), "acme/boats", commit)
    rejects = Rejects()
    assert [file[:2] for file in cloned.files(rejects)] == [("café.py", b"c"), ("caf\ufffd.py", b"a")]
    assert ("path caf\ufffd.py", "stands there more than once; the first is read") in [
        (reject.position, reject.reason) for reject in rejects
    ]


def test_a_path_that_climbs_out_is_refused(tmp_path: Path) -> None:
    remote = Remote(tmp_path / "remotes")
    blob = remote.run("hash-object", "-w", "--stdin", given=b"x = 1\n")
    climbing = b"100644 ../x.py\0" + bytes.fromhex(blob)
    tree = remote.run("hash-object", "-t", "tree", "--literally", "-w", "--stdin", given=climbing)
    commit = remote.run("commit-tree", tree, "-m", "made for a test")
    remote.run("update-ref", "refs/heads/main", commit)
    cloned = ClonedRepository(repositories(tmp_path / "cache", tmp_path / "remotes"), "acme/boats", commit)
    rejects = Rejects()
    assert not list(cloned.files(rejects))
    assert [reject.reason for reject in rejects] == ["the path leaves the repository"]


def test_a_large_file_is_not_read(tmp_path: Path) -> None:
    remote = Remote(tmp_path / "remotes")
    commit = remote.commit(("100644", "a.bin", b"x" * MAX_BLOB_BYTES), ("100644", "b.bin", b"y" * (MAX_BLOB_BYTES + 1)))
    found = repositories(tmp_path / "cache", tmp_path / "remotes").files("acme/boats", commit)
    assert [(path, len(data)) for path, data in found.read()] == [("a.bin", MAX_BLOB_BYTES)]


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
        assert [path for path, *_ in cache.files("acme/boats", commit).files] == ["README.md", "src/hull.py"]
    again = repositories(tmp_path / "cache", tmp_path / "remotes", said)
    assert [data for _, data in again.files("acme/boats", first).read()] == [b"# Boats", HULL[2]]
    assert said == [f"fetching {remote.url} at {first[:12]}", f"fetching {remote.url} at {second[:12]}"]
    assert len(commands(log, "fetch")) == 2
    # The first: a commit, two trees, two contents. The second: a commit, its tree and the one content that is new.
    counted = GitFolder(again.folder(remote.url)).run("count-objects", "-v")
    assert "in-pack: 8\n" in counted
    assert "packs: 2\n" in counted


def test_an_unknown_commit_is_told(tmp_path: Path) -> None:
    Remote(tmp_path / "remotes").commit(HULL)
    with pytest.raises(RepositoryError, match=f"boats has no commit {'1' * 40}") as told:
        repositories(tmp_path / "cache", tmp_path / "remotes").files("acme/boats", "1" * 40)
    assert told.value.code == Exit.MISSING


def test_a_repository_that_is_not_there_is_asked_for_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = git_that(tmp_path / "bin", monkeypatch, [])
    with pytest.raises(RepositoryError, match="there is no repository file:") as told:
        repositories(tmp_path / "cache", tmp_path / "remotes").files("acme/boats", "1" * 40)
    assert told.value.code == Exit.MISSING
    assert len(commands(log, "fetch")) == 1
