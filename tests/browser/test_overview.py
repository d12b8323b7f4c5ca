from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.conftest import Opened, built, served, watching
from tests.report.wide_lake import write_wide

if TYPE_CHECKING:
    from playwright.sync_api import Browser

SCREEN = {"width": 1280, "height": 852}


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory, "few", lambda root: write_wide(root, n_items=16, n_systems=8))


@pytest.fixture
def visit(browser: Browser, few: Path) -> Iterator[Opened]:
    with served(few, "file") as base, watching(browser, base) as opened:
        yield opened


def test_the_answer_and_where_the_gold_went_are_on_the_first_screen(visit: Opened) -> None:
    page = visit("index.html", viewport=SCREEN)
    for part in (page.locator(".cards"), page.locator(".ledger .bars").first):
        box = part.bounding_box()
        assert box
        assert box["y"] + box["height"] <= SCREEN["height"]


def test_each_part_of_a_bar_opens_the_items_whose_gold_went_that_way(visit: Opened) -> None:
    page = visit("index.html", viewport=SCREEN)
    parts = page.locator(".bars .bar a")
    assert parts.count() == page.locator(".bars .bar > *").count() > 0
    assert min(parts.evaluate_all("links => links.map(link => link.getBoundingClientRect().width)")) > 23.9
    name = parts.first.get_attribute("class")
    parts.first.click()
    page.wait_for_url(f"**/items/*#ledger=*/{name}")
