"""A figure: a picture, what it shows of what, and its numbers; shown in a page, and downloaded as a file by itself.

A downloaded picture needs nothing of the site: its colours are the style sheet's light ones, its fonts are common, and
it carries its title and its population.
"""

from __future__ import annotations

import csv
import io
import os
import re
import textwrap
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import vl_convert as vlc
from markupsafe import Markup

from report.format import visible
from report.render import render

# A font of the machine is opened anew for every letter, and may be another on the next machine. The converter reads
# this when it is first called.
os.environ["FONTCONFIG_FILE"] = str(Path(__file__).parents[2] / "site" / "templates" / "fonts.conf")
_VEGA_LITE = "6.4"
STYLE = Path(__file__).parents[2] / "site" / "static" / "style.css"
FIGURES = "figures"
"""The folder of the site that has their files."""

_ENDINGS = ("svg", "pdf", "csv")

FONT = 12
_LEAST = 11 / FONT  # No text gets smaller than 11 pixels: in a narrower box the picture scrolls.
_EMPTY_GROUP = re.compile(r'<path class="(?:background|foreground)"[^>]*/>|<path [^>]*d="M0,0"[^>]*/>')
_PLACES = re.compile(r' (?:d|transform)="[^"]*"')
_HUNDREDTHS = re.compile(r"(\.[0-9])[0-9]+")
# What Vega writes into every mark and no mark needs; a third of a picture.
_NEEDLESS = re.compile(
    r' (?:role|aria-[a-z]+|class|pointer-events|version|xmlns(?::xlink)?|font-family|stroke-miterlimit)="[^"]*"'
    rf'| opacity="1"| font-size="{FONT}px"'
)

# The one font that the converter brings along has these. A second font, or a second weight of it, would make a PDF that
# differs from one build to the next: the converter writes fonts in no fixed order.
_FOREIGN = re.compile(r"[^\n\x20-\u017f\u0386-\u03ce\u0400-\u045f\u2013\u2014\u2018-\u201e\u2020-\u2026\u2212]")
# Nor are the degrees of transparency that a page of it uses: lines of one length, which may change places.
_LISTED = re.compile(rb"(?:^ +/[a-z]+[0-9]+ [0-9]+ 0 R\n){2,}", re.MULTILINE)
_WEIGHT = re.compile(r' font-weight="[^"]*"')
_COLOUR = re.compile(r"--([a-z0-9-]+): (?:light-dark\((#[0-9a-f]{6}), [^)]*\)|var\(--([a-z0-9-]+)\));")
_USED = re.compile(r"var\(--([a-z0-9-]+)\)")
_OPENING = re.compile(r"<svg [^>]*>")
_SIZE = re.compile(r' width="([0-9.]+)" height="([0-9.]+)"')
FONTS = "Liberation Sans, Arial, Helvetica, sans-serif"
_MARGIN, _LINE, _CHARACTER = 14, 16, 6.4
_SHARED, _SHARED_LEFT = (1200, 630), 80
"""Pixels of a shared page's picture, as others expect them."""


class Picture:
    """An `<svg>` element of a page, which may still be being drawn."""

    def __init__(self, svg: Future[str]) -> None:
        self._svg = svg

    def __str__(self) -> str:
        return self._svg.result()

    __html__ = __str__


@dataclass(frozen=True)
class Figure:
    """A picture in the page's colours with its title, its population and its numbers; `name` is that of its files."""

    name: str
    title: str
    population: str
    picture: Picture
    columns: Sequence[str]
    rows: Sequence[Sequence[str | float | int | None]]

    @property
    def links(self) -> list[tuple[str, str]]:
        """What may be downloaded: the format, and where it lies in the site."""
        return [(ending.upper(), f"{FIGURES}/{self.name}.{ending}") for ending in _ENDINGS]

    @property
    def numbers(self) -> str:
        """Its rows as CSV."""
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([self.columns, *self.rows])
        return text.getvalue()


