"""A repository's history: its commits with their changes, and the contents of any commit."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from filelock import FileLock

from ingest.contents.blobs import SharedContent
from ingest.rejects import Rejects
from ingest.sources.git import GitFolder, checked
from ingest.sources.repository import RepositoryError, checked_files
from ingest.sources.tree import Repository, TreeFile
from lake.errors import Exit, GoldspanError

FETCH_SECONDS = 3600.0
HEAD = "refs/goldspan/head"


class Change(NamedTuple):
    """A file changed by a commit: git's status, the path before (empty if added) and after (empty if deleted)."""

    status: str
    before: str
    after: str


class Commit(NamedTuple):
    """A commit and its parents, between blanks; empty for a first commit."""

    commit_id: str
    parent: str
    author: str
    message: str
    changes: tuple[Change, ...]


@dataclass(frozen=True, eq=False)
class History:
    """The history of a repository in a bare clone; each content is read once."""

    git: GitFolder
    head: str
    _listings: dict[str, dict[str, str]] = field(default_factory=dict)
    _contents: dict[str, SharedContent | None] = field(default_factory=dict)

    def _text(self, *arguments: str) -> str:
        done = self.git.ask(*arguments, seconds=FETCH_SECONDS)
        if done.code:
            raise RepositoryError(f"git cannot read the history: {done.reason}", where=str(self.git.folder))
        return done.out

    def commits(self) -> Iterator[Commit]:
        """The commits that lead to the head, newest first; merges without their changes."""
        how = ("log", "--topo-order", "-z", "--name-status", "-M", "--no-ext-diff", "--encoding=UTF-8")
        # Messages and paths contain no NUL, so any other characters in them are kept.
        words = self._text(*how, "--format=%H%x00%P%x00%an%x00%B%x00", self.head, "--").split("\0")[::-1]

        def next_word() -> str:
            # Parts are separated by empty words and line ends.
            while words and not words[-1].strip():
                words.pop()
            return words[-1].strip() if words else ""

        while next_word():
            commit_id, parents, author, message = (words.pop() for _ in range(4))
            changes = list[Change]()
            while re.fullmatch(r"[A-Z]\d*", next_word()):
                status, path = words.pop().strip(), words.pop()
                after = words.pop() if status[0] in "RC" else path
                changes.append(Change(status, "" if status == "A" else path, "" if status == "D" else after))
            yield Commit(commit_id.strip(), parents, author, message.strip(), tuple(changes))

    def patch(self, commit: Commit, paths: Iterable[str]) -> str:
        """A commit's changes to some files, as a unified diff."""
        how = ("diff-tree", "-p", "-M", "--no-ext-diff", "--no-textconv", "--no-color")
        # Paths are literal, whatever characters they contain.
        return self._text("--literal-pathspecs", *how, commit.parent, commit.commit_id, "--", *paths)

    def listing(self, commit_id: str) -> dict[str, str]:
        """Path → git id of the content, for a commit's regular files."""
        if commit_id not in self._listings:
            files = sorted(self.git.listing(commit_id), key=lambda file: file[0])
            self._listings[commit_id] = {path: blob_id for path, mode, blob_id in files if mode.startswith("100")}
        return self._listings[commit_id]

    def contents(self, ids: Collection[str]) -> Mapping[str, SharedContent | None]:
        """Contents by id, these and all that were read before; None for one that is too large."""
        unread = sorted({*ids} - self._contents.keys())
        for blob_id, data in zip(unread, self.git.contents(unread), strict=True):
            self._contents[blob_id] = SharedContent(data) if data is not None else None
        return self._contents

    def files(self, repo: str, commit: str) -> Repository:
        """The files at a commit."""

        def read(rejects: Rejects, only: Collection[str] | None = None) -> Iterator[TreeFile]:
            chosen = {path: blob_id for path, blob_id in self.listing(commit).items() if only is None or path in only}
            contents = self.contents(chosen.values())
            rows = ((path, None, data) for path, blob_id in chosen.items() if (data := contents[blob_id]) is not None)
            yield from checked_files(rows, f"repository {repo}@{commit}", rejects)

        return read


def fetched(target: str, at: str, cache: Path) -> History:
    """The history of a repository, a folder or URL, up to `at` (empty: HEAD), fetched or updated in a cache."""
    if "://" not in target and not Path(target).is_dir():
        hint = "Give a git repository: a folder, or a URL such as https://github.com/owner/name."
        raise GoldspanError(f"{target} is neither a folder nor a URL", hint=hint, code=Exit.MISSING)
    url = checked("address", target) if "://" in target else Path(target).resolve().as_uri()
    folder = cache / "git" / f"history-{sha256(url.encode()).hexdigest()[:16]}.git"
    settings = folder.with_suffix(".config")
    git = GitFolder(folder, str(settings))
    folder.parent.mkdir(parents=True, exist_ok=True)
    # The user named the folder; git would refuse one that somebody else owns.
    settings.write_text("[safe]\n\tdirectory = *\n" if url.startswith("file://") else "", encoding="utf-8")
    with FileLock(folder.with_suffix(".lock")):
        git.make()
        options = ("--quiet", "--prune", "--update-shallow", "--no-write-fetch-head")
        refs = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
        answer = git.ask("fetch", *options, url, *refs, seconds=FETCH_SECONDS)
        # Fetched separately: the HEAD of a bare repository may be a branch that does not exist.
        if not answer.code and git.ask("fetch", *options, url, f"+HEAD:{HEAD}", seconds=FETCH_SECONDS).code:
            git.ask("update-ref", "-d", HEAD)
    if answer.code:
        hint = "Give the folder or URL of a git repository with at least one commit."
        raise RepositoryError(f"{url} cannot be read: {answer.reason}", hint=hint, code=Exit.MISSING)
    parsed = git.ask("rev-parse", "--verify", "--quiet", f"{at or HEAD}^{{commit}}")
    if parsed.code:
        branches = git.ask("for-each-ref", "--format=%(refname:short)", "refs/heads").out.split()
        what = f"{url} has no commit, branch or tag {at!r}" if at else f"the HEAD of {url} is not a commit"
        hint = "Name one: --at BRANCH" if branches else "It has no commits."
        raise RepositoryError(what, examples=branches, hint=hint, code=Exit.MISSING)
    return History(git, parsed.out.strip())
