import re
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from lake.errors import Exit, GoldspanError
from lake.store import Lake
from report.build import build
from report.charts.drawing import write_shared_picture
from report.commands.build import HOST, _address, server_of
from tests.tiny import Said, command, put, refused


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return put(tmp_path / "site" / "index.html", b"<p>boats").parent


@pytest.fixture
def address(site: Path) -> Iterator[str]:
    """Where the site is served."""
    with server_of(site, 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://{HOST}:{server.server_port}"
        server.shutdown()


def test_the_site_is_served(address: str) -> None:
    with urllib.request.urlopen(f"{address}/", timeout=60) as answer:
        assert answer.read() == b"<p>boats"


@pytest.mark.parametrize("path", ["%00", "a%00b/", "%ed%a0%80", "x" * 5_000])
def test_a_name_that_no_file_can_have_is_not_found(address: str, path: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(urllib.error.HTTPError) as answered:
        urllib.request.urlopen(f"{address}/{path}", timeout=60)
    assert answered.value.code == 404
    answered.value.close()
    assert "Traceback" not in capfd.readouterr().err


def test_a_port_in_use_is_a_sentence(site: Path) -> None:
    with server_of(site, 0) as server:
        ended = command("report", "serve", "--site", site, "--port", server.server_port)
    choose = f"  Choose another: make serve SITE={site} PORT=8001\n"
    assert ended == Said(Exit.ERROR, "", f"report: port {server.server_port} is in use\n{choose}")


def test_without_a_site_it_says_how_to_build_one(tmp_path: Path) -> None:
    with refused("there is no site in", Exit.MISSING):
        server_of(tmp_path, 0)


META = re.compile(r'<meta (?:name|property)="([a-z:]+)" content="([^"]*)">')


def test_a_shared_picture_has_the_usual_size(tmp_path: Path) -> None:
    write_shared_picture(tmp_path / "a" / "page.png", "A title", "One & <two>.")
    png = (tmp_path / "a" / "page.png").read_bytes()
    assert png.startswith(b"\x89PNG\r\n")
    assert (int.from_bytes(png[16:20]), int.from_bytes(png[20:24])) == (1200, 630)


def test_a_page_without_an_address_says_what_was_found_and_has_no_picture(built: Path) -> None:
    head = (built / "index.html").read_text(encoding="utf-8").partition("</head>")[0]
    meta = dict(META.findall(head))
    assert "RepoEval (sample)" in meta["description"]
    assert "og:image" not in head
    assert not (built / "figures" / "shared").exists()
    assert "canonical" not in head


def test_with_the_sites_address_a_page_says_where_it_is(small: Lake, tmp_path: Path) -> None:
    build(small, tmp_path / "site", url="https://example.org/goldspan/")
    html = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    meta = dict(META.findall(html))
    assert meta["og:image"] == "https://example.org/goldspan/figures/shared/index.png"
    assert (tmp_path / "site" / "figures" / "shared" / "index.png").is_file()
    assert '<link rel="canonical" href="https://example.org/goldspan/index.html">' in html
    # A place for readers elsewhere: nothing of the page itself comes from there.
    assert not re.search(r'<(?:script|img|link rel="(?:stylesheet|icon)")[^>]*https?:', html)
    assert not build(small, tmp_path / "site").is_current


def test_an_address_is_one_of_a_site() -> None:
    addresses = {"": "", "https://a.org": "https://a.org/", "http://a.org/b/": "http://a.org/b/"}
    assert {url: _address(url) for url in addresses} == addresses
    for wrong in ("a.org", "ftp://a.org", "https://a.org/?q", "https:///b"):
        with pytest.raises(GoldspanError, match="is not a web address"):
            _address(wrong)