def svg_of(specification: str, name: str) -> str:
    """A chart as an `<svg>` element that has a name, and scrolls where its text would be too small."""
    svg = vlc.vegalite_to_svg(specification, vl_version=_VEGA_LITE)
    label = visible(name).replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
    # Half of a chart of many systems is digits beyond a tenth of a pixel.
    svg = _PLACES.sub(lambda match: _HUNDREDTHS.sub(r"\1", match[0]), svg)
    slim = _NEEDLESS.sub("", _EMPTY_GROUP.sub("", svg))
    least = round(float(_SIZE.findall(slim)[0][0]) * _LEAST)
    return slim.replace(
        "<svg ", f'<svg role="img" aria-label="{label}" font-size="{FONT}" style="min-width:{least}px" ', 1
    )


def pdf_of(svg: str) -> bytes:
    """A picture that needs no page as a PDF, whose bytes are the same every time."""
    content = vlc.svg_to_pdf(_FOREIGN.sub("?", _WEIGHT.sub("", svg)))
    return _LISTED.sub(lambda names: b"".join(sorted(names[0].splitlines(keepends=True))), content)


def write_figure(path: Path, svg: str, numbers: str) -> None:
    """Write the files of a figure, a picture that needs no page and its numbers, to a path without an ending."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.with_suffix(".svg").write_text(svg, encoding="utf-8")
    path.with_suffix(".csv").write_text(numbers, encoding="utf-8")
    path.with_suffix(".pdf").write_bytes(pdf_of(svg))


def alone(svg: str, title: str, population: str) -> str:
    """A picture of a page as one that needs no page: its own colours, its title and its population above it."""
    (width, height), opening = map(float, _SIZE.findall(svg)[0]), _OPENING.match(svg)
    per_line = max(20, int((width - 2 * _MARGIN) / _CHARACTER))
    lines = [
        (line, colour)
        for text, colour in ((title, "currentColor"), (population, "var(--muted)"))
        for line in textwrap.wrap(visible(text), per_line)
    ]
    head = _MARGIN + _LINE * len(lines) + 8
    return _filled(
        "figure.svg",
        width=f"{width + _MARGIN:g}",
        height=f"{height + head + _MARGIN:g}",
        title=title,
        lines=[(_MARGIN + _LINE * number - 4, line, colour) for number, (line, colour) in enumerate(lines, 1)],
        margin=_MARGIN,
        head=head,
        inner=Markup(svg[opening.end() if opening else 0 : svg.rindex("</svg>")]),
    )


def _filled(template: str, **values: object) -> str:
    """A picture that needs no page, with colours of its own."""
    svg = render(template, {**values, "fonts": FONTS}).replace("currentColor", "var(--ink)")
    return _USED.sub(lambda use: light_colours()[use[1]], svg)


def write_shared_picture(path: Path, title: str, sentence: str) -> None:
    """Write what others see of a page whose address is shared, as a PNG; a sentence that is too long ends in dots."""
    size, most = (56, 6) if len(sentence) <= 150 else (40, 9)
    per_line = int((_SHARED[0] - 2 * _SHARED_LEFT) / (size * 0.5))
    lines = textwrap.wrap(visible(sentence), per_line, max_lines=most, placeholder=" …")
    svg = _filled(
        "shared.svg",
        width=_SHARED[0],
        height=_SHARED[1],
        left=_SHARED_LEFT,
        head=textwrap.shorten(f"Goldspan · {visible(title)}", 58, placeholder=" …"),
        size=size,
        lines=[(f"{190 + number * size * 1.2:g}", line) for number, line in enumerate(lines)],
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(vlc.svg_to_png(_FOREIGN.sub("?", _WEIGHT.sub("", svg)), scale=1))


@cache
def light_colours() -> dict[str, str]:
    """Each of the style sheet's colours in its light form."""
    declared = _COLOUR.findall(STYLE.read_text(encoding="utf-8"))
    colours = {name: colour for name, colour, _ in declared if colour}
    return colours | {name: colours[other] for name, _, other in declared if other in colours}
