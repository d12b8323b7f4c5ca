"""A dataset on the Hugging Face hub: its commit resolved once, its files fetched when read, one error when offline."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from ingest.commands.open_source import open_source
from ingest.sources.download import UnreachableError
from ingest.sources.hub import DATASETS, Dataset, DatasetSource, HuggingFace, open_hub
from ingest.sources.tree import Progress
from lake.errors import Exit, GoldspanError

ROOT = Path(__file__).parents[3]
NAME = DATASETS["repobench-r"].name
FILES = sorted(DATASETS["repobench-r"].endings)
OLD, NEW = "a" * 40, "b" * 40


class FakeHub(HuggingFace):
    """A hub whose branch moves when told, and that remembers what it was asked."""

    def __init__(self) -> None:
        self.commit = OLD
        self.is_there = True
        self.content = b"rows"
        self.asked: list[tuple[str, ...]] = []

    def resolve(self, dataset: str, revision: str) -> tuple[str, dict[str, int]]:
        self.asked.append((dataset, revision))
        self._answer()
        return (self.commit if revision == "main" else revision), {**dict.fromkeys(FILES, 4), "README.md": 7}

    def fetch(self, dataset: str, path: str, commit: str, cache: Path) -> Path:
        self.asked.append((dataset, path, commit))
        self._answer()
        cache.mkdir(parents=True, exist_ok=True)
        file = cache / path.replace("/", "--")
        file.write_bytes(self.content)
        return file

    def _answer(self) -> None:
        if not self.is_there:
            message = "no route to host"
            raise UnreachableError(message)


@pytest.fixture
def hub() -> FakeHub:
    return FakeHub()


def _source(hub: FakeHub, cache: Path, commit: str = "") -> DatasetSource:
    dataset = Dataset(NAME, DATASETS["repobench-r"].endings, commit)
    return DatasetSource("repobench-r", dataset, cache, hub, name="hub")


def _read(source: DatasetSource, name: str = "data/python_cff.gz") -> bytes:
    tree = source.tree(".")
    assert tree is not None
    return {entry.path: entry for entry in tree.entries}[name].read()


def test_the_branch_is_resolved_once_and_later_runs_keep_to_its_commit(hub: FakeHub, tmp_path: Path) -> None:
    assert _source(hub, tmp_path).revision == f"{NAME}@{OLD}"
    hub.commit = NEW
    assert _source(hub, tmp_path).revision == f"{NAME}@{OLD}"
    _read(_source(hub, tmp_path))
    assert hub.asked == [(NAME, "main"), (NAME, "data/python_cff.gz", OLD)]
    record = json.loads((tmp_path / "tianyang--repobench-r.json").read_text())
    assert record == {
        "dataset": NAME,
        "commit": OLD,
        "sha256": {"data/python_cff.gz": hashlib.sha256(b"rows").hexdigest()},
        "sizes": {**dict.fromkeys(FILES, 4), "README.md": 7},
    }


def test_deleting_the_record_resolves_the_branch_anew(hub: FakeHub, tmp_path: Path) -> None:
    _read(_source(hub, tmp_path))
    hub.commit, hub.content = NEW, b"other"
    (tmp_path / "tianyang--repobench-r.json").unlink()
    source = _source(hub, tmp_path)
    assert source.revision == f"{NAME}@{NEW}"
    assert _read(source) == b"other"


def test_a_pinned_commit_stands_whatever_was_recorded(hub: FakeHub, tmp_path: Path) -> None:
    _read(_source(hub, tmp_path))
    hub.asked.clear()
    hub.content = b"other"
    pinned = _source(hub, tmp_path, commit=NEW)
    assert pinned.revision == f"{NAME}@{NEW}"
    assert _read(pinned) == b"other"
    assert hub.asked == [(NAME, NEW), (NAME, "data/python_cff.gz", NEW)]
    assert _source(hub, tmp_path).revision == f"{NAME}@{NEW}"


def test_only_the_file_that_is_read_is_fetched(hub: FakeHub, tmp_path: Path) -> None:
    source = _source(hub, tmp_path)
    tree = source.tree("nowhere", "data", ".")
    assert tree is not None
    assert [(entry.path, entry.size) for entry in tree.entries] == [(path, 4) for path in FILES]
    assert len(hub.asked) == 1
    assert _read(source, "data/java_cfr.gz") == b"rows"
    assert hub.asked[1:] == [(NAME, "data/java_cfr.gz", OLD)]


def test_a_file_that_is_not_the_one_that_came_first_is_refused(hub: FakeHub, tmp_path: Path) -> None:
    _read(_source(hub, tmp_path))
    hub.content = b"rowS"
    with pytest.raises(GoldspanError, match="is not the file that came first") as caught:
        _read(_source(hub, tmp_path))
    assert caught.value.code == Exit.INVALID
    for word in ("data/python_cff.gz", OLD, hashlib.sha256(b"rows").hexdigest(), "tianyang--repobench-r.json"):
        assert word in str(caught.value)


def test_a_record_that_cannot_be_read_is_named(hub: FakeHub, tmp_path: Path) -> None:
    (tmp_path / "tianyang--repobench-r.json").write_text('{"commit": 3}')
    with pytest.raises(GoldspanError, match="cannot be read") as caught:
        _ = _source(hub, tmp_path).revision
    assert caught.value.code == Exit.INVALID
    assert "tianyang--repobench-r.json" in str(caught.value)


def test_offline_is_one_error_that_says_what_into_which_folder_and_what_instead(hub: FakeHub, tmp_path: Path) -> None:
    hub.is_there = False
    with pytest.raises(GoldspanError) as caught:
        _source(hub, tmp_path).tree(".")
    assert caught.value.code == Exit.MISSING
    message = str(caught.value)
    for word in (NAME, str(tmp_path / "huggingface"), "no route to host", "SOURCE=<folder>", "SOURCE=sample"):
        assert word in message
    assert len(message.splitlines()) <= 10
    assert list(tmp_path.iterdir()) == []
    hub.is_there = True
    _read(_source(hub, tmp_path), "data/java_cff.gz")
    hub.is_there = False
    with pytest.raises(GoldspanError, match=r"data/python_cff\.gz of tianyang/repobench-r cannot be had"):
        _read(_source(hub, tmp_path))


def test_a_cache_that_cannot_be_written_is_an_error_that_names_it(hub: FakeHub, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(GoldspanError, match="the cache cannot be used") as caught:
        _ = _source(hub, tmp_path / "file" / "cache").revision
    assert caught.value.code == Exit.ERROR


def test_opening_asks_nothing_and_makes_no_folder(tmp_path: Path) -> None:
    for source in (
        open_hub("repobench-r", tmp_path / "cache"),
        open_source("hub", "repobench-r", cache=tmp_path / "cache"),
    ):
        assert isinstance(source, DatasetSource)
        assert (source.name, source.label, source.licences) == ("hub", "", {})
    assert not (tmp_path / "cache").exists()


CHILD = """
import sys
from pathlib import Path
from ingest.commands.open_source import open_source
from lake.errors import GoldspanError

