"""Repositories at commits, fetched once into a cache: rows give owner/name, the user gives the URL above it.

Git runs in bare repositories: no work tree, hook, filter, submodule or prompt, and no outside settings.
"""

import os
import re
import shutil
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from signal import SIGKILL
from subprocess import PIPE, Popen
from tempfile import TemporaryFile
from threading import Timer
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from filelock import FileLock

from ingest.rejects import Rejects
from ingest.sources.repository import RepositoryError, checked_files
from ingest.sources.tree import Repository, TreeFile
from lake.errors import MAX_EXAMPLES, Exit, GoldspanError
from lake.limits import MAX_FILES
from lake.text import listed

GITHUB = "https://github.com"
_PART = r"(?!\.{1,2}(/|$))[A-Za-z0-9_.][A-Za-z0-9_.-]*"
_HOST = r"https?://(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9][A-Za-z0-9.-]*)(:\d{1,5})?"
_FOLDER = r"/(?!-|\.{1,2}(/|$))([\w.~+:,=!$&'()*;-]|%20|%[89A-Fa-f][0-9A-Fa-f])+"
_FORMS = {
    "repository": (rf"(?=.{{3,150}}$){_PART}/{_PART}", "expected owner/name, at most 150 characters"),
    "commit": ("[0-9a-f]{40}", "expected a full commit id of 40 hex digits"),
    "address": (
        rf"({_HOST}|file://(?=/.))({_FOLDER})*/?",
        "expected github, https://host/…, http://host/… or file:///folder, without credentials",
    ),
}
# Parts of git's messages, in lower case. A server may ask for a login when a repository does not exist.
_NOT_THERE = ("repository not found", "not appear to be a git repository", "could not read username",
              "authentication failed", "returned error: 401", "returned error: 404", "info/refs not found",
              "not our ref", "couldn't find remote ref")  # fmt: skip
_COMMITS = "refs/goldspan/commits/"
_LOCAL_SECONDS = 300.0  # time limit of a command that contacts no server
MAX_BLOB_BYTES = 1_000_000  # larger contents are not read
_NOT_READ = {"120000": "a symbolic link, which is not followed", "160000": "a submodule, which is not followed"}

# Fetched objects stay in one pack, nothing is cleaned up in the background, and silent servers are disconnected.
_SETTINGS = (f"core.hooksPath={os.devnull}", f"core.attributesFile={os.devnull}", "credential.helper=",
             "fetch.recurseSubmodules=false", "fetch.unpackLimit=1", "gc.auto=0", "http.lowSpeedLimit=1000",
             "http.lowSpeedTime=60")  # fmt: skip
_EMPTIED = ("GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_ASKPASS", "GIT_CONFIG_PARAMETERS", "GIT_NAMESPACE", "SSH_ASKPASS")
_ENVIRONMENT = {
    **dict.fromkeys(_EMPTIED, ""),
    **dict.fromkeys(("GIT_CONFIG_COUNT", "GIT_TERMINAL_PROMPT"), "0"),
    **dict.fromkeys(("GIT_ATTR_NOSYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_NO_REPLACE_OBJECTS"), "1"),
    **dict.fromkeys(("LANGUAGE", "LC_ALL"), "C"),
    "GIT_ALLOW_PROTOCOL": "https:http:file",
}


class DamagedRepositoryError(OSError):
    """A repository in the cache is incomplete and has to be fetched again."""


class GitResult(NamedTuple):
    """The result of a git command: exit status, standard output, and standard error."""

    code: int
    out: str
    err: str

    @property
    def reason(self) -> str:
        """What went wrong, in git's words."""
        fatal = re.search(r"^(?:fatal|error|remote|ERROR): *(.+)", self.err, re.MULTILINE)
        return (fatal[1] if fatal else self.err.strip() or f"git ended with status {self.code}")[:300]


