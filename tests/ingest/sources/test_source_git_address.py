"""Names of repositories and commits: what may be asked for, and what is refused before git is."""

from __future__ import annotations

import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.sources.git import Repositories
from ingest.sources.git_address import RepositoryError, checked_base, checked_commit, url_of
from lake.errors import Exit

ALONE = "rows name owner/name alone"

HOSTILE = {
    "ext::sh -c touch% /tmp/x": "white space",
    "ext::sh": "not owner/name",
    "ext://sh/x": ALONE,
    "http://example.org/a/b": ALONE,
    "https://127.0.0.1:8443/a/b": ALONE,
    "https://github.com/a/b": ALONE,
    "https://user:secret@example.org/a/b": ALONE,
    "file:///srv/private": ALONE,
    "FILE:///srv/private": ALONE,
    "file:/srv/private": "not owner/name",
    "//example.org/a": "not owner/name",
    "git@example.org:a/b": "not owner/name",
    "example.org:a/b": "not owner/name",
    "--upload-pack=x": "not owner/name",
    "-a/b": "not owner/name",
    "a/-b": "not owner/name",
    "a/b/c": "not owner/name",
    "a%2fb/c": "not owner/name",
    "": "not owner/name",
    "a": "not owner/name",
    "/etc/passwd": "not owner/name",
    "~root/a": "not owner/name",
    "../a": "climbs",
    "a/..": "climbs",
    "a/.": "climbs",
    "a/b\n": "control character",
    "a/b\0": "control character",
    "a/\u202eb": "control character",
    "a\\b/c": "a sign that no name has",
    "a/b?c": "a sign that no name has",
    f"a/{'b' * 229}": "it has 231 characters; at most 150 are read",
}
"""What a data row may say of its repository, and why that is not asked for."""


@pytest.mark.parametrize(("name", "reason"), HOSTILE.items())
def test_a_hostile_name_is_refused_before_git_is_asked(tmp_path: Path, name: str, reason: str) -> None:
    with pytest.raises(RepositoryError, match=reason) as told:
        Repositories(tmp_path / "cache").files(name, "1" * 40)
    assert told.value.code == Exit.INVALID
    assert "secret" not in str(told.value)
    assert str(told.value).isprintable() or str(told.value).replace("\n", "").isprintable()
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("commit", ["main", "-x", "1" * 39, "1" * 41, "g" * 40, "1" * 40 + "\n", "", "HEAD^"])
def test_what_is_no_full_commit_id_is_refused(tmp_path: Path, commit: str) -> None:
    with pytest.raises(RepositoryError, match="no full commit id") as told:
        Repositories(tmp_path / "cache").files("acme/boats", commit)
    assert told.value.code == Exit.INVALID
    assert not (tmp_path / "cache").exists()


def test_names_are_looked_up_below_the_base() -> None:
    assert url_of("acme/boats") == "https://github.com/acme/boats"
    assert url_of("vuejs/vue.js", "https://example.org/mirror/") == "https://example.org/mirror/vuejs/vue.js"
    assert url_of("acme/.github", "file:///srv/git") == "file:///srv/git/acme/.github"
    assert checked_commit("ABCDEF" + "0" * 34, "a/b") == "abcdef" + "0" * 34


@given(st.text(alphabet=string.printable + "\u202e\x85é", max_size=40))
def test_whatever_is_let_through_is_a_plain_url(name: str) -> None:
    try:
        url = url_of(name)
    except RepositoryError:
        return
    assert url.startswith(("https://", "file:///"))
    assert not set(url) & set("\\ \n\t\r?#@")
    assert not any(part in ("..", ".") or part.startswith("-") for part in url.split("/"))


def test_two_repositories_never_share_a_folder_of_the_cache(tmp_path: Path) -> None:
    cache = Repositories(tmp_path)
    urls = [
        "https://a/b/c",
        "https://a/b_c",
        "https://a/b/c.git",
        f"https://a/{'x' * 300}/c",
        f"https://a/{'y' * 300}/c",
    ]
    folders = {cache.folder(url) for url in urls}
    assert len(folders) == len(urls)
    assert all(folder.parent == tmp_path / "git" and len(folder.name) < 100 for folder in folders)


@pytest.mark.parametrize(
    "base",
    [
        "file:///srv/git",
        "https://example.org",
        "https://example.org:8443/scm/mirrors/",
        "http://127.0.0.1:8000/git",
    ],
)
def test_a_base_is_a_url_below_which_repositories_lie(base: str) -> None:
    assert checked_base(base) == base


@pytest.mark.parametrize(
    ("base", "reason"),
    {
        "1": "no URL",
        "ext://sh/x": "only https, http, file are spoken, not ext",
        "ssh://example.org/a": "only https, http, file are spoken, not ssh",
        "https://example.org/a/../b": "climbs",
        "https://example.org/a/%2e%2e/b": "climbs",
        "https://example.org/%2dx": "looks like an option",
        "https://-oProxyCommand=x/a": "looks like an option",
        "https://example.org/a%0ab": "control character",
        "https://example.org/a?b=c": "a sign that no name has",
        "https:///a/b": "names no host",
        "https://example.org:port/a/b": "no URL",
        "https://[::1/a/b": "no URL",
        "https://user:secret@example.org/a/b": "carries credentials",
        "file://example.org/a/b": "on this machine",
        "file:///a/../b": "climbs",
        "file:///": "names no folder",
    }.items(),
)
def test_a_base_that_misleads_is_refused(base: str, reason: str) -> None:
    with pytest.raises(RepositoryError, match=reason) as told:
        checked_base(base)
    assert told.value.code == Exit.INVALID
    assert "secret" not in str(told.value)
