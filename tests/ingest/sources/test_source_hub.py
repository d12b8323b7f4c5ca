import hashlib
import io
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from ingest.sources.hub import archive_source
from ingest.sources.repository import git_blob_id
from ingest.sources.tree import Source
from lake.errors import Exit, GoldspanError
from tests.ingest.sources.git_remotes import serving
from tests.tiny import refused


def _made_zip() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("a.jsonl", b"{}\r\n" * 60_000)
    return made.getvalue()


ARCHIVE = _made_zip()
BLOB_ID = hashlib.sha1(b"blob %d\0" % len(ARCHIVE) + ARCHIVE, usedforsecurity=False).hexdigest()
PATH = "/owner/name/c0ffee/Sub/datasets/datasets.zip"


class Publisher:
    """A server that may break off or send something else, and counts what it was asked."""

    content = ARCHIVE
    base = ""

    def __init__(self) -> None:
        self.breaks_after: list[int] = []
        self.n_asked = 0

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        self.n_asked += 1
        if request.path != PATH:
            request.send_error(404)
            return
        request.send_response(200)
        request.send_header("Content-Length", str(len(self.content)))
        request.end_headers()
        request.wfile.write(self.content[: self.breaks_after.pop(0)] if self.breaks_after else self.content)


@pytest.fixture
def publisher(monkeypatch: pytest.MonkeyPatch) -> Iterator[Publisher]:
    monkeypatch.setenv("no_proxy", "*")
    made = Publisher()
    answer = {"do_GET": lambda request: made.answer(request)}
    with serving(type("Handler", (BaseHTTPRequestHandler,), answer)) as made.base:
        yield made


def _source(base: str, cache: Path, messages: list[str] | None = None) -> Source:
    archives = {
        "datasets": ("Sub/datasets/datasets.zip", BLOB_ID),
        "repositories/function_level": ("Sub/repositories/function_level.zip", "0" * 40),
    }
    say = None if messages is None else messages.append
    return archive_source("repoeval", cache, say, "owner/name", "c0ffee", archives, base)


def _read(source: Source) -> bytes:
    tree = source.find("datasets")
    assert tree is not None
    assert tree.location == "Sub/datasets/datasets.zip"
    return tree.entries[0].read()


def test_an_archive_is_downloaded_checked_and_read(publisher: Publisher, tmp_path: Path) -> None:
    messages: list[str] = []
    source = _source(publisher.base, tmp_path / "cache", messages)
    assert _read(source) == b"{}\r\n" * 60_000
    assert [file.name for file in (tmp_path / "cache").iterdir()] == [BLOB_ID]
    assert messages == ["downloading Sub/datasets/datasets.zip"]
    assert (source.name, source.label, source.revision) == ("hub", "", "owner/name@c0ffee")


def test_what_is_in_the_cache_is_not_asked_for_again(publisher: Publisher, tmp_path: Path) -> None:
    _read(_source(publisher.base, tmp_path))
    _read(_source(publisher.base, tmp_path))
    assert publisher.n_asked == 1


def test_a_cached_file_that_was_changed_is_downloaded_anew(publisher: Publisher, tmp_path: Path) -> None:
    (tmp_path / BLOB_ID).write_bytes(b"something else")
    assert _read(_source(publisher.base, tmp_path)) == b"{}\r\n" * 60_000
    assert git_blob_id((tmp_path / BLOB_ID).read_bytes()) == BLOB_ID


def test_a_connection_that_breaks_off_is_tried_again(publisher: Publisher, tmp_path: Path) -> None:
    publisher.breaks_after = [100_000, 50_000]
    assert _read(_source(publisher.base, tmp_path)) == b"{}\r\n" * 60_000
    assert publisher.n_asked == 3


def test_content_that_is_not_the_pinned_file_is_refused_and_removed(publisher: Publisher, tmp_path: Path) -> None:
    publisher.content = ARCHIVE[:-1] + b"X"
    with refused("is not the pinned file", Exit.INVALID) as caught:
        _source(publisher.base, tmp_path).find("datasets")
    assert BLOB_ID in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_file_the_server_does_not_have_says_so(publisher: Publisher, tmp_path: Path) -> None:
    with refused("function_level.zip cannot be downloaded: .*404 Not Found", Exit.MISSING):
        _source(publisher.base, tmp_path).find("repositories/function_level")


def test_offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setenv("no_proxy", "*")
    base = "http://127.0.0.1:9"  # nothing listens there
    with pytest.raises(GoldspanError) as caught:
        _source(base, tmp_path).find("datasets")
    assert caught.value.code == Exit.MISSING
    message = str(caught.value)
    for word in (f"{base}{PATH}", "Sub/datasets/datasets.zip", "Sub/repositories/function_level.zip", "SOURCE=sample"):
        assert word in message
    assert len(message.splitlines()) <= 10
    assert caplog.text == ""


def test_a_cache_that_cannot_be_written_is_an_error_that_names_it(publisher: Publisher, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(GoldspanError, match=r"datasets\.zip cannot be downloaded: .*(File exists|Not a directory)"):
        _source(publisher.base, tmp_path / "file").find("datasets")
