"""What others see of a page whose address is shared: a picture with its sentence, in the size that they expect."""

from __future__ import annotations

import textwrap
from dataclasses import replace

from report.charts.converter import Drawing
from report.charts.figures import FOLDER, drawn
from report.publisher import Page
from report.shown import visible

WIDTH, HEIGHT = 1200, 630
_LEFT = 80


def with_picture(page: Page) -> Page:
    """The page with a picture of its sentence; as it is where it has none, or a picture already."""
    if not page.said or page.picture:
        return page
    path = f"{FOLDER}/shared/{page.path.removesuffix('.html')}.png"
    return replace(page, picture=path, files={**page.files, path: og_picture(page.title, page.said)})


def og_picture(title: str, sentence: str) -> Drawing:
    """A page's title and its sentence as a PNG of 1200 by 630 pixels; a sentence that is too long ends in dots."""
    size, most = (56, 6) if len(sentence) <= 150 else (40, 9)
    per_line = int((WIDTH - 2 * _LEFT) / (size * 0.5))
    lines = textwrap.wrap(visible(sentence), per_line, max_lines=most, placeholder=" …")
    svg = drawn(
        "shared.svg",
        width=WIDTH,
        height=HEIGHT,
        left=_LEFT,
        head=textwrap.shorten(f"Goldspan · {visible(title)}", 58, placeholder=" …"),
        size=size,
        lines=[(f"{190 + place * size * 1.2:g}", line) for place, line in enumerate(lines)],
    )
    return Drawing(svg, "png", scale=1)
