from pathlib import Path

import pytest

from tests.browser.conftest import Opened, built
from tests.browser.visits import OPEN_DETAILS, kinds_of_pages
from tests.report.wide_lake import write_wide

SCREEN = {"width": 1280, "height": 852}
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
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory, "many", lambda root: write_wide(root, n_items=6 * N_REPOSITORIES, n_systems=8))


def test_the_answer_and_where_the_gold_went_are_on_the_first_screen(opened: Opened) -> None:
    page = opened("index.html", viewport=SCREEN)
    for part in (page.locator(".cards"), page.locator(".ledger .bars").first):
        box = part.bounding_box()
        assert box
        assert box["y"] + box["height"] <= SCREEN["height"]


def test_each_part_of_a_bar_opens_the_items_whose_gold_went_that_way(opened: Opened) -> None:
    page = opened("index.html", viewport=SCREEN)
    parts = page.locator(".bars .bar a")
    assert parts.count() == page.locator(".bars .bar > *").count() > 0
    assert min(parts.evaluate_all("links => links.map(link => link.getBoundingClientRect().width)")) > 23.9
    name = parts.first.get_attribute("class")
    parts.first.click()
    page.wait_for_url(f"**/items/*#ledger=*/{name}")


def test_no_table_is_wider_than_its_box(opened: Opened, site: Path) -> None:
    for name in kinds_of_pages(site):
        for width, height in ((1280, 900), (390, 844)):
            page = opened(name, viewport={"width": width, "height": height})
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
