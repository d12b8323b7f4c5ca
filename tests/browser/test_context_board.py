"""The granularity and metric switches of a table with many columns: by click, by keyboard, by link."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.conftest import Opened
from tests.report.context_lake import AVERAGES, ELSEWHERE, GRANULARITIES, QUANTITIES

if TYPE_CHECKING:
    from playwright.sync_api import Page

TABLE = "[data-protocol]:not([hidden]) [data-average]:not([hidden]) table"
PAGE = "contextbench.html"


def columns(page: Page) -> list[str]:
    """The measures whose columns are seen."""
    heads = page.locator(f"{TABLE} thead th[data-granularity]:visible")
    return [str(head.get_attribute("data-key")) for head in heads.all()]


def cells(page: Page) -> list[int]:
    """How many cells are seen in each row of the table."""
    script = f"[...document.querySelector('{TABLE}').rows].map(r => [...r.cells].filter(c => !c.hidden).length)"
    return [int(number) for number in page.evaluate(script)]


def test_the_table_starts_with_the_primary_metrics_granularity(opened: Opened) -> None:
    assert columns(opened(PAGE)) == ["line_f1"]
    assert columns(opened(f"{PAGE}#columns=all")) == [f"line_{quantity}" for quantity in QUANTITIES]


def test_a_granularity_shows_its_columns_and_the_one_the_table_is_ordered_by(opened: Opened) -> None:
    page = opened(PAGE)
    page.locator("label:has-text('symbol')").click()
    assert columns(page) == ["line_f1", *(f"symbol_{quantity}" for quantity in QUANTITIES)]
    assert len(set(cells(page)) - {1}) == 1
    assert page.evaluate("location.hash") == "#granularity=symbol"


def test_all_of_one_metric_stand_side_by_side(opened: Opened) -> None:
    page = opened(f"{PAGE}#granularity=all&metric=coverage")
    assert columns(page) == ["line_f1", *(f"{granularity}_coverage" for granularity in GRANULARITIES)]


@pytest.mark.parametrize("value", ["nothing", "%3Cb%3E", ""])
def test_a_link_to_what_there_is_not_shows_the_default(opened: Opened, value: str) -> None:
    assert columns(opened(f"{PAGE}#granularity={value}")) == columns(opened(PAGE))


def test_every_average_keeps_the_same_columns(opened: Opened) -> None:
    page = opened(f"{PAGE}#granularity=file")
    before = columns(page)
    page.locator("label:has-text('Micro')").click()
    assert columns(page) == before
    assert len(set(cells(page)) - {1}) == 1


def test_a_copied_view_has_the_columns_that_are_seen(opened: Opened) -> None:
    from playwright.sync_api import expect

    page = opened(f"{PAGE}#granularity=file", permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy as CSV").click()
    expect(page.locator("#said")).to_have_text("Copied this view as CSV.")
    head = page.evaluate("navigator.clipboard.readText()").splitlines()[0]
    first = "System,Kind,line_f1,Above whole-file+bm25-okapi,"
    assert head.startswith(f"{first}file_f1,file_coverage,file_precision,file_auc,n/N")


def test_without_scripts_every_column_is_there(opened: Opened) -> None:
    page = opened(PAGE, java_script_enabled=False)
    assert page.locator(f"{TABLE} >> nth=0").locator("thead th[data-granularity]").count() == 16


def order(page: Page) -> list[str]:
    cells = page.locator(f"{TABLE} tbody:first-of-type th").all_text_contents()
    return [" ".join(cell.split()) for cell in cells]


def drawn(page: Page) -> list[float]:
    """The numbers in the one picture of scores that is seen, from its top."""
    texts = page.locator("[data-average]:visible svg text").all_text_contents()
    return [float(text) for text in texts if len(text) == 5 and text.startswith("0.")]


def test_a_protocol_opens_with_its_own_average_and_the_picture_follows_every_switch(opened: Opened) -> None:
    page = opened(PAGE)
    assert page.locator("input[name=average]:checked").get_attribute("value") == "macro"
    page.locator("label:has-text('official-v1')").click()
    assert page.evaluate("location.hash") == "#protocol=official-v1"
    for average, place in (("Micro", 0), ("Macro", 1)):
        page.locator(f"label:has-text('{average}')").click()
        assert page.locator("input[name=average]:checked").get_attribute("value") == average.lower()
        values = {**AVERAGES, ELSEWHERE: (0.5, 0.5)}
        ordered = sorted((name for name in values if name != "an-agent"), key=lambda name: -values[name][place])
        assert order(page) == [name for name in ordered if not name.endswith("random")]
        assert drawn(page) == [round(values[name][place], 3) for name in ordered]
        assert page.locator(f"{TABLE} th[aria-sort]").get_attribute("data-key") == "line_coverage"
    assert page.evaluate("location.hash") == "#protocol=official-v1&average=macro"
    page.locator("label:has-text('docs-v1')").click()
    assert page.evaluate("location.hash") == ""
    assert page.locator("input[name=average]:checked").get_attribute("value") == "macro"


def test_going_back_to_an_address_without_a_sort_shows_the_order_the_table_came_in(opened: Opened) -> None:
    page = opened(f"{PAGE}#protocol=official-v1&sort=kind")
    assert page.get_attribute(f"{TABLE} th[aria-sort]", "data-key") == "kind"
    page.evaluate("location.hash = 'protocol=official-v1'")
    page.wait_for_function("document.querySelector(`" + TABLE + " th[aria-sort]`).dataset.key === 'line_coverage'")
    assert order(page)[0] == ELSEWHERE
