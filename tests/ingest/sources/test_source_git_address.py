"""Names of repositories and commits: what may be asked for, and what is refused before git is."""

from __future__ import annotations

import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.sources.git import Repositories, checked
from ingest.sources.git_process import RepositoryError
from lake.errors import Exit

HOSTILE = [
    "ext::sh -c touch% /tmp/x",
    "https://github.com/a/b",
    "https://user:secret@example.org/a/b",
    "//example.org/a",
    "--upload-pack=x",
    "a/-b",
    "a%2fb/c",
    "",
    "../a",
    "a/..",
    "a/b\n",
    "a/\u202eb",
    f"a/{'b' * 229}",
]
"""What a data row may say of its repository."""


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_refused_before_git_is_asked(tmp_path: Path, name: str) -> None:
    with pytest.raises(RepositoryError, match="rows name owner/name alone") as told:
        Repositories(tmp_path / "cache").files(name, "1" * 40)
    assert told.value.code == Exit.INVALID
    assert "secret" not in str(told.value)
    assert str(told.value).isprintable() or str(told.value).replace("\n", "").isprintable()
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("commit", ["main", "-x", "1" * 39, "g" * 40, "1" * 40 + "\n"])
def test_what_is_no_full_commit_id_is_refused(tmp_path: Path, commit: str) -> None:
    with pytest.raises(RepositoryError, match="no full commit id") as told:
        Repositories(tmp_path / "cache").files("acme/boats", commit)
    assert told.value.code == Exit.INVALID
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


@pytest.mark.parametrize(
    "base",
    [
        "file:///srv/git",
        "https://example.org",
        "https://example.org:8443/scm/mirrors/",
        "http://127.0.0.1:8000/git",
        "file:///srv/my%20gits/é",
    ],
)
def test_a_base_is_a_url_below_which_repositories_lie(base: str) -> None:
    assert checked("address", base) == base


@pytest.mark.parametrize(
    "base",
    [
        "1",
        "ssh://example.org/a",
        "https://example.org/a/%2e%2e/b",
        "https://-oProxyCommand=x/a",
        "https://example.org/a%0ab",
        "https://example.org/a?b=c",
        "https:///a/b",
        "https://[::1/a/b",
        "https://user:secret@example.org/a/b",
        "file:///a/../b",
    ],
)
def test_a_base_that_misleads_is_refused(base: str) -> None:
    with pytest.raises(RepositoryError, match="it is not https://host/") as told:
        checked("address", base)
    assert told.value.code == Exit.INVALID
    assert "secret" not in str(told.value)