@dataclass(frozen=True)
class GitFolder:
    """A bare repository, which need not exist yet; `settings` is the only configuration file that git reads."""

    folder: Path
    settings: str = os.devnull

    def make(self) -> None:
        """Create what the repository lacks, and delete leftovers of killed processes; errors as in :meth:`run`."""
        for pattern in ("**/*.lock", "objects/**/tmp_*"):
            for left in list(self.folder.glob(pattern)):
                left.unlink(missing_ok=True)
        if not (self.folder / "objects").is_dir():
            self.run("init", "--quiet", "--bare", "--initial-branch=main", "--template=")

    def listing(self, commit: str) -> list[tuple[str, str, str]]:
        """The path of everything in a commit, git's mode (`100644` for a file) and git id; errors as in :meth:`run`."""
        listing = self.run("ls-tree", "-r", "-z", "--full-tree", commit, most=200 * MAX_FILES)
        entries = (entry.partition("\t") for entry in listing.split("\0")[:-1])
        # `100644 blob <id>`
        return [(path, about[:6], about.rpartition(" ")[2]) for about, _, path in entries]

    def repository(self, repo: str, commit: str) -> Repository:
        """The files of a commit; links and submodules are rejected if all files are read."""
        entries, where = self.listing(commit), f"repository {repo}@{commit}"

        def read(rejects: Rejects, only: Collection[str] | None = None) -> Iterator[TreeFile]:
            for mode, reason in _NOT_READ.items() if only is None else ():
                if paths := sorted(path for path, its_mode, _ in entries if its_mode == mode):
                    rejects.add(where, f"path {listed(paths, MAX_EXAMPLES)}", reason, "\n".join(paths))
            files = [each for each in entries if each[1] not in _NOT_READ and (only is None or each[0] in only)]
            contents = zip(files, self.contents(blob_id for *_, blob_id in files), strict=True)
            rows = ((path, None, data) for (path, *_), data in contents if data is not None)
            yield from checked_files(rows, where, rejects)

        return read

    def contents(self, ids: Iterable[str]) -> Iterator[bytes | None]:
        """The contents of git ids, None for one over `MAX_BLOB_BYTES`; an error if the repository is damaged."""
        from git import Git

        git = Git()
        git.update_environment(**self._environment)
        git.set_persistent_git_options(git_dir=str(self.folder), c=list(_SETTINGS))
        try:
            for blob_id in ids:
                *_, n_bytes, stream = git.stream_object_data(blob_id)
                data = stream.read(n_bytes) if n_bytes <= MAX_BLOB_BYTES else None
                if data is not None and len(data) < n_bytes:
                    raise ValueError(f"{blob_id} is cut off")
                del stream  # reads the rest of a content that is too large
                yield data
        except (OSError, ValueError) as error:
            shutil.rmtree(self.folder, ignore_errors=True)
            what = f"the repository is damaged, and is fetched again by the next run: {error}"
            raise RepositoryError(what, where=str(self.folder), code=Exit.MISSING) from error
        finally:
            git.clear_cache()

    def run(self, *words: str, most: int = -1) -> str:
        """The output of a command that fails only if the repository is damaged: a `DamagedRepositoryError`."""
        if (answer := self.ask(*words, most=most)).code:
            raise DamagedRepositoryError(answer.reason)
        return answer.out

    def ask(self, *words: str, seconds: float = _LOCAL_SECONDS, most: int = -1) -> GitResult:
        """The result of a command; a `RepositoryError` beyond that time, or beyond `most` bytes of output."""
        command = ["git", *(part for setting in _SETTINGS for part in ("-c", setting)), f"--git-dir={self.folder}"]
        environment = {**os.environ, **self._environment}
        # If this variable is set, git creates no bare repository.
        environment.pop("GIT_WORK_TREE", None)
        if shutil.which("git") is None:
            hint = "Install git 2.32 or newer, or use data that includes the repositories' files."
            raise GoldspanError("git is not installed", hint=hint, code=Exit.MISSING)
        with (
            TemporaryFile() as errors,
            Popen([*command, *words], stdout=PIPE, stderr=errors, env=environment, start_new_session=True) as process,
        ):
            # With all that it has started.
            timer = Timer(seconds, os.killpg, (process.pid, SIGKILL))
            timer.start()
            try:
                out = process.stdout.read(most) if process.stdout else b""
                if len(out) == most:
                    what = f"git {words[0]} has more than the {most:,} bytes that are read of its output"
                    raise RepositoryError(what, where=str(self.folder), code=Exit.INVALID)
                process.wait()
            finally:
                timer.cancel()
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, SIGKILL)
            if process.returncode == -SIGKILL:
                what = f"git {words[0]} took longer than {seconds:g} seconds"
                raise RepositoryError(what, where=str(self.folder), code=Exit.MISSING)
            errors.seek(0)
            return GitResult(process.returncode, *(data.decode(errors="replace") for data in (out, errors.read())))

    @property
    def _environment(self) -> dict[str, str]:
        own = {"GIT_OBJECT_DIRECTORY": str(self.folder / "objects"), "GIT_COMMON_DIR": str(self.folder)}
        return {**_ENVIRONMENT, **own, "GIT_CONFIG_GLOBAL": self.settings}


