from pathlib import Path

import pytest

from tests.browser.conftest import N_SYSTEMS
from tests.browser.visits import parsed
from tests.report.html import Element

LEADERBOARDS = ("contextbench.html", "repobench-r.html", "repoeval.html")
LIMITS = {"index.html": 200, "methods.html": 300, "compare.html": 150, **dict.fromkeys(LEADERBOARDS, 350)}
OF_FOLDERS = {"systems": 300, "items": 80}
"""Thousands of bytes, with the scripts, styles and pictures that a page names."""


@pytest.fixture(scope="session")
def pages(wide_site: Path) -> dict[str, Element]:
    return parsed(wide_site)


def weight(site: Path, name: str, page: Element) -> int:
    loaded = [each.attributes.get("src") for each in page.all() if each.tag in ("script", "img")]
    loaded += [each.attributes.get("href") for each in page.all("link")]
    files = {site / name, *((site / name).parent / address for address in loaded if address)}
    return sum(path.stat().st_size for path in files)


def test_every_page_is_as_light_as_it_must_be(wide_site: Path, pages: dict[str, Element]) -> None:
    limits = {name: LIMITS.get(name, OF_FOLDERS.get(name.partition("/")[0])) for name in pages}
    heavy = {
        name: weight(wide_site, name, page)
        for name, page in pages.items()
        if (limit := limits[name]) is not None and weight(wide_site, name, page) > limit * 1000
    }
    assert heavy == {}


def test_every_system_has_a_row_on_a_leaderboard_or_its_plain_page(pages: dict[str, Element]) -> None:
    for name in LEADERBOARDS:
        linked = {str(each.attributes.get("href") or "").partition("#")[0] for each in pages[name].all("a")}
        listed = [page for page in {name, *linked} if page in pages and "/" not in page]
        rows = [row for page in listed for row in pages[page].all("tr") if row.all("td")]
        shown = {link.attributes.get("href") for row in rows for link in row.all("th")[0].all("a")}
        systems = {path for path, page in pages.items() if path.startswith("systems/") and _is_on(page, name)}
        assert len(systems) == N_SYSTEMS
        assert systems - shown == set()


def _is_on(page: Element, leaderboard: str) -> bool:
    return any(
        str(each.attributes.get("href") or "").startswith(f"../{leaderboard}") for each in page.all("main")[0].all("a")
    )
