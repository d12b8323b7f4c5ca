"""One visit to a page of each kind: what the acceptance asks of every page, read in one go."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from posixpath import normpath
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from tests.browser.conftest import Opened
from tests.report.html import Element, parse

if TYPE_CHECKING:
    from playwright.sync_api import Page, ViewportSize

WIDTHS = (320, 390, 768, 1280)
A4_LANDSCAPE: ViewportSize = {"width": 1031, "height": 700}
"""The sheet without its margins, in CSS pixels."""
EIGHT_POINTS = 8 * 96 / 72
OPEN_DETAILS = "document.querySelectorAll('details').forEach(each => { each.open = true; })"

Findings = Mapping[str, object]
"""What is wrong with a page, by what was looked at; nothing is an empty value."""


def kinds_of_pages(site: Path) -> list[str]:
    """One page of each kind: all in the site's own folder; of each folder below the largest, and a hostile one."""
    chosen = [path.name for path in sorted(site.glob("*.html"))]
    for folder in sorted({path.parent for path in site.rglob("*/*.html")}):
        pages = sorted(folder.glob("*.html"), key=lambda path: (-path.stat().st_size, path.name))
        hostile = [path for path in pages if "onerror" in path.name or path.name == "hostile.html"]
        chosen += [path.relative_to(site).as_posix() for path in dict.fromkeys([*pages[:1], *hostile[:1]])]
    return chosen


def parsed(site: Path) -> dict[str, Element]:
    return {path.relative_to(site).as_posix(): parse(path.read_text("utf-8")) for path in sorted(site.rglob("*.html"))}


def links(name: str, page: Element) -> list[tuple[str, str, str]]:
    """Every link of a page into its own site: as it is written, the path it leads to, its fragment."""
    links_ = []
    for each in page.all():
        address = each.attributes.get("href") or each.attributes.get("src")
        if address and not urlsplit(address).scheme:
            parts = urlsplit(address)
            to = normpath(Path(name).parent / unquote(parts.path)) if parts.path else name
            assert not to.startswith(".."), f"{to} leads out of the site"
            links_.append((address, to, unquote(parts.fragment)))
    return links_


def kinds_of_views(site: Path) -> list[str]:
    """Of the views that links lead to by what stands behind `#`, one of each kind, of the hostile benchmark if any."""
    pages = parsed(site)
    ids = {name: {each.attributes.get("id") for each in page.all()} for name, page in pages.items()}
    first: dict[tuple[str, ...], tuple[bool, str]] = {}
    for name, page in pages.items():
        for link, to, fragment in links(name, page):
            if "=" in fragment and fragment not in ids.get(to, set()):
                keys = tuple(part.partition("=")[0] for part in fragment.split("&"))
                address = f"{to}#{urlsplit(link).fragment}"
                # The hostile one first, then the first by name.
                rank = ("hostile" not in address, address)
                kind = (Path(to).parent.as_posix() if "/" in to else to, *keys)
                first[kind] = min(first.get(kind, rank), rank)
    return [address for _, address in sorted(first.values())]


LOOKS = (Path(__file__).parent / "looks.js").read_text("utf-8")
"""What is looked for in a page, by name."""

RUN_AXE = """only => axe.run(document, {preload: false, runOnly: only}).then(found => found.violations.map(
  violation => violation.id + ': ' + violation.nodes.map(node => node.target + ' ' + node.failureSummary).join('; ')
))"""
EVERY_RULE = {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
COLOURS = {"type": "rule", "values": ["color-contrast"]}


def look(page: Page, name: str, *arguments: float | str) -> dict[str, object]:
    source = LOOKS[LOOKS.index("({") :].strip()
    result: dict[str, object] = page.evaluate(f"given => {source}.{name}(...given)", arguments)
    return result


def visit(opened: Opened, axe: str, view: str) -> Findings:
    """Look at a page as it comes, narrow, dark, on paper, without motion, and without scripts."""
    page = opened(view, viewport={"width": 1280, "height": 900}, color_scheme="light")
    page.wait_for_selector("[aria-busy=true]", state="detached")
    if "#" in view:
        page.wait_for_timeout(200)
    page.evaluate(OPEN_DETAILS)
    findings: dict[str, object] = look(page, "page")
    findings["axe"] = _axe(page, axe)
    findings["sideways"] = [width for width in WIDTHS if _width(page, width) > width]
    page.set_viewport_size(A4_LANDSCAPE)
    page.emulate_media(media="print")
    findings |= look(page, "paper", EIGHT_POINTS)
    page.emulate_media(media="screen", reduced_motion="reduce")
    findings["moving"] = look(page, "moving")
    page.emulate_media(reduced_motion="no-preference", forced_colors="active")
    findings["unmarked"] = look(page, "unmarked")
    if "#" not in view:
        bare = opened(view, java_script_enabled=False)
        bare.evaluate(OPEN_DETAILS)
        findings["without"] = look(bare, "without")
        bare.context.close()
    page.context.close()
    return findings


def _width(page: Page, width: int) -> int:
    page.set_viewport_size({"width": width, "height": 800})
    return int(page.evaluate("document.documentElement.scrollWidth"))


def _axe(page: Page, source: str) -> list[str]:
    """Everything in the light; in the dark only colours differ."""
    page.evaluate(source)
    light = page.evaluate(RUN_AXE, EVERY_RULE)
    page.emulate_media(color_scheme="dark")
    dark = page.evaluate(RUN_AXE, COLOURS)
    page.emulate_media(color_scheme="light")
    return [*light, *(f"dark: {violation}" for violation in dark)]