@dataclass(eq=False)
class Repositories:
    """Git repositories in the folder `git/` of a cache; `base` is the URL that `owner/name` is appended to.

    `waits` are the seconds before a failing server is asked again, each used once until a fetch succeeds.
    """

    cache: Path
    base: str = GITHUB
    waits: Sequence[float] = (1.0, 2.0, 4.0)
    timeout: float = 1800.0
    sleep: Callable[[float], None] = time.sleep
    say: Callable[[str], None] = lambda _: None
    _n_waited: int = 0

    def files(self, repo: str, commit: str) -> Repository:
        """A repository at a commit, fetched if the cache does not have it."""
        url = f"{self.base.rstrip('/')}/{checked('repository', repo)}"
        commit, git = checked("commit", _whole_id(url, commit)), GitFolder(self.folder(url))
        git.folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(git.folder.with_suffix(".lock")):
            try:
                return self._files(git, repo, url, commit)
            except DamagedRepositoryError:
                shutil.rmtree(git.folder)
                return self._files(git, repo, url, commit)

    def folder(self, url: str) -> Path:  # noqa: D102
        name = re.sub(r"[^A-Za-z0-9._-]", "_", url)[-60:].lstrip(".-")
        return self.cache / "git" / f"{name}-{sha256(url.encode()).hexdigest()[:16]}.git"

    def _files(self, git: GitFolder, repo: str, url: str, commit: str) -> Repository:
        git.make()
        refs = git.run("for-each-ref", "--format=%(objecttype) %(refname)", _COMMITS)
        if f"commit {_COMMITS}{commit}" not in refs.splitlines():
            self.say(f"fetching {url} at {commit[:12]}")
            how = ("--quiet", "--no-tags", "--no-write-fetch-head", "--depth=1")
            words = ("fetch", *how, url, f"{commit}:{_COMMITS}{commit}")
            while (answer := git.ask(*words, seconds=self.timeout)).code:
                is_not_there = any(part in answer.err.lower() for part in _NOT_THERE)
                if is_not_there or self._n_waited == len(self.waits):
                    what = f"{url} cannot be fetched at {commit}: {answer.reason}"
                    hint = "" if is_not_there else f"Try again online; what was fetched is kept in {git.folder.parent}."
                    raise RepositoryError(what, hint=hint, code=Exit.MISSING)
                self.sleep(self.waits[self._n_waited])
                self._n_waited += 1
            self._n_waited = 0
        return git.repository(repo, commit)


def _whole_id(url: str, commit: str) -> str:
    """A commit id; of a repository in a folder a short one is completed, if it has one such, and zeros mean HEAD."""
    folder = Path(unquote(urlsplit(url).path))
    if not url.startswith("file://") or not re.fullmatch("[0-9a-f]{7,39}|0{40}", commit):
        return commit
    git = GitFolder(folder / ".git" if (folder / ".git").is_dir() else folder)
    revision = commit if commit.strip("0") else "HEAD"
    return git.ask("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}").out.strip() or commit


def form_fault(kind: str, text: str) -> str:
    """Why a text is not a valid `repository`, `commit` or `address`; empty if it is."""
    form, reason = _FORMS[kind]
    return "" if re.fullmatch(form, text) else reason


def checked(kind: str, text: str) -> str:
    """The text, if it is valid for that kind; otherwise raises `RepositoryError`."""
    if reason := form_fault(kind, text):
        shown = repr(re.sub(r"//[^/]*@", "//…@", text))[:120]  # escaped, short, and without a password
        raise RepositoryError(f"the {kind} {shown} is refused: {reason}", code=Exit.INVALID)
    return text
