from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.conftest import served, watching

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

BOARD = "[data-protocol]:not([hidden]) table.board"


class Visitor:
    """A visitor who has just opened the overview (`page`), with the number of clicks so far."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.clicks = 0

    def click(self, what: Locator) -> None:
        """One click; to choose from a list is one too."""
        self.clicks += 1
        what.click()

    def go(self, entry: str) -> None:
        with self.page.expect_navigation():
            self.click(self.page.get_by_role("navigation", name="Pages").get_by_role("link", name=entry, exact=True))

    def copied(self) -> str:
        self.page.locator("[role=status]", has_text="Copied").first.wait_for(state="attached")
        return str(self.page.evaluate("navigator.clipboard.readText()"))


@pytest.fixture
def visitor(browser: Browser, wide_site: Path, scheme: str) -> Iterator[Visitor]:
    with served(wide_site, scheme) as base, watching(browser, base) as opened:
        allowed = ["clipboard-read", "clipboard-write"]
        yield Visitor(opened("index.html", permissions=allowed, viewport={"width": 1280, "height": 852}))


def test_the_best_chunker_at_a_budget_and_whether_it_is_really_better(visitor: Visitor) -> None:
    from playwright.sync_api import expect

    visitor.go("RepoEval")
    visitor.click(visitor.page.get_by_role("radio", name="2k", exact=True).first)
    expect(visitor.page.locator(f"{BOARD} caption")).to_contain_text("2,000")
    row = visitor.page.locator(f"{BOARD} tbody tr").first
    assert "fixed-nws-" in (row.text_content() or "").replace("\u200b", "")
    # Its number, its interval, and what it is to the reference.
    assert len(row.locator("small").all()) >= 2
    assert visitor.clicks == 2


def test_whether_an_agent_beats_bm25_by_file_and_by_line_is_on_the_overview(visitor: Visitor) -> None:
    card = (visitor.page.locator(".card", has_text="ContextBench").text_content() or "").lower()
    for words in ("agent", "bm25", "line", "file"):
        assert words in card
    assert visitor.clicks == 0


def test_why_a_system_lost_an_item(visitor: Visitor) -> None:
    visitor.go("ContextBench")
    visitor.click(visitor.page.locator(f"{BOARD} tbody th a").first)
    visitor.click(visitor.page.locator("a[href*='items/'][href*='item=']").first)
    visitor.page.wait_for_selector("#one:not([hidden]) h1")
    text = visitor.page.locator("#one").text_content() or ""
    assert "gold" in text.lower()
    assert visitor.clicks == 3


def test_latex_of_the_five_best(visitor: Visitor) -> None:
    visitor.go("RepoEval")
    visitor.click(visitor.page.get_by_role("button", name="LaTeX of the top 5").first)
    text = visitor.copied()
    assert text.lstrip().startswith(("\\begin", "%"))
    assert sum(line.rstrip().endswith("\\\\") for line in text.splitlines()) in (6, 7)
    assert visitor.clicks == 2


def test_scores_per_item_in_pandas(visitor: Visitor) -> None:
    visitor.go("Data")
    snippets = visitor.page.locator("code[data-library=pandas]").all_text_contents()
    assert any("scores" in text and "item_id" in text for text in snippets)
    assert visitor.clicks == 1


def test_which_items_flipped_between_two_systems(visitor: Visitor) -> None:
    visitor.go("Compare")
    visitor.page.wait_for_selector("#flips-table tbody tr")
    assert visitor.page.locator("#flips-table tbody tr a").count() > 0
    assert visitor.clicks <= 3


def test_publishing_submitting_and_a_gate_are_copied_from_one_page(visitor: Visitor) -> None:
    visitor.go("Submit")
    assert visitor.page.locator("#three code[data-command]").count() == 3
    for part, words in (("#publish", "deploy-pages"), ("#gate", "--fail-if")):
        assert words in (visitor.page.locator(f"{part} pre").text_content() or "")
    assert visitor.clicks == 1
