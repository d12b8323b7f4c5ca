"""What every picture is drawn with: one look, axes, legend, Vega, and the files that a picture is downloaded as.

Every mark is drawn in `currentColor` or a custom property of the style sheet, so one picture serves light and dark. A
downloaded one needs nothing of the site: its colours are the style sheet's light ones, its fonts are common, and it
carries its title and its population. Altair makes each chart's specification once, with holes (`@name`) for what
differs from one to the next.
"""

import json
import math
import os
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

import altair as alt
import vl_convert as vlc
from markupsafe import Markup

from report.charts.figures import KIND_LOOKS
from report.format import visible
from report.render import TEMPLATES, render

# Every object of a chart checks itself against the whole schema otherwise, which takes longer than all else.
alt.utils.schemapi.DEBUG_MODE = False
# A font of the machine is opened anew for every letter, and may be another on the next machine. The converter reads
# this when it is first called.
os.environ["FONTCONFIG_FILE"] = str(TEMPLATES / "fonts.conf")
STYLE = TEMPLATES.parent / "static" / "style.css"
_VEGA_LITE = "6.4"

FONT = 12
_LEAST, _MOST = 11 / FONT, 1.3  # No text gets smaller than 11 pixels: in a narrower box the picture scrolls.
INK, LINE, MUTED = "currentColor", "var(--line)", "var(--muted)"
WIDTH, CHARACTER = 560, 7.2
_CONFIG = {
    "background": "transparent",
    "aria": False,
    "view": {"stroke": None},
    "axis": {
        "labelColor": MUTED, "titleColor": INK, "gridColor": LINE, "labelFontSize": FONT, "titleFontSize": FONT,
        "titlePadding": 10,
    },
    "text": {"fontSize": FONT},
}  # fmt: skip
_HEADER = {
    "title": None, "labelAnchor": "start", "labelFontSize": FONT, "labelFontWeight": "bold", "labelColor": INK,
}  # fmt: skip
_MOST_MARKS, _PANELS_BESIDE = 8, 2
_HOLE = re.compile(r'\["@(\w+)"\]|"@(\w+)"')

_EMPTY_GROUP = re.compile(r'<path class="(?:background|foreground)"[^>]*/>|<path [^>]*d="M0,0"[^>]*/>')
_PLACES = re.compile(r' (?:d|transform)="[^"]*"')
_HUNDREDTHS = re.compile(r"(?<=\.[0-9])[0-9]+")
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


def marks_of(table: str) -> alt.Chart:
    """A layer of a mark per row of a table, which is given to :func:`drawn` by its name."""
    return alt.Chart(alt.NamedData(name=table))


def as_json(layers: Sequence[alt.Chart]) -> str:
    """Layers, the lowest first, as :func:`drawn` takes them."""
    # Put together here: as one chart of Altair's it would be copied whole at every word about it.
    return json.dumps([layer.to_dict(validate=False, context={"top_level": False}) for layer in layers])


def drawn(
    layers: str,
    holes: Mapping[str, object],
    tables: Mapping[str, Sequence[Mapping[str, object]]],
    size: tuple[int, int],
    name: str,
    padding: int | Mapping[str, float] = 4,
    panels: Sequence[str] = (),
) -> str:
    """Layers with what belongs in their holes as an `<svg>` element that scrolls where its text would be too small.

    `tables` has the rows of the layers' tables, `size` is that of a plot in pixels, `padding` the room beside it. With
    `panels` there is a plot for each, of the rows that name it in column `panel` of the one table.
    """
    marks = json.loads(_HOLE.sub(lambda hole: json.dumps(holes[hole[1] or hole[2]]), layers))
    plot: dict[str, object] = {"layer": marks, "width": size[0], "height": size[1]}
    if panels:
        for each in marks:
            # The rows of a panel are those of the whole, and not of a layer.
            each.pop("data")
        facet = {"field": "panel", "type": "nominal", "sort": panels, "header": _HEADER}
        plot = {"data": {"name": next(iter(tables))}, "facet": facet, "columns": _PANELS_BESIDE, "spec": plot}
    specification = json.dumps({**plot, "datasets": tables, "config": {**_CONFIG, "padding": padding}})
    svg = vlc.vegalite_to_svg(specification, vl_version=_VEGA_LITE)
    label = visible(name).replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
    # Half of a chart of many systems is digits beyond a tenth of a pixel.
    svg = _PLACES.sub(lambda match: _HUNDREDTHS.sub("", match[0]), svg)
    slim = _NEEDLESS.sub("", _EMPTY_GROUP.sub("", svg))
    width = float(_SIZE.findall(slim)[0][0])
    room = f"min-width:{round(width * _LEAST)}px;max-width:{round(width * _MOST)}px"
    return slim.replace(
        "<svg ",
        f'<svg role="img" aria-label="{label}" font-size="{FONT}" style="{room}" ',
        1,
    )


