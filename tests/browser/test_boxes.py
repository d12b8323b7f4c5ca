from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.conftest import Opened, built, watching
from tests.browser.visits import OPEN_DETAILS, kinds_of_pages
from tests.report.wide_lake import write_wide

if TYPE_CHECKING:
    from playwright.sync_api import Browser

N_REPOSITORIES = 21
"""As many as ContextBench had at hand, and a column for each."""

WIDER = """() => [...document.querySelectorAll('table')]
  .filter(table => table.offsetParent && table.scrollWidth > table.parentElement.clientWidth + 1)
  .map(table => {
    const box = table.parentElement.getBoundingClientRect();
    const scrolls = getComputedStyle(table.parentElement).overflowX === 'auto' && box.right <= innerWidth;
    return [table.caption.innerText, scrolls, table.matches('[data-main]')];
  })"""


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory, "many", lambda root: write_wide(root, n_items=6 * N_REPOSITORIES, n_systems=8))


@pytest.fixture
def visit(browser: Browser, many: Path) -> Iterator[Opened]:
    with watching(browser, many.as_uri()) as opened:
        yield opened


def test_no_table_is_wider_than_its_box(visit: Opened, many: Path) -> None:
    for name in kinds_of_pages(many):
        for width, height in ((1280, 900), (390, 844)):
            page = visit(name, viewport={"width": width, "height": height})
            page.wait_for_selector("[aria-busy=true]", state="detached")
            page.evaluate(OPEN_DETAILS)
            wider = page.evaluate(WIDER)
            # The page of every number has as many columns as there are.
            if width == 1280 and not name.endswith("-all.html"):
                assert wider == [], name
            # What a telephone has no room for scrolls in its own box; the leaderboard itself fits.
            assert [caption for caption, scrolls, _ in wider if not scrolls] == [], name
            assert [caption for caption, _, is_main in wider if is_main] == [], name
            page.context.close()
