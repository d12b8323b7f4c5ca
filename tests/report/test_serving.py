import threading
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
