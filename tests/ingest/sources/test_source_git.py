import string
from functools import partialmethod
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.rejects import Rejects
from ingest.sources import git
from ingest.sources.git import MAX_BLOB_BYTES, GitFolder, Repositories, checked
from ingest.sources.repository import RepositoryError
from lake.errors import Exit
from tests.ingest.sources.git_remotes import Remote, commands, contents, git_that, repositories
from tests.tiny import refused

HULL = ("100644", "src/hull.py", b"planks = 12\r\nnails = 400\r\n")
README = ("100644", "README.md", b"# Boats")


def test_files_are_read_byte_for_byte(tmp_path: Path) -> None:
    remote = Remote(tmp_path / "remotes")
    commit = remote.commit(HULL, README, ("100755", "launch.sh", b"\xff\xfe no UTF-8\0"), ("100644", "empty", b""))
    tree = repositories(tmp_path / "cache", tmp_path / "remotes").files("acme/boats", commit)
    assert contents(tree) == {
        "README.md": b"# Boats",
        "empty": b"",
        "launch.sh": b"\xff\xfe no UTF-8\0",
        "src/hull.py": b"planks = 12\r\nnails = 400\r\n",
    }
    assert list(contents(tree)) == ["README.md", "empty", "launch.sh", "src/hull.py"]


def test_attributes_in_the_tree_change_nothing_and_run_nothing(tmp_path: Path) -> None:
    remote = Remote(tmp_path / "remotes")
    attributes = b"*.py export-ignore\n* text eol=crlf filter=evil ident\nREADME.md export-subst\n"
    readme = ("100644", "README.md", b"$Format:%H$ $Id$\n")
    commit = remote.commit(HULL, readme, ("100644", ".gitattributes", attributes))
    tree = repositories(tmp_path / "cache", tmp_path / "remotes").files("acme/boats", commit)
    assert contents(tree) == {".gitattributes": attributes, "README.md": readme[2], HULL[1]: HULL[2]}


def test_a_name_that_is_no_utf_8_is_replaced_and_one_that_reads_alike_is_refused(tmp_path: Path) -> None:
    remote = Remote(tmp_path / "remotes")
    commit = remote.commit(
        ("100644", "caf\udce9.py", b"a"), ("100644", "caf\udcea.py", b"b"), ("100644", "café.py", b"c")
    )
    cloned = repositories(tmp_path / "cache", tmp_path / "remotes").files("acme/boats", commit)
    rejects = Rejects()
    assert [file[:2] for file in cloned(rejects)] == [("café.py", b"c"), ("caf\ufffd.py", b"a")]
    assert ("path caf\ufffd.py", "occurs more than once; the first is read") in [
        (reject.position, reject.reason) for reject in rejects
    ]


def test_a_path_that_climbs_out_is_refused(tmp_path: Path) -> None:
    remote = Remote(tmp_path / "remotes")
    blob = remote.run("hash-object", "-w", "--stdin", given=b"x = 1\n")
    climbing = b"100644 ../x.py\0" + bytes.fromhex(blob)
    tree = remote.run("hash-object", "-t", "tree", "--literally", "-w", "--stdin", given=climbing)
    commit = remote.run("commit-tree", tree, "-m", "made for a test")
    remote.run("update-ref", "refs/heads/main", commit)
    cloned = repositories(tmp_path / "cache", tmp_path / "remotes").files("acme/boats", commit)
    rejects = Rejects()
    assert not list(cloned(rejects))
    assert [reject.reason for reject in rejects] == ["not a path inside a repository"]


def test_a_large_file_is_not_read(tmp_path: Path) -> None:
    remote = Remote(tmp_path / "remotes")
    commit = remote.commit(("100644", "a.bin", b"x" * MAX_BLOB_BYTES), ("100644", "b.bin", b"y" * (MAX_BLOB_BYTES + 1)))
    tree = repositories(tmp_path / "cache", tmp_path / "remotes").files("acme/boats", commit)
    assert [(path, len(data)) for path, data in contents(tree).items()] == [("a.bin", MAX_BLOB_BYTES)]


def test_commits_and_their_shared_contents_are_fetched_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    remote = Remote(tmp_path / "remotes")
    first = remote.commit(HULL, README)
    second = remote.commit(HULL, ("100644", "README.md", b"# Boats and ships"))
    log = git_that(tmp_path / "bin", monkeypatch, [])
    messages: list[str] = []
    cache = repositories(tmp_path / "cache", tmp_path / "remotes", messages)
    for commit in (first, second, first, second):
        assert list(contents(cache.files("acme/boats", commit))) == ["README.md", "src/hull.py"]
    again = repositories(tmp_path / "cache", tmp_path / "remotes", messages)
    assert [*contents(again.files("acme/boats", first)).values()] == [b"# Boats", HULL[2]]
    assert messages == [f"fetching {remote.url} at {first[:12]}", f"fetching {remote.url} at {second[:12]}"]
    assert len(commands(log, "fetch")) == 2
    # The first: a commit, two trees, two contents. The second: a commit, its tree and the one content that is new.
    counted = GitFolder(again.folder(remote.url)).run("count-objects", "-v")
    assert "in-pack: 8\n" in counted
    assert "packs: 2\n" in counted


def test_an_unknown_commit_is_told(tmp_path: Path) -> None:
    Remote(tmp_path / "remotes").commit(HULL)
    with refused(f"boats cannot be fetched at {'1' * 40}: .*not our ref", Exit.MISSING):
        repositories(tmp_path / "cache", tmp_path / "remotes").files("acme/boats", "1" * 40)


