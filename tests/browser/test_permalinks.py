from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests.browser.conftest import served, watching
from tests.browser.visits import kinds_of_pages, look

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

MAX_HASH = 300

SETTLED = 150
"""Milliseconds for what waits until typing ends, and for data that comes on demand."""

MOST_LOOKS = 40
"""How often two pages are compared, SETTLED milliseconds apart, before they count as different."""


def shown(page: Page, address: str) -> object:
    # By way of an empty page: an address that differs behind `#` alone would load nothing.
    page.goto("about:blank")
    page.goto(address)
    page.wait_for_timeout(SETTLED)
    return look(page, "shown")


def differing(page: Page, other: Page, address: str) -> tuple[object, object] | None:
    """What the two pages show, where it is not the same in the end: a busy machine takes longer to fetch and draw."""
    again, view = shown(other, address), look(page, "shown")
    for _ in range(MOST_LOOKS):
        if again == view:
            return None
        page.wait_for_timeout(SETTLED)
        again, view = look(other, "shown"), look(page, "shown")
    return view, again


def test_a_copied_address_shows_what_every_control_was_set_to(browser: Browser, hostile_site: Path) -> None:
    wrong: dict[str, object] = {}
    known: set[tuple[str, ...]] = set()
    tried = 0
    with served(hostile_site, "http") as base, watching(browser, base) as opened:
        page, other = opened("index.html"), opened("index.html")
        for name in kinds_of_pages(hostile_site):
            plain = shown(page, f"{base}/{name}")
            controls = look(page, "controls")
            # Pages with the very same controls have one script.
            if tuple(controls) in known:
                continue
            known.add(tuple(controls))
            for control, number in controls.items():
                if page.url != f"{base}/{name}":
                    shown(page, f"{base}/{name}")
                look(page, "set", int(str(number)))
                page.wait_for_timeout(SETTLED if page.url != f"{base}/{name}" else 4 * SETTLED)
                address = page.url
                if look(page, "shown") == plain:
                    continue
                tried += 1
                if address == f"{base}/{name}" or len(address.partition("#")[2]) > MAX_HASH:
                    wrong[f"{name}: {control}"] = f"is not in the address: {address}"
                elif (difference := differing(page, other, address)) is not None:
                    wrong[f"{name}: {control}: {address.partition('#')[2]}"] = difference
                page.goto("about:blank")
    assert tried > 5
    assert wrong == {}
