"""What is asked of every page, looked at on one of each kind, from files and from a host, hostile names among them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.conftest import served, watching
from tests.browser.visits import Found, kinds_of_pages, kinds_of_views, links, parsed, visit
from tests.report.hostile_lake import SHOWN

if TYPE_CHECKING:
    from playwright.sync_api import Browser

CSP = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:"


@pytest.fixture(scope="session")
def visited(browser: Browser, hostile_site: Path, scheme: str, axe: str) -> Mapping[str, Found]:
    """Every kind of page and of view, looked at once; what is logged, refused, asked of elsewhere or run fails."""
    with served(hostile_site, scheme) as base, watching(browser, base) as opened:
        views = [*kinds_of_pages(hostile_site), *kinds_of_views(hostile_site)]
        found = {view: visit(opened, axe, view) for view in views}
    return found


def wrong(visited: Mapping[str, Found], *names: str) -> dict[str, object]:
    return {f"{view}: {name}": found[name] for view, found in visited.items() for name in names if found.get(name)}


def test_every_page_opens_with_its_title_and_one_heading(visited: Mapping[str, Found]) -> None:
    assert len(visited) >= 8
    assert wrong(visited, "title") == {}


def test_no_script_style_or_image_has_a_source_elsewhere(visited: Mapping[str, Found]) -> None:
    assert wrong(visited, "elsewhere") == {}


def test_every_page_has_the_policy_and_nothing_inline_that_runs(visited: Mapping[str, Found]) -> None:
    assert {view: found["policy"] for view, found in visited.items() if found["policy"] != [CSP]} == {}
    assert wrong(visited, "inline", "handlers") == {}


def test_no_page_has_an_accessibility_violation_light_or_dark(visited: Mapping[str, Found]) -> None:
    assert wrong(visited, "axe") == {}


def test_heads_have_scopes_tables_captions_and_sorted_tables_buttons(visited: Mapping[str, Found]) -> None:
    assert wrong(visited, "heads", "captions", "sorted", "live") == {}


def test_without_scripts_every_row_and_chart_is_seen_and_no_dead_control(visited: Mapping[str, Found]) -> None:
    assert wrong(visited, "without") == {}


def test_no_page_scrolls_sideways_at_any_width(visited: Mapping[str, Found]) -> None:
    assert wrong(visited, "sideways") == {}


def test_on_paper_nothing_is_cut_off_small_or_torn(visited: Mapping[str, Found]) -> None:
    assert wrong(visited, "beyond", "small", "torn", "unnamed") == {}


def test_who_wants_no_motion_sees_none_and_forced_colours_mark_what_is_chosen(visited: Mapping[str, Found]) -> None:
    assert wrong(visited, "moving", "unmarked") == {}


def test_hostile_names_are_text(visited: Mapping[str, Found], hostile_site: Path) -> None:
    assert wrong(visited, "attack") == {}
    pages = parsed(hostile_site)
    shown = [name for name, page in pages.items() if SHOWN in page.text]
    assert {"hostile.html", "index.html", "submit.html"} <= set(shown)
    assert any(name.startswith("systems/") for name in shown)


def test_every_link_leads_to_a_file_and_every_anchor_to_an_element_or_a_view(hostile_site: Path) -> None:
    pages = parsed(hostile_site)
    ids = {name: {each.attributes.get("id") for each in page.all()} for name, page in pages.items()}
    missing = []
    for name, page in pages.items():
        for place, to, fragment in links(name, page):
            if not (hostile_site / to).is_file() or (
                fragment and "=" not in fragment and fragment not in ids.get(to, set())
            ):
                missing.append(f"{name}: {place}")
    assert missing == []
