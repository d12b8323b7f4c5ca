"""What others see of a page whose address is shared: a picture with its sentence, in the size that they expect."""

from __future__ import annotations

import textwrap
from dataclasses import replace

from markupsafe import escape

from report.charts.figures import FOLDER, FONTS, in_light, png_of
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


def og_picture(title: str, sentence: str) -> bytes:
    """A page's title and its sentence as a PNG of 1200 by 630 pixels; a sentence that is too long ends in dots."""
    size, most = (56, 6) if len(sentence) <= 150 else (40, 9)
    per_line = int((WIDTH - 2 * _LEFT) / (size * 0.5))
    lines = [
        f'<text x="{_LEFT}" y="{190 + place * size * 1.2:g}" font-size="{size}" fill="var(--ink)">{escape(line)}</text>'
        for place, line in enumerate(textwrap.wrap(visible(sentence), per_line, max_lines=most, placeholder=" …"))
    ]
    head = textwrap.shorten(f"Goldspan · {visible(title)}", 58, placeholder=" …")
    return png_of(
        in_light(
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
            f'font-family="{FONTS}">'
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="var(--page)"/>'
            f'<rect width="24" height="{HEIGHT}" fill="var(--gold)"/>'
            f'<text x="{_LEFT}" y="104" font-size="34" fill="var(--muted)">{escape(head)}</text>'
            f"{''.join(lines)}</svg>"
        ),
        scale=1,
    )