def at_pixel(x: float | str) -> alt.XValue:
    """A place along x that no number decides."""
    return alt.XValue(x)  # type: ignore[no-untyped-call]  # Altair's own


def powers_axis(field: str) -> alt.X:
    """The axis of what is compared by ratios, on a scale of powers; :func:`powers` fills its holes."""
    axis = alt.Axis(
        title="@x", values=["@x_values"], format=",~r", grid=True, domain=False, ticks=False,
        labelOverlap="greedy", labelSeparation=CHARACTER,
    )  # fmt: skip
    return alt.X(f"{field}:Q", scale=alt.Scale(type="log", domain=["@x_domain"], nice=False), axis=axis)


def powers(title: str, numbers: Sequence[float], beyond: float) -> dict[str, object]:
    """What fills the holes of an axis of powers; `beyond` is the room at either end, as a factor.

    Its values are the round numbers: 1, 2, 5, 10, … where they are few, else powers of 10.
    """
    low, high = min(numbers) / beyond, max(numbers) * beyond
    tens = [10.0**power for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]
    values = [power * digit for power in tens for digit in (1, 2, 5) if low <= power * digit <= high]
    few = values if len(values) <= _MOST_MARKS else [power for power in tens if low <= power <= high]
    return {"x": title, "x_domain": [low, high], "x_values": few}


def value_axis() -> alt.Y:
    """The axis of a number that is best read from 0: its holes are `y` and `y_domain`."""
    axis = alt.Axis(title="@y", tickCount=5, grid=True, domain=False, ticks=False)
    return alt.Y("value:Q", scale=alt.Scale(domain=["@y_domain"], nice=False), axis=axis)


def by_kind(*, has_legend: bool = True) -> tuple[alt.Color, alt.Shape]:
    """The colour and the shape of each kind, and the line above the axes that says which; see :func:`kinds_in`."""
    legend = alt.Legend(
        orient="top", title=None, labelColor=INK, labelFontSize=FONT, symbolSize=64, symbolOpacity=1, offset=8,
        labelExpr="@legend", symbolStrokeWidth=0,
    ) if has_legend else None  # fmt: skip
    colours, shapes = (alt.Scale(domain=["@kinds"], range=[f"@{name}"]) for name in ("colours", "shapes"))
    return alt.Color("kind:N", scale=colours, legend=legend), alt.Shape("kind:N", scale=shapes, legend=legend)


def kinds_in(kinds: Iterable[str]) -> dict[str, object]:
    """What fills the holes of :func:`by_kind`: the kinds that are there."""
    known = set(kinds)
    looks = {kind: look for kind, look in KIND_LOOKS.items() if kind in known}
    names = "{" + ", ".join(f"'{kind}': '{look.title}'" for kind, look in looks.items()) + "}"
    colours, shapes = [look.colour for look in looks.values()], [look.shape for look in looks.values()]
    return {"kinds": list(looks), "colours": colours, "shapes": shapes, "legend": f"{names}[datum.label]"}


def write_figure(path: Path, svg: str, title: str, population: str, numbers: str) -> None:
    """Write the files of a figure to a path without an ending: a picture of a page, needing no page, and its numbers.

    The bytes of the PDF are the same every time.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    picture = _alone(svg, title, population)
    path.with_suffix(".svg").write_text(picture, encoding="utf-8")
    path.with_suffix(".csv").write_text(numbers, encoding="utf-8")
    content = vlc.svg_to_pdf(_FOREIGN.sub("?", _WEIGHT.sub("", picture)))
    same = _LISTED.sub(lambda names: b"".join(sorted(names[0].splitlines(keepends=True))), content)
    path.with_suffix(".pdf").write_bytes(same)


def _alone(svg: str, title: str, population: str) -> str:
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
