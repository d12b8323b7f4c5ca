"""Repositories at commits, read from git objects: fetched once into a cache, without a work tree.

A repository in the cache is bare and partial. A commit is fetched alone (depth 1) with its trees and every content up
to `MAX_BLOB_BYTES`, in one request; a content that a fetched commit has is not sent again for the next. Larger ones are
left with the server where it can filter, and are never read.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Protocol, runtime_checkable
from urllib.parse import urlsplit

from filelock import FileLock

from ingest.sources.checkout import MAX_BLOB_BYTES, Checkout
from ingest.sources.git_address import GITHUB, RepositoryError, checked_commit, url_of
from ingest.sources.git_process import DamagedError, GitProcess, Said, TookTooLongError
from ingest.sources.tree import unusable
from lake.errors import Exit

_FILTER = f"blob:limit={MAX_BLOB_BYTES + 1}"
_PARTIAL = ("remote.origin.promisor=true", f"remote.origin.partialclonefilter={_FILTER}")
_COMMITS = "refs/goldspan/commits"
_MADE = "goldspan"

# What git says, in lower case. A server that asks who is there says so of a repository that is not.
_NOT_THERE = (
    "repository not found",
    "does not appear to be a git repository",
    "could not read username",
    "authentication failed",
    "returned error: 401",
    "returned error: 404",
    "/info/refs not found",
)
_UNKNOWN = ("not our ref", "couldn't find remote ref")
_UNADVERTISED = ("unadvertised object",)
_OUT_OF_REACH = ("could not resolve", "failed to connect", "couldn't connect", "could not connect", "unreachable")


@dataclass(eq=False)
class Repositories:
    """Git repositories in a cache, below its `git/`.

    Attributes:
        base: The URL below which `owner/name` is looked up: `https://github.com`, `file:///folder`, ….
        attempts: How often a server is asked before it is out of reach; the waits between double from a second on.
        timeout: Seconds that one fetch may take.
        say: Told of every fetch, and now and then how far it is.
    """

    cache: Path
    base: str = GITHUB
    attempts: int = 4
    timeout: float = 1800.0
    sleep: Callable[[float], None] = time.sleep
    say: Callable[[str], None] = lambda _: None
    _out_of_reach: dict[str, str] = field(default_factory=dict)
    _n_expected: int = 0
    _wanted: set[tuple[str, str | None]] = field(default_factory=set)

    def expect(self, n: int) -> None:
        """Say beforehand how many repositories at commits will be wanted, for the sake of those who wait."""
        self._n_expected = n
        self._wanted.clear()

    def files(self, repo: str, commit: str | None = None) -> Checkout:
        """The files of a repository at a commit, fetched where the cache does not hold it.

        Without a commit, that is the head of the default branch when it was first asked for; the cache remembers it.
        Processes and threads that ask for one repository wait for one another.

        Raises:
            RepositoryError: It cannot be had: the name is refused or it is beyond a limit (code INVALID), there is no
                such repository or commit, or the server is out of reach or too slow (code MISSING).
            GoldspanError: There is no git, or the cache cannot be used.
        """
        url = url_of(repo, self.base)
        wanted = checked_commit(commit, repo) if commit is not None else None
        self._wanted.add((url, wanted))
        try:
            with self._held(url) as git:
                try:
                    return self._files(git, url, wanted)
                except DamagedError:
                    _make(git, url)
                    return self._files(git, url, wanted)
        except DamagedError as error:
            what = f"{url} is damaged in the cache, and so it was when fetched anew: {error}"
            hint = "Check it there, and the disk here."
            raise RepositoryError(what, where=str(self.folder(url)), hint=hint) from error
        except TookTooLongError as error:
            raise RepositoryError(f"{url} cannot be had: {error}", code=Exit.MISSING) from error
        except OSError as error:
            raise unusable(self.cache, error) from error

    def folder(self, url: str) -> Path:
        """Where the cache keeps a repository."""
        name = "".join(sign if sign.isascii() and (sign.isalnum() or sign in "._-") else "_" for sign in url)
        return self.cache / "git" / f"{name[-60:].lstrip('.-')}-{sha256(url.encode()).hexdigest()[:16]}.git"

    @contextmanager
    def _held(self, url: str) -> Iterator[GitProcess]:
        """Hold one repository alone; what a killed process left half-written is swept away."""
        folder = self.folder(url)
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.with_suffix(".lock")):
            for pattern in ("**/*.lock", "objects/**/tmp_*"):
                for left in list(folder.glob(pattern)):
                    left.unlink(missing_ok=True)
            yield GitProcess(folder)

    def _files(self, git: GitProcess, url: str, commit: str | None) -> Checkout:
        if not (git.folder / _MADE).is_file():
            _make(git, url)
        commit = commit or self._head(git, url)
        if git.commit_of(f"{_COMMITS}/{commit}") != commit:
            self._fetch(git, url, commit)
        return Checkout.of(git, url, commit)

    def _head(self, git: GitProcess, url: str) -> str:
        """The commit that the server's default branch stood at when it was first asked for."""
        # Beside the repository, so that it outlives one that has to be made anew.
        first_asked = git.folder.with_suffix(".head")
        if first_asked.is_file():
            return first_asked.read_text(encoding="ascii").strip()
        said = self._asked(git, url, "ls-remote", "origin", "HEAD")
        if said.code:
            raise self._lacking(url, said)
        commit = said.out.decode().partition("\t")[0]
        if not commit:
            raise RepositoryError(f"{url} is empty, or names no default branch", code=Exit.MISSING)
        beside = first_asked.with_suffix(".head-new")
        beside.write_text(f"{commit}\n", encoding="ascii")
        beside.replace(first_asked)
        return commit

    def _fetch(self, git: GitProcess, url: str, commit: str) -> None:
        if damage := git.damage():
            # What is lost here would be taken for what was left with the server.
            raise DamagedError(damage)
        of = f"{len(self._wanted):,} of {self._n_expected:,}: " if self._n_expected else ""
        self.say(f"fetching {of}{url} at {commit[:12]}")
        ref = f"{_COMMITS}/{commit}"
        options = ("--quiet", "--no-tags", "--no-write-fetch-head", f"--filter={_FILTER}")
        said = self._asked(git, url, "fetch", *options, "--depth=1", "origin", f"{commit}:{ref}")
        if said.code and said.complains(*_UNADVERTISED):
            # An old server gives no commit by its id alone: it may still stand on a branch or below a tag.
            everything = ("+refs/heads/*:refs/goldspan/heads/*", "+refs/tags/*:refs/goldspan/tags/*")
            said = self._asked(git, url, "fetch", *options, "origin", *everything)
            if not said.code and git.commit_of(commit) == commit:
                git.run("update-ref", ref, commit)
        if said.code and not said.complains(*_UNKNOWN):
            raise self._lacking(url, said)
        if said.code or git.commit_of(ref) != commit:
            what = f"{url} has no commit {commit}"
            hint = "It may have been rewritten or taken away there, or stand in another repository."
            raise RepositoryError(what, hint=hint, code=Exit.MISSING)

    def _asked(self, git: GitProcess, url: str, *arguments: str) -> Said:
        """Ask the server, again and again where that may help."""
        host = urlsplit(url).netloc
        if host in self._out_of_reach:
            return Said(1, b"", self._out_of_reach[host])
        settings = (f"remote.origin.url={url}", *_PARTIAL)
        waiting = partial(self._waited, git, url)
        wait = 1.0
        for left in reversed(range(self.attempts)):
            said = git.run(*arguments, settings=settings, timeout=self.timeout, waiting=waiting)
            if not said.code or not left or said.complains(*_NOT_THERE, *_UNKNOWN, *_UNADVERTISED):
                break
            self.sleep(wait)
            wait *= 2
        if said.code and host and said.complains(*_OUT_OF_REACH):
            # The next repository there is not waited for.
            self._out_of_reach[host] = said.err
        return said

    def _waited(self, git: GitProcess, url: str, seconds: float) -> None:
        n_bytes = sum(file.stat().st_size for file in git.folder.glob("objects/pack/*pack*"))
        self.say(f"still fetching {url}: {n_bytes / 1e6:,.0f} MB in {seconds:,.0f} s")

    def _lacking(self, url: str, said: Said) -> RepositoryError:
        if said.complains(*_NOT_THERE):
            what = f"there is no repository {url}, or it is not public: {said.reason}"
            return RepositoryError(what, code=Exit.MISSING)
        what = f"{url} cannot be fetched: {said.reason}"
        hint = f"It would go into {self.cache / 'git'}. Try again with a connection; what was fetched before is kept."
        return RepositoryError(what, hint=hint, code=Exit.MISSING)


def _make(git: GitProcess, url: str) -> None:
    """An empty repository in place of whatever is there."""
    if git.folder.exists():
        shutil.rmtree(git.folder)
    git.make()
    # Last: a folder without it is one that was not made to the end.
    (git.folder / _MADE).write_text(f"{url}\n", encoding="utf-8")


@runtime_checkable
class Cloning(Protocol):
    """A source that has repositories of its own to be cloned."""

    @property
    def own_repositories(self) -> Repositories: ...  # noqa: D102