def test_a_repository_that_is_not_there_is_asked_for_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = git_that(tmp_path / "bin", monkeypatch, [])
    with refused("boats cannot be fetched at 1{40}: ", Exit.MISSING):
        repositories(tmp_path / "cache", tmp_path / "remotes").files("acme/boats", "1" * 40)
    assert len(commands(log, "fetch")) == 1


HOSTILE = [
    "ext::sh -c touch% /tmp/x", "https://github.com/a/b", "https://user:secret@example.org/a/b", "//example.org/a",
    "--upload-pack=x", "a/-b", "a%2fb/c", "", "../a", "a/..", "a/b\n", "a/\u202eb", f"a/{'b' * 229}",
]  # fmt: skip
"""What a data row may say of its repository."""


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_refused_before_git_is_asked(tmp_path: Path, name: str) -> None:
    with refused("expected owner/name", Exit.INVALID) as told:
        Repositories(tmp_path / "cache").files(name, "1" * 40)
    assert "secret" not in str(told.value)
    assert str(told.value).isprintable() or str(told.value).replace("\n", "").isprintable()
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("commit", ["main", "-x", "1" * 39, "g" * 40, "1" * 40 + "\n"])
def test_what_is_no_full_commit_id_is_refused(tmp_path: Path, commit: str) -> None:
    with refused("expected a full commit id", Exit.INVALID):
        Repositories(tmp_path / "cache").files("acme/boats", commit)
    assert not (tmp_path / "cache").exists()


@given(st.text(alphabet=string.printable + "\u202e\x85é", max_size=40))
def test_whatever_is_let_through_is_two_plain_folders(name: str) -> None:
    try:
        checked("repository", name)
    except RepositoryError:
        return
    assert set(name) <= {*string.ascii_letters, *string.digits, *"._-/"}
    assert name.count("/") == 1
    assert not any(part in ("", "..", ".") or part.startswith("-") for part in name.split("/"))


BASES = "file:///srv/git https://example.org https://example.org:8443/scm/mirrors/ file:///srv/my%20gits/é"
MISLEADING = (
    "1 ssh://example.org/a https://example.org/a/%2e%2e/b https://-oProxyCommand=x/a https://example.org/a%0ab "
    "https://example.org/a?b=c https:///a/b https://[::1/a/b https://user:secret@example.org/a/b file:///a/../b"
)


def test_a_base_is_a_url_below_which_repositories_lie() -> None:
    for base in (*BASES.split(), "http://127.0.0.1:8000/git"):
        assert checked("address", base) == base


@pytest.mark.parametrize("base", MISLEADING.split())
def test_a_base_that_misleads_is_refused(base: str) -> None:
    with refused("expected github, https://host/", Exit.INVALID) as told:
        checked("address", base)
    assert "secret" not in str(told.value)


PLAIN_HULL = ("100644", "src/hull.py", b"planks = 12\n")


def committed(remote: Remote, tree: str) -> str:
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


def test_a_tree_that_unfolds_is_refused_by_its_entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git, "MAX_FILES", 1_000)
    remote = Remote(tmp_path / "remotes")
    blob = remote.run("hash-object", "-w", "--stdin", given=b"x = 1\n")
    tree = remote.run("mktree", given=f"100644 blob {blob}\ta.py\n".encode())
    # A hundred million entries, in nine small objects.
    commit = committed(remote, nested(remote, tree, levels=8, times=10))
    with pytest.raises(RepositoryError, match="git ls-tree has more than the 200,000 bytes that are read") as told:
        repositories(tmp_path / "cache", tmp_path / "remotes").files("acme/boats", commit)
    assert told.value.code == Exit.INVALID


def test_a_tree_of_nothing_but_folders_ends_with_its_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    remote = Remote(tmp_path / "remotes")
    commit = committed(remote, nested(remote, remote.run("mktree"), levels=9, times=10))
    cache = repositories(tmp_path / "cache", tmp_path / "remotes")
    monkeypatch.setattr(GitFolder, "ask", partialmethod(GitFolder.ask, seconds=2.0))  # what a listing may take
    with refused(r"git ls-tree took longer than 2 seconds", Exit.MISSING):
        cache.files("acme/boats", commit)


def test_what_is_not_read_of_a_repository_is_named_once_for_each_reason(tmp_path: Path) -> None:
    links = [("120000", f"link{n}", b"src/hull.py") for n in range(5)]
    given = [PLAIN_HULL, *links, ("160000", "lib", b"1" * 40), ("100644", "caf\udce9.py", b"x = 1\n")]
    commit = Remote(tmp_path / "remotes").commit(*given)
    cloned = repositories(tmp_path / "cache", tmp_path / "remotes").files("acme/boats", commit)
    rejects = Rejects()
    assert [file.path for file in cloned(rejects)] == ["caf\ufffd.py", "src/hull.py"]
    assert {(reject.source, reject.position, reject.reason) for reject in rejects} == {
        (f"repository acme/boats@{commit}", position, reason)
        for position, reason in {
            "path link0, link1, link2 and 2 more": "a symbolic link, which is not followed",
            "path lib": "a submodule, which is not followed",
        }.items()
    }
    again = Rejects()
    list(cloned(again, {"src/hull.py"}))
    assert not len(again)
