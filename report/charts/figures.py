"""A figure: a picture, what it shows of what, and its numbers; shown in a page, and downloaded as a file by itself.

A downloaded picture needs nothing of the site: its colours are the style sheet's light ones, its fonts are common, and
it carries its title and its population.
"""

from __future__ import annotations

import csv
import io
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from markupsafe import Markup

from report.charts.drawing import Picture, pdf_of
from report.format import visible
from report.render import render

STYLE = Path(__file__).parents[2] / "site" / "static" / "style.css"
FIGURES = "figures"
"""The folder of the site that has their files."""

_ENDINGS = ("svg", "pdf", "csv")

_COLOUR = re.compile(r"--([a-z0-9-]+): (?:light-dark\((#[0-9a-f]{6}), [^)]*\)|var\(--([a-z0-9-]+)\));")
_USED = re.compile(r"var\(--([a-z0-9-]+)\)")
_OPENING = re.compile(r"<svg [^>]*>")
_SIZE = re.compile(r' width="([0-9.]+)" height="([0-9.]+)"')
FONTS = "Liberation Sans, Arial, Helvetica, sans-serif"
_MARGIN, _LINE, _CHARACTER = 14, 16, 6.4


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
    filled = render(
        "figure.svg",
        {
            "width": f"{width + _MARGIN:g}",
            "height": f"{height + head + _MARGIN:g}",
            "title": title,
            "lines": [(_MARGIN + _LINE * number - 4, line, colour) for number, (line, colour) in enumerate(lines, 1)],
            "margin": _MARGIN,
            "head": head,
            "inner": Markup(svg[opening.end() if opening else 0 : svg.rindex("</svg>")]),
            "fonts": FONTS,
        },
    )
    return _USED.sub(lambda use: light_colours()[use[1]], filled.replace("currentColor", "var(--ink)"))


@cache
def light_colours() -> dict[str, str]:
    """Each of the style sheet's colours in its light form."""
    declared = _COLOUR.findall(STYLE.read_text(encoding="utf-8"))
    colours = {name: colour for name, colour, _ in declared if colour}
    return colours | {name: colours[other] for name, _, other in declared if other in colours}
