from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.conftest import served, watching
from tests.browser.visits import Findings, kinds_of_pages, kinds_of_views, links, parsed, visit
from tests.report.hostile_lake import SHOWN

if TYPE_CHECKING:
    from playwright.sync_api import Browser

CSP = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:"


@pytest.fixture(scope="session")
def visited(browser: Browser, hostile_site: Path, scheme: str, axe: str) -> Mapping[str, Findings]:
    """Every kind of page and of view, looked at once; what is logged, refused, asked of elsewhere or run fails."""
    with served(hostile_site, scheme) as base, watching(browser, base) as opened:
        views = [*kinds_of_pages(hostile_site), *kinds_of_views(hostile_site)]
        findings = {view: visit(opened, axe, view) for view in views}
    return findings


@pytest.mark.parametrize(
    "names",
    [
        ["title"], ["elsewhere"], ["inline", "handlers"], ["axe"], ["heads", "captions", "sorted", "live"], ["without"],
        ["sideways"], ["beyond", "small", "faded", "torn", "unnamed"], ["moving", "unmarked"], ["attack"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_nothing_is_wrong_with_any_page(visited: Mapping[str, Findings], names: list[str]) -> None:
    assert len(visited) >= 8
    assert {f"{view}: {name}": of[name] for view, of in visited.items() for name in names if of.get(name)} == {}


def test_every_page_has_the_policy(visited: Mapping[str, Findings]) -> None:
    assert {view: findings["policy"] for view, findings in visited.items() if findings["policy"] != [CSP]} == {}


def test_hostile_names_are_shown(hostile_site: Path) -> None:
    pages = parsed(hostile_site)
    shown = [name for name, page in pages.items() if SHOWN in page.text]
    assert {"hostile.html", "index.html", "submit.html"} <= set(shown)
    assert any(name.startswith("systems/") for name in shown)


def test_every_link_leads_to_a_file_and_every_anchor_to_an_element_or_a_view(hostile_site: Path) -> None:
    pages = parsed(hostile_site)
    ids = {name: {each.attributes.get("id") for each in page.all()} for name, page in pages.items()}
    missing = []
    for name, page in pages.items():
        for address, to, fragment in links(name, page):
            if not (hostile_site / to).is_file() or (
                fragment and "=" not in fragment and fragment not in ids.get(to, set())
            ):
                missing.append(f"{name}: {address}")
    assert missing == []
