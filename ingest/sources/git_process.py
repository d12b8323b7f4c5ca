"""Git commands in one bare repository: no prompts, no hooks, no settings from outside, an end to waiting."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from lake.errors import Exit, GoldspanError

LOCAL_SECONDS = 300.0
"""How long a command may take that asks no server."""
WAITING_SECONDS = 10.0
"""How often one who waits for a command hears that it still runs."""

_BLOCK = 1 << 16

_SETTINGS = (
    f"core.hooksPath={os.devnull}",
    "core.fsmonitor=false",
    "credential.helper=",
    "fetch.recurseSubmodules=false",
    # What arrives stays one pack, however small, and nothing tidies up behind our back.
    "fetch.unpackLimit=1",
    "gc.auto=0",
    "maintenance.auto=false",
    # A server that goes quiet is hung up on.
    "http.lowSpeedLimit=1000",
    "http.lowSpeedTime=60",
)

_ENVIRONMENT = {
    "GCM_INTERACTIVE": "never",
    "GIT_ALLOW_PROTOCOL": "https:http:file",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES": "",
    "GIT_ASKPASS": "",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_CONFIG_COUNT": "0",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_PARAMETERS": "",
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_NAMESPACE": "",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_TEMPLATE_DIR": "",
    "GIT_TERMINAL_PROMPT": "0",
    # What git says is understood by its English words.
    "LC_ALL": "C",
    "LANGUAGE": "C",
    "SSH_ASKPASS": "",
}


@dataclass(frozen=True)
class Said:
    """What a git command answered.

    Attributes:
        code: Its exit status.
        out: Its standard output.
        err: What it complained of.
    """

    code: int
    out: bytes
    err: str

    @property
    def reason(self) -> str:
        """The line of its complaint that says most."""
        lines = [line.strip() for line in self.err.splitlines() if line.strip()]
        fatal = [line for line in lines if line.startswith(("fatal:", "error:", "remote:", "ERROR:"))]
        return (fatal or lines or [f"git ended with status {self.code}"])[0].partition(": ")[2 if fatal else 0][:300]

    def complains(self, *parts: str) -> bool:
        """Whether it complained of something, in lower case."""
        return any(part in self.err.lower() for part in parts)


class TookTooLongError(Exception):
    """A git command was ended, with all it had started, because its time was up."""


class DamagedError(Exception):
    """A repository in the cache does not hold what it should: it is to be made anew."""


@dataclass(frozen=True)
class GitProcess:
    """Git in one bare repository, a folder, which need not exist yet; a missing object is never fetched unasked."""

    folder: Path

    def make(self) -> None:
        """Make an empty repository where nothing is; an `OSError` says why it cannot be written."""
        self.folder.mkdir(parents=True)
        said = self.run("init", "--quiet", "--bare", "--initial-branch=main")
        if said.code:
            raise OSError(said.reason)

    def run(
        self,
        *arguments: str,
        settings: Sequence[str] = (),
        given: bytes = b"",
        timeout: float = LOCAL_SECONDS,
        waiting: Callable[[float], None] = lambda _: None,
    ) -> Said:
        """Run one command to its end.

        Args:
            arguments: The command and what it is given.
            settings: Such as `remote.origin.promisor=true`, for this command alone.
            given: Its standard input.
            timeout: Seconds after which it and all it started are killed.
            waiting: Told now and then for how many seconds it has been running.

        Raises:
            TookTooLongError: Its time was up.
            GoldspanError: There is no git on this machine.
        """
        started = time.monotonic()
        with self._started(arguments, settings) as process:
            while True:
                left = timeout - (time.monotonic() - started)
                try:
                    out, err = process.communicate(given, timeout=max(0.0, min(left, WAITING_SECONDS)))
                except subprocess.TimeoutExpired as error:
                    if left <= WAITING_SECONDS:
                        raise _took_too_long(arguments, timeout) from error
                    waiting(time.monotonic() - started)
                else:
                    return Said(process.returncode, out, err.decode(errors="replace"))

    def records(self, *arguments: str, timeout: float) -> Iterator[bytes]:
        """What a command prints between zero bytes, as it prints it; one that is asked no further is ended.

        Raises:
            TookTooLongError: Its time was up.
            DamagedError: It ended with a complaint.
            GoldspanError: There is no git on this machine.
        """
        end = time.monotonic() + timeout
        with self._started(arguments) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            rest = b""
            while block := process.stdout.read1(_BLOCK):  # type: ignore[attr-defined]  # a pipe is buffered
                if time.monotonic() > end:
                    raise _took_too_long(arguments, timeout)
                *whole, rest = (rest + block).split(b"\0")
                yield from whole
            err = process.stderr.read().decode(errors="replace")
            if code := process.wait():
                raise DamagedError(Said(code, b"", err).reason)

    def contents(self, ids: Iterable[str]) -> Iterator[bytes]:
        """Contents by their git ids, one in memory at a time.

        Raises:
            DamagedError: One is not there, or is damaged.
        """
        # Imported when needed: GitPython looks for git when it is imported.
        from git import Git

        # What GitPython keeps open for it reads as long as somebody asks.
        git = Git()
        git.update_environment(**self._environment)
        git.set_persistent_git_options(git_dir=str(self.folder), c=list(_SETTINGS))
        for wanted in ids:
            try:
                _, _, size, data = git.get_object_data(wanted)
            except (ValueError, OSError) as error:
                raise DamagedError(str(error)) from error
            if len(data) != size:
                raise DamagedError(f"the content {wanted} is damaged")
            yield data

    def commit_of(self, name: str) -> str | None:
        """The commit that a ref or an id names; None where there is none."""
        said = self.run("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
        return said.out.decode().strip() if said.code == 0 else None

    def damage(self) -> str:
        """What is wrong with what is stored; empty where all that is here can be listed."""
        listed = self.run("cat-file", "--batch-all-objects", "--batch-check")
        shallow = self.run("rev-parse", "--is-shallow-repository")
        return next((said.reason for said in (listed, shallow) if said.code or said.err), "")

    @property
    def _environment(self) -> dict[str, str]:
        objects = {"GIT_OBJECT_DIRECTORY": str(self.folder / "objects"), "GIT_COMMON_DIR": str(self.folder)}
        return {**_ENVIRONMENT, **objects}

    @contextmanager
    def _started(self, arguments: Sequence[str], settings: Sequence[str] = ()) -> Iterator[subprocess.Popen[bytes]]:
        """A command, of whose group nothing is left running if this is left before its end."""
        named = [part for setting in (*_SETTINGS, *settings) for part in ("-c", setting)]
        command, pipe = ["git", *named, f"--git-dir={self.folder}", *arguments], subprocess.PIPE
        environment = {**os.environ, **self._environment}
        # Where it stands, nothing bare is made.
        environment.pop("GIT_WORK_TREE", None)
        try:
            process = subprocess.Popen(
                command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment, start_new_session=True
            )
        except FileNotFoundError as error:
            what = "repositories are read by git, and there is no git on this machine"
            hint = "Install git 2.32 or newer, or use data that brings its files."
            raise GoldspanError(what, hint=hint, code=Exit.MISSING) from error
        with process:
            try:
                yield process
            except BaseException:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                raise


def _took_too_long(arguments: Sequence[str], timeout: float) -> TookTooLongError:
    return TookTooLongError(f"git {arguments[0]} took longer than {timeout:g} seconds")
