import threading
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from lake.errors import Exit
from report.commands.build import HOST, server_of
from tests.tiny import command, put, refused


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return put(tmp_path / "site" / "index.html", b"<p>boats").parent


def test_the_site_is_served(site: Path) -> None:
    with server_of(site, 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with urllib.request.urlopen(f"http://{HOST}:{server.server_port}/", timeout=10) as answer:
            assert answer.read() == b"<p>boats"
        server.shutdown()


@pytest.mark.parametrize("path", ["%00", "a%00b/", "%ed%a0%80", "x" * 5_000])
def test_a_name_that_no_file_can_have_is_not_found(site: Path, path: str, capfd: pytest.CaptureFixture[str]) -> None:
    with server_of(site, 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with pytest.raises(urllib.error.HTTPError) as answered:
            urllib.request.urlopen(f"http://{HOST}:{server.server_port}/{path}", timeout=10)
        server.shutdown()
    assert answered.value.code == 404
    answered.value.close()
    assert "Traceback" not in capfd.readouterr().err


def test_a_port_in_use_is_a_sentence(site: Path) -> None:
    with server_of(site, 0) as server:
        said = command("report", "serve", "--site", site, "--port", server.server_port)
    assert (said.code, said.out) == (Exit.ERROR, "")
    assert (
        said.err == f"report: port {server.server_port} is in use\n  Choose another: make serve SITE={site} PORT=8001\n"
    )


def test_without_a_site_it_says_how_to_build_one(tmp_path: Path) -> None:
    with refused("holds no site", Exit.MISSING):
        server_of(tmp_path, 0)
