"""Repositories at commits, fetched once into a cache: rows give owner/name, the user where these lie."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from filelock import FileLock

from ingest.sources.git_process import COMMITS, Checkout, DamagedRepositoryError, GitFolder, RepositoryError
from ingest.sources.tree import unusable
from lake.errors import Exit

GITHUB = "https://github.com"
_PART = r"(?!\.{1,2}(/|$))[A-Za-z0-9_.][A-Za-z0-9_.-]*"
_HOST = r"https?://(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9][A-Za-z0-9.-]*)(:\d{1,5})?"
_FOLDER = r"/(?!-|\.{1,2}(/|$))([\w.~+:,=!$&'()*;-]|%20|%[89A-Fa-f][0-9A-Fa-f])+"
_FORMS = {
    "repository": (rf"(?=.{{3,150}}$){_PART}/{_PART}", "rows name owner/name alone, in at most 150 characters"),
    "commit": ("[0-9a-f]{40}", "it is no full commit id, which has 40 hex digits"),
    "address": (
        rf"({_HOST}|file://(?=/.))({_FOLDER})*/?",
        "it is not https://host/…, http://host/… or file:///folder, without credentials; or say github",
    ),
}
_FEW, _MANY = 3, 100  # fetches that are told of one by one, and of how many one after these
# A commit comes alone, without what those have that came before.
_FETCH = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--depth=1")

# What git says, in lower case. A server that asks who is there says so of a repository that is not.
_NOT_THERE = ("repository not found", "not appear to be a git repository", "could not read username",
              "authentication failed", "returned error: 401", "returned error: 404", "info/refs not found")  # fmt: skip
_UNKNOWN = ("not our ref", "couldn't find remote ref")


@dataclass(eq=False)
class Repositories:
    """Git repositories in a cache, below its `git/`; `base` is the URL below which `owner/name` is looked up.

    `waits` are the seconds before a failing server is asked again, each waited once until a fetch succeeds; one fetch
    may take `timeout` seconds. `say` is told of the first fetches, and of every hundredth.
    """

    cache: Path
    base: str = GITHUB
    waits: tuple[float, ...] = (1.0, 2.0, 4.0)
    timeout: float = 1800.0
    sleep: Callable[[float], None] = time.sleep
    say: Callable[[str], None] = lambda _: None
    _n_waited: int = 0
    _n_fetched: int = 0
    _known: set[tuple[str, str]] = field(default_factory=set)

    def files(self, repo: str, commit: str) -> Checkout:
        """The files of a repository at a commit, fetched where the cache does not hold it."""
        url, commit = f"{self.base.rstrip('/')}/{checked('repository', repo)}", checked("commit", commit)
        git = GitFolder(self.folder(url))
        try:
            git.folder.parent.mkdir(parents=True, exist_ok=True)
            # Whoever else asks for this repository waits.
            with FileLock(git.folder.with_suffix(".lock")):
                try:
                    return self._files(git, url, commit)
                except DamagedRepositoryError:
                    shutil.rmtree(git.folder)
                    self._known.clear()
                    return self._files(git, url, commit)
        except OSError as error:
            raise unusable(self.cache, error) from error

    def folder(self, url: str) -> Path:
        """A repository's folder in the cache."""
        name = re.sub(r"[^A-Za-z0-9._-]", "_", url)[-60:].lstrip(".-")
        return self.cache / "git" / f"{name}-{sha256(url.encode()).hexdigest()[:16]}.git"

    def _files(self, git: GitFolder, url: str, commit: str) -> Checkout:
        # What was there a moment ago is not looked for again: reading fails where it went.
        if (url, commit) not in self._known:
            git.make()
            if commit not in git.commits():
                self._n_fetched += 1
                if self._n_fetched <= _FEW or self._n_fetched % _MANY == 0:
                    self.say(f"fetching {url} at {commit[:12]}")
                self._fetch(git, url, commit)
            self._known.add((url, commit))
        return git.read(commit, url)

    def _fetch(self, git: GitFolder, url: str, commit: str) -> None:
        while True:
            answer = git.ask(*_FETCH, url, f"{commit}:{COMMITS}{commit}", seconds=self.timeout)
            if not answer.code or self._n_waited == len(self.waits) or answer.complains(*_NOT_THERE, *_UNKNOWN):
                break
            self.sleep(self.waits[self._n_waited])
            self._n_waited += 1
        hint = ""
        if answer.complains(*_NOT_THERE):
            what = f"there is no repository {url}, or it is not public: {answer.reason}"
        elif answer.code and not answer.complains(*_UNKNOWN):
            what = f"{url} cannot be fetched: {answer.reason}"
            hint = f"It would go into {git.folder.parent}. Try again with a connection; what was fetched is kept."
        elif answer.code or commit not in git.commits():
            what = f"{url} has no commit {commit}"
        else:
            self._n_waited = 0
            return
        raise RepositoryError(what, hint=hint, code=Exit.MISSING)


def form_fault(kind: str, text: str) -> str:
    """Why a text is no `repository`, `commit` or `address`; empty where it is one."""
    form, reason = _FORMS[kind]
    return "" if re.fullmatch(form, text) else reason


def checked(kind: str, text: str) -> str:
    """A text that is one of that kind; a `RepositoryError` where it is not."""
    if reason := form_fault(kind, text):
        # Escaped, short, and without a password.
        shown = repr(re.sub(r"//[^/]*@", "//…@", text))[:120]
        raise RepositoryError(f"the {kind} {shown} is refused: {reason}", code=Exit.INVALID)
    return text
