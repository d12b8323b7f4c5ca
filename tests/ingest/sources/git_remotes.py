"""Remotes for tests: bare repositories made by git itself, and a `git` on the path that misbehaves as told."""

import os
import shutil
import stat
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from git import Repo

from ingest.rejects import Rejects
from ingest.sources.git import Repositories
from ingest.sources.tree import Repository

Given = tuple[str, str, bytes]
"""Mode, path and content; of a submodule (`160000`) the content is the commit id."""

GIT = shutil.which("git") or "git"


class Remote:
    """A bare repository to fetch from, in a folder `<owner>/<name>`."""

    def __init__(self, base: Path, name: str = "acme/boats") -> None:
        self.repo = Repo.init(base / name, bare=True, mkdir=True, initial_branch="main")
        self.url = f"file://{base / name}"
        with self.repo.config_writer() as settings:
            settings.set_value("user", "name", "A Tester")
            settings.set_value("user", "email", "tester@example.org")

    def commit(self, *files: Given, branch: str = "main") -> str:
        """Put a commit of exactly these files on a branch; its id."""
        index = Path(self.repo.git_dir) / "index"
        index.unlink(missing_ok=True)
        heads = ((f"{mode} {self._object(mode, data)}\t", path) for mode, path, data in files)
        rows = [head.encode() + path.encode(errors="surrogateescape") + b"\0" for head, path in heads]
        self.run("update-index", "-z", "--add", "--index-info", given=b"".join(rows))
        tree = self.run("write-tree")
        commit = self.run("commit-tree", tree, "-m", "made for a test")
        self.run("update-ref", f"refs/heads/{branch}", commit)
        return commit

    def _object(self, mode: str, data: bytes) -> str:
        return data.decode() if mode == "160000" else self.run("hash-object", "-w", "--stdin", given=data)

    def run(self, *arguments: str, given: bytes = b"") -> str:
        process = self.repo.git.execute([GIT, *arguments], as_process=True, istream=-1)
        out, err = process.communicate(given)
        assert process.returncode == 0, err
        printed: str = out.decode().strip()
        return printed


class Waits(list[float]):
    def __call__(self, seconds: float) -> None:
        self.append(seconds)


def repositories(cache: Path, base: Path, messages: list[str] | None = None) -> Repositories:
    """A cache over remotes in a folder, which never waits; its fetches are noted."""
    told = messages if messages is not None else []
    return Repositories(cache, base=f"file://{base}", timeout=60.0, sleep=Waits(), say=told.append)


def contents(repository: Repository) -> dict[str, bytes]:
    return {file.path: file.data for file in repository(Rejects())}


def git_that(folder: Path, monkeypatch: pytest.MonkeyPatch, script: Sequence[str]) -> Path:
    """Put a `git` before the real one on the path: lines of sh, then the real one; a log beside it."""
    folder.mkdir()
    log, program = folder / "log", folder / "git"
    lines = ["#!/bin/sh", f'echo "$@" >> {log}', *script, f'exec {GIT} "$@"', ""]
    program.write_text("\n".join(lines), encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return log


def commands(log: Path, name: str) -> list[str]:
    """The calls of a git command that a log holds."""
    return [line for line in log.read_text(encoding="utf-8").splitlines() if f" {name} " in line]


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """A server on this machine that answers as the handler does, and keeps no log; its address."""
    quiet = type("Handler", (handler,), {"log_message": lambda *_: None})
    server = ThreadingHTTPServer(("127.0.0.1", 0), quiet)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The remotes of a folder below `/scm` of a server on this machine, as git's own program serves them; its URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path, _, query = self.path.partition("?")
            environment = {
                **os.environ,
                "GIT_PROJECT_ROOT": str(folder),
                "GIT_HTTP_EXPORT_ALL": "1",
                "PATH_INFO": path.removeprefix("/scm"),
                "QUERY_STRING": query,
                "REQUEST_METHOD": self.command,
                "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                "HTTP_GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            }
            given = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            answer = subprocess.run([GIT, "http-backend"], input=given, env=environment, stdout=-1, check=True).stdout
            head, _, body = answer.partition(b"\r\n\r\n")
            fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
            self.send_response(int(fields.pop("Status", "200").split(" ")[0]))
            for name, value in fields.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET  # noqa: N815  # as http.server calls it

    with serving(Handler) as url:
        yield url
