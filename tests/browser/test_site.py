"""Every page in a real browser: at every width, light and dark, with and without scripts, on paper."""

from __future__ import annotations

import pytest

from tests.browser.conftest import Opened
from tests.report.small_lake import PROTOCOLS, SYSTEMS

SYSTEM = "systems/fixed-nws-1500-jaccard.html"
PAGES = ("index.html", "repoeval.html", "contextbench.html", "data.html", "methods.html", SYSTEM)
WIDTHS = (320, 390, 768, 1280)
RUN_AXE = """() => axe.run(document, {
  preload: false, runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
}).then(found => found.violations.map(
  violation => violation.id + ': ' + violation.nodes.map(node => node.target + ' ' + node.failureSummary).join('; ')
))"""


@pytest.mark.parametrize("name", PAGES)
def test_a_page_opens_without_an_error(opened: Opened, name: str) -> None:
    page = opened(name)
    assert page.title().endswith("· Goldspan")
    assert page.locator("main h1").count() == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_accessible(opened: Opened, axe: str, name: str, scheme: str) -> None:
    page = opened(name, color_scheme=scheme, viewport={"width": 1280, "height": 900})
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    page.evaluate(axe)
    assert page.evaluate(RUN_AXE) == []


def test_a_page_is_accessible_on_a_phone(opened: Opened, axe: str) -> None:
    page = opened("repoeval.html", viewport={"width": 390, "height": 844})
    page.evaluate(axe)
    assert page.evaluate(RUN_AXE) == []


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", PAGES)
def test_a_page_never_scrolls_sideways(opened: Opened, name: str, width: int) -> None:
    page = opened(name, viewport={"width": width, "height": 800})
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_page_follows_the_systems_scheme_and_the_button_overrules_it(opened: Opened) -> None:
    page = opened("index.html", color_scheme="dark")
    background = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(background)
    page.emulate_media(color_scheme="light")
    light = page.evaluate(background)
    assert dark != light
    button = page.get_by_role("button", name="Theme")
    button.click()
    assert button.text_content() == "Theme: light"
    button.click()
    assert button.text_content() == "Theme: dark"
    assert page.evaluate(background) == dark
    page.reload()
    assert page.evaluate(background) == dark
    assert button.text_content() == "Theme: dark"


def test_without_scripts_every_table_row_and_chart_is_there(opened: Opened) -> None:
    page = opened("repoeval.html", java_script_enabled=False)
    tables = page.locator("table.board")
    assert tables.count() == len(PROTOCOLS) * 3
    rows = 0
    for table in tables.all():
        assert table.is_visible()
        rows += table.locator("tbody tr:not(.apart)").count()
    # Every system and the failed one in every table; the limited one under one protocol only.
    assert rows == len(PROTOCOLS) * 3 * (len(SYSTEMS) + 1) + 3
    # For each average of the primary metric that there is, nDCG having no ratio of sums, and for characters and time.
    assert [chart.is_visible() for chart in page.locator("svg").all()] == [True] * len(PROTOCOLS) * 4
    assert not page.locator("#controls").is_visible()
    assert not page.locator("#theme").is_visible()
    assert page.locator("th button").count() == 0


@pytest.mark.parametrize("name", PAGES)
def test_on_paper_every_column_is_within_the_sheet(opened: Opened, name: str) -> None:
    # A4 landscape with its margins, in CSS pixels.
    page = opened(name, viewport={"width": 1031, "height": 700})
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    page.emulate_media(media="print")
    beyond = page.evaluate(
        "[...document.querySelectorAll('th, td')].filter(each => each.getBoundingClientRect().right > innerWidth + 1)"
        ".map(each => each.textContent)"
    )
    assert beyond == []


def test_the_keyboard_reaches_the_content_first(opened: Opened) -> None:
    page = opened("index.html")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_forced_colours_keep_the_chosen_protocol_visible(opened: Opened) -> None:
    page = opened("repoeval.html", forced_colors="active")
    outline = "getComputedStyle(document.querySelector('input[name=protocol]:checked + span')).outlineStyle"
    assert page.evaluate(outline) == "solid"
