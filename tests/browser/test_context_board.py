from __future__ import annotations

from typing import TYPE_CHECKING

from tests.browser.conftest import Opened
from tests.browser.test_board import TABLE, control, settled, settled_at
from tests.report.context_lake import AVERAGES, ELSEWHERE, GRANULARITIES, QUANTITIES, SYSTEMS

if TYPE_CHECKING:
    from playwright.sync_api import Page

PAGE = "contextbench.html"


def shown(page: Page) -> dict[str, str]:
    settled(page)
    rows = page.locator(f"{TABLE} tbody:first-of-type tr[data-run]").all()
    return {
        (row.locator("th.name a").text_content() or "").strip(): str(row.locator("td.primary b").text_content())
        for row in rows
    }


def click(page: Page, name: str, value: str) -> None:
    page.locator(control(name, value)).evaluate("each => each.click()")
    settled(page)


def value(system: str, granularity: str, quantity: str) -> str:
    places = (GRANULARITIES.index(granularity), QUANTITIES.index(quantity))
    return f"{SYSTEMS[system] / (1 + places[0] + places[1] / 8):.3f}"


def test_level_and_metric_switch_the_number_that_is_shown(opened: Opened) -> None:
    page = opened(PAGE)
    systems = {"an-agent": "an-agent", "bm25-okapi whole-file": "whole-file+bm25-okapi"}
    assert shown(page) == {name: value(system, "line", "f1") for name, system in systems.items()}
    click(page, "level", "file")
    assert page.evaluate("location.hash") == "#metric=file_f1"
    assert shown(page) == {name: value(system, "file", "f1") for name, system in systems.items()}
    page.locator(control("quantity")).select_option("file_coverage")
    settled(page, "#metric=file_coverage")
    assert shown(page) == {name: value(system, "file", "coverage") for name, system in systems.items()}
    click(page, "level", "span")
    assert page.evaluate("location.hash") == "#metric=span_coverage"
    assert (page.text_content(f"{TABLE} caption") or "").startswith("span_coverage, mean over items;")


def test_all_columns_stand_beside_the_one_that_orders_the_table(opened: Opened) -> None:
    page = settled_at(opened, f"{PAGE}#columns=all")
    assert page.locator(f"{TABLE} thead th.further").count() == len(GRANULARITIES) * len(QUANTITIES) - 1
    widths = page.evaluate(f"[...document.querySelectorAll('{TABLE} tbody tr[data-run]')].map(row => row.cells.length)")
    assert len(set(widths)) == 1
    page = settled_at(opened, f"{PAGE}#columns=file_f1,span_auc")
    assert page.locator(f"{TABLE} thead th.further").all_text_contents() == ["file_f1", "span_auc"]


def test_a_protocol_opens_with_its_own_average_and_the_order_follows_every_switch(opened: Opened) -> None:
    page = opened(PAGE)
    page.locator(control("protocol")).select_option("official-v1")
    settled(page, "#protocol=official-v1")
    names = {"bm25-okapi whole-file": AVERAGES["whole-file+bm25-okapi"], ELSEWHERE: (0.5, 0.5)}
    for average, position in (("micro", 0), ("macro", 1), ("micro", 0)):
        click(page, "average", average)
        assert (
            page.evaluate("document.querySelector('section:not([hidden]) [data-control=average]:checked').value")
            == average
        )
        ordered = sorted(names, key=lambda name: -names[name][position])
        assert shown(page) == {name: f"{names[name][position]:.3f}" for name in ordered}
        apart = page.locator(f"{TABLE} tbody:last-of-type tr[data-run]").text_content() or ""
        assert "an-agent 1 of 2 items" in " ".join(apart.split())
    assert page.evaluate("location.hash") == "#protocol=official-v1"
    page.locator(control("protocol")).select_option("docs-v1")
    settled(page, "")


def test_going_back_to_an_address_without_a_sort_shows_the_order_the_table_came_in(opened: Opened) -> None:
    page = settled_at(opened, f"{PAGE}#protocol=official-v1&sort=system")
    assert page.get_attribute(f"{TABLE} th[aria-sort]", "data-key") == "system"
    page.evaluate("location.hash = 'protocol=official-v1'")
    page.wait_for_selector(f"{TABLE} th[aria-sort][data-key='line_coverage']")
    assert next(iter(shown(page))) == ELSEWHERE
