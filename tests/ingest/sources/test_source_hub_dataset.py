import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from types import SimpleNamespace

import huggingface_hub
import pytest

from ingest.sources.hub import REPOBENCH_FILES, open_hub
from ingest.sources.tree import Source
from lake.errors import Exit, GoldspanError
from tests.ingest.sources.git_remotes import serving
from tests.tiny import put


class FakeHub:
    def __init__(self, monkeypatch: pytest.MonkeyPatch, files: Mapping[str, bytes], commit: str) -> None:
        self.files, self.commit = files, commit
        self.is_there = True
        self.asked: list[tuple[str, ...]] = []

        def dataset_info(_: object, dataset: str, *, revision: str, **__: object) -> SimpleNamespace:
            self._answer(dataset, revision)
            siblings = [SimpleNamespace(rfilename=path, size=len(data)) for path, data in self.files.items()]
            return SimpleNamespace(sha=self.commit, siblings=siblings)

        def snapshot_download(
            dataset: str, *, revision: str, cache_dir: Path, allow_patterns: list[str], **_: object
        ) -> str:
            self._answer(dataset, *allow_patterns, revision)
            put(cache_dir / revision / allow_patterns[0], self.files[allow_patterns[0]])
            return str(cache_dir / revision)

        monkeypatch.setattr(huggingface_hub.HfApi, "dataset_info", dataset_info)
        monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot_download)

    def _answer(self, *request: str) -> None:
        self.asked.append(request)
        if not self.is_there:
            message = "no route to host"
            raise ConnectionError(message)


ROOT = Path(__file__).parents[3]
NAME, FILES = "tianyang/repobench-r", sorted(REPOBENCH_FILES)
OLD, NEW = "a" * 40, "b" * 40


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> FakeHub:
    return FakeHub(monkeypatch, {**dict.fromkeys(FILES, b"rows"), "README.md": b"# Rows"}, OLD)


def _source(cache: Path) -> Source:
    return open_hub("repobench-r", cache)


def _read(source: Source, name: str = "data/python_cff.gz") -> bytes:
    tree = source.find(".")
    assert tree is not None
    return {entry.path: entry for entry in tree.entries}[name].read()


def test_the_branch_is_resolved_once_and_later_runs_keep_to_its_commit(hub: FakeHub, tmp_path: Path) -> None:
    assert _source(tmp_path).revision == f"{NAME}@{OLD}"
    hub.commit = NEW
    assert _source(tmp_path).revision == f"{NAME}@{OLD}"
    assert _read(_source(tmp_path)) == b"rows"
    # No file but the one that is read is fetched.
    assert hub.asked == [(NAME, "main"), (NAME, "data/python_cff.gz", OLD)]
    tree = _source(tmp_path).find(".")
    assert tree is not None
    assert [entry.path for entry in tree.entries] == FILES
    # Without its record the branch is resolved anew.
    (tmp_path / "tianyang--repobench-r.json").unlink()
    assert _source(tmp_path).revision == f"{NAME}@{NEW}"


def test_offline_is_one_error_that_says_what_into_which_folder_and_what_instead(hub: FakeHub, tmp_path: Path) -> None:
    hub.is_there = False
    with pytest.raises(GoldspanError) as caught:
        _source(tmp_path).find(".")
    assert caught.value.code == Exit.MISSING
    message = str(caught.value)
    for word in (NAME, str(tmp_path / "huggingface"), "no route to host", "SOURCE=<folder>", "SOURCE=sample"):
        assert word in message
    assert len(message.splitlines()) <= 10
    assert list(tmp_path.iterdir()) == []
    hub.is_there = True
    _read(_source(tmp_path), "data/java_cff.gz")
    hub.is_there = False
    with pytest.raises(GoldspanError, match=r"data/python_cff\.gz of tianyang/repobench-r cannot be downloaded"):
        _read(_source(tmp_path))


CHILD = """
import sys
from pathlib import Path
from ingest.commands.read import open_source
from lake.errors import GoldspanError

try:
    source = open_source("hub", "repobench-r", cache=Path(sys.argv[1]))
    print(source.revision)
    print({entry.path: entry for entry in source.find(".").entries}[sys.argv[2]].read())
except GoldspanError as error:
    print(error)
    sys.exit(error.code)
"""


def _child(cache: Path, name: str = "data/python_cff.gz", **settings: str) -> tuple[int, str, str]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("HF_", "HUGGING"))}
    # A home of its own: whatever the hub's library keeps or reads there is not the user's.
    environment |= {"HF_HOME": str(cache / "home"), "no_proxy": "*", **settings}
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(cache), name],
        cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


class Publisher(BaseHTTPRequestHandler):
    """What the hub's library asks a hub for: what a revision is, and one file of it."""

    asked: list[str]

    def do_GET(self) -> None:
        self.asked.append(f"{self.command} {self.path}")
        if self.path.startswith(f"/api/datasets/{NAME}/revision/"):
            siblings = [{"rfilename": path, "size": 4} for path in FILES]
            self._send(json.dumps({"id": NAME, "sha": OLD, "siblings": siblings}).encode())
        elif self.path.startswith(f"/api/datasets/{NAME}/tree/{OLD}"):
            paths = [path for path in FILES if path != "data/java_cff.gz"]
            listed = [{"type": "file", "path": path, "size": 4, "oid": "0" * 40} for path in paths]
            self._send(json.dumps(listed).encode())
        elif self.path == f"/datasets/{NAME}/resolve/{OLD}/data/python_cff.gz":
            self._send(b"rows")
        else:
            self.send_response(404)
            self.send_header("X-Error-Code", "EntryNotFound")
            self.send_header("Content-Length", "0")
            self.end_headers()

    do_HEAD = do_GET  # noqa: N815

    def _send(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("ETag", f'"{hashlib.sha256(body).hexdigest()}"')
        self.send_header("X-Repo-Commit", OLD)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)


@pytest.fixture
def publisher() -> Iterator[tuple[str, list[str]]]:
    requests: list[str] = []
    with serving(type("Handler", (Publisher,), {"asked": requests})) as url:
        yield url, requests


def test_offline_nothing_is_requested_and_one_error_says_so(publisher: tuple[str, list[str]], tmp_path: Path) -> None:
    endpoint, requests = publisher
    code, out, err = _child(tmp_path, HF_ENDPOINT=endpoint, HF_HUB_OFFLINE="1")
    assert requests == []
    assert (code, err) == (Exit.MISSING, "")
    assert out.startswith(f"the commit of {NAME} cannot be downloaded: ")
    assert f"where: dataset {NAME} of the Hugging Face hub" in out
    assert "offline mode is enabled" in out
    assert len(out.splitlines()) <= 10


def test_the_hubs_library_downloads_and_finds_it_again(publisher: tuple[str, list[str]], tmp_path: Path) -> None:
    endpoint, requests = publisher
    code, out, err = _child(tmp_path, HF_ENDPOINT=endpoint)
    assert code == 0, out + err
    assert out.splitlines() == [f"{NAME}@{OLD}", "b'rows'"]
    requests.clear()
    code, out, err = _child(tmp_path, HF_ENDPOINT=endpoint, HF_HUB_OFFLINE="1")
    assert (code, out.splitlines()[-1], requests) == (0, "b'rows'", [])