source = open_source("hub", "repobench-r", cache=Path(sys.argv[1]))
try:
    print(source.revision)
    print([entry.size for entry in source.tree(".").entries])
    print({entry.path: entry for entry in source.tree(".").entries}[sys.argv[2]].read())
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
        cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60, check=False,
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

    def log_message(self, *args: object) -> None:
        """Quiet."""


@pytest.fixture
def publisher() -> Iterator[tuple[str, list[str]]]:
    asked: list[str] = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (Publisher,), {"asked": asked}))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    server.server_close()
    thread.join()


def test_offline_nothing_is_requested_and_one_error_says_so(publisher: tuple[str, list[str]], tmp_path: Path) -> None:
    endpoint, requests = publisher
    code, out, err = _child(tmp_path, HF_ENDPOINT=endpoint, HF_HUB_OFFLINE="1")
    assert requests == []
    assert (code, err) == (Exit.MISSING, "")
    assert out.startswith(f"the commit of {NAME} cannot be had from the Hugging Face hub: ")
    assert "offline mode is enabled" in out
    assert len(out.splitlines()) <= 10


def test_the_hubs_own_library_resolves_downloads_and_finds_it_again_without_asking(
    publisher: tuple[str, list[str]], tmp_path: Path
) -> None:
    endpoint, asked = publisher
    code, out, err = _child(tmp_path, HF_ENDPOINT=endpoint)
    assert code == 0, out + err
    assert out.splitlines() == [
        f"{NAME}@{OLD}",
        "[4, 4, 4, 4]",
        "b'rows'",
    ]
    asked.clear()
    code, out, err = _child(tmp_path, HF_ENDPOINT=endpoint, HF_HUB_OFFLINE="1")
    assert (code, out.splitlines()[-1], asked) == (0, "b'rows'", [])


def test_a_file_the_dataset_does_not_have_says_so(publisher: tuple[str, list[str]], tmp_path: Path) -> None:
    code, out, err = _child(tmp_path, "data/java_cff.gz", HF_ENDPOINT=publisher[0])
    assert code == Exit.MISSING, err
    assert f"data/java_cff.gz of {NAME} cannot be had" in out


@pytest.mark.parametrize("progress", [None, lambda *_: None])
def test_bars_are_shown_where_progress_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, progress: Progress | None
) -> None:
    import huggingface_hub
    from huggingface_hub.utils.tqdm import are_progress_bars_disabled, enable_progress_bars

    monkeypatch.setattr(huggingface_hub, "snapshot_download", lambda *_, **__: str(tmp_path))
    source = open_hub("repobench-r", tmp_path / "cache", progress=progress)
    assert isinstance(source, DatasetSource)
    enable_progress_bars()
    try:
        with pytest.raises(UnreachableError):
            source.hub.fetch(NAME, "data/java_cff.gz", OLD, tmp_path)
        assert are_progress_bars_disabled() == (progress is None)
    finally:
        enable_progress_bars()
