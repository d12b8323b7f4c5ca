"""Common parts of charts: look, legend, rendering by Vega. Altair builds each kind once, with holes (`@name`)."""

import json
import os
import re
import textwrap
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import altair as alt
import vl_convert as vlc
from markupsafe import Markup

from report.charts.figures import KIND_LOOKS
from report.format import visible
from report.render import TEMPLATES, render

# Skip validation: checking every object of a chart against the schema takes longer than all else.
alt.utils.schemapi.DEBUG_MODE = False
# Use no fonts of the machine: they are opened anew for every letter, and differ between machines. The converter reads
# this variable when it is first called.
os.environ["FONTCONFIG_FILE"] = str(TEMPLATES / "fonts.conf")
STYLE = TEMPLATES.parent / "static" / "style.css"
_VEGA_LITE = "6.4"

FONT = 12
_LEAST, _MOST = 11 / FONT, 1.3  # No text gets smaller than 11 pixels: in a narrower box the picture scrolls.
INK, LINE, MUTED = "currentColor", "var(--line)", "var(--muted)"
CHARACTER = 7.2
# With a limit of its length, Vega would measure each label three times.
_CONFIG = {
    "background": "transparent",
    "aria": False,
    "view": {"stroke": None},
    "axis": {
        "labelColor": MUTED, "titleColor": INK, "gridColor": LINE, "labelFontSize": FONT, "titleFontSize": FONT,
        "titlePadding": 10, "labelLimit": 0,
    },
    "legend": {"labelLimit": 0},
    "text": {"fontSize": FONT},
}  # fmt: skip
_HEADER = {
    "title": None, "labelAnchor": "start", "labelFontSize": FONT, "labelFontWeight": "bold", "labelColor": INK,
}  # fmt: skip
_PANELS_BESIDE = 2
_HOLE = re.compile(r'\["@(\w+)"\]|"@(\w+)"')

_EMPTY_GROUP = re.compile(r'<path class="(?:background|foreground)"[^>]*/>|<path [^>]*d="M0,0"[^>]*/>')
_PLACES = re.compile(r' (?:d|transform)="[^"]*"')
_HUNDREDTHS = re.compile(r"(?<=\.[0-9])[0-9]+")
# Attributes that Vega writes into every mark and that are not needed: a third of a picture.
_NEEDLESS = re.compile(
    r' (?:role|aria-[a-z]+|class|pointer-events|version|xmlns(?::xlink)?|font-family|stroke-miterlimit)="[^"]*"'
    rf'| opacity="1"| font-size="{FONT}px"'
)
# Characters missing in the converter's one font. A second font or weight would make a PDF differ from build to build,
# because the converter writes fonts in no fixed order.
_FOREIGN = re.compile(r"[^\n\x20-\u017f\u0386-\u03ce\u0400-\u045f\u2013\u2014\u2018-\u201e\u2020-\u2026\u2212]")
# The PDF's list of degrees of transparency has no fixed order either: its lines, of equal length, are sorted.
_LISTED = re.compile(rb"(?:^ +/[a-z]+[0-9]+ [0-9]+ 0 R\n){2,}", re.MULTILINE)
_WEIGHT = re.compile(r' font-weight="[^"]*"')
_COLOUR = re.compile(r"--([a-z0-9-]+): (?:light-dark\((#[0-9a-f]{6}), [^)]*\)|var\(--([a-z0-9-]+)\));")
_USED = re.compile(r"var\(--([a-z0-9-]+)\)")
_SIZE = re.compile(r' width="([0-9.]+)" height="([0-9.]+)"')
FONTS = "Liberation Sans, Arial, Helvetica, sans-serif"
_MARGIN, _LINE, _CHARACTER = 14, 16, 6.4
_SHARED, _SHARED_LEFT = (1200, 630), 80
"""Size in pixels of link-preview pictures, as other sites expect it, and their left margin."""


def marks_of(table: str) -> alt.Chart:
    """A layer with a mark per row of a table; :func:`drawn` gets the rows under the table's name."""
    return alt.Chart(alt.NamedData(name=table))


def as_json(layers: Sequence[alt.Chart]) -> str:
    """Layers, the lowest first, as JSON for :func:`drawn`."""
    # Not combined by Altair, which would copy the whole chart at every method call.
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
    """A chart of some layers as an `<svg>`; `size` is that of a plot, of which `panels` have one each."""
    kinds = {row.get("kind") for rows in tables.values() for row in rows}
    looks = {kind: look for kind, look in KIND_LOOKS.items() if kind in kinds}
    names = "{" + ", ".join(f"'{kind}': '{look.title}'" for kind, look in looks.items()) + "}"
    colours, shapes = [look.colour for look in looks.values()], [look.shape for look in looks.values()]
    holes = {**holes, "kinds": list(looks), "colours": colours, "shapes": shapes, "legend": f"{names}[datum.label]"}
    # Only panels are compiled with their size: otherwise it is two numbers of the compiled chart.
    compiled = _compiled(layers, size if panels else (1, 1), tuple(panels))
    chart = json.loads(_HOLE.sub(lambda hole: json.dumps(holes[hole[1] or hole[2]]), compiled))
    for data in chart["data"]:
        if data["name"] in tables:
            data["values"] = tables[data["name"]]
    whole = {} if panels else {"width": size[0], "height": size[1]}
    # As text, in which Vega reads the digits of numbers as it does from Vega-Lite.
    svg = vlc.vega_to_svg(json.dumps({**chart, **whole, "padding": padding}))
    label = visible(name).replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
    # Digits beyond a tenth of a pixel are half of a chart of many systems.
    svg = _PLACES.sub(lambda match: _HUNDREDTHS.sub("", match[0]), svg)
    slim = _NEEDLESS.sub("", _EMPTY_GROUP.sub("", svg))
    width = float(_SIZE.findall(slim)[0][0])
    room = f"min-width:{round(width * _LEAST)}px;max-width:{round(width * _MOST)}px"
    opening = f'<svg role="img" aria-label="{label}" font-size="{FONT}" style="{room}" '
    return slim.replace("<svg ", opening, 1)


@cache
def _compiled(layers: str, size: tuple[int, int], panels: tuple[str, ...]) -> str:
    """A chart without rows as JSON for Vega, with the layers' holes: compiling takes a third of the time of a chart."""
    marks = json.loads(layers)
    plot: dict[str, object] = {"layer": marks, "width": size[0], "height": size[1]}
    if panels:
        # With panels, Vega-Lite takes the rows from the whole chart, not from its layers.
        rows, *_ = [each.pop("data") for each in marks]
        facet = {"field": "panel", "type": "nominal", "sort": panels, "header": _HEADER}
        plot = {"data": rows, "facet": facet, "columns": _PANELS_BESIDE, "spec": plot}
    return json.dumps(vlc.vegalite_to_vega({**plot, "config": _CONFIG}, vl_version=_VEGA_LITE))


def by_kind(*, has_legend: bool = True) -> tuple[alt.Color, alt.Shape]:
    """The encodings of a system's kind as colour and shape, with a legend; :func:`drawn` fills their holes."""
    legend = alt.Legend(
        orient="top", title=None, labelColor=INK, labelFontSize=FONT, symbolSize=64, symbolOpacity=1, offset=8,
        labelExpr="@legend", symbolStrokeWidth=0,
    ) if has_legend else None  # fmt: skip
    colours, shapes = (alt.Scale(domain=["@kinds"], range=[f"@{name}"]) for name in ("colours", "shapes"))
    return alt.Color("kind:N", scale=colours, legend=legend), alt.Shape("kind:N", scale=shapes, legend=legend)


def write_figure(path: Path, svg: str, title: str, population: str, numbers: str) -> None:
    """Write a figure as stand-alone SVG and PDF (always the same bytes), and its numbers as CSV."""
    width, height = map(float, _SIZE.findall(svg)[0])
    per_line = max(20, int((width - 2 * _MARGIN) / _CHARACTER))
    lines = [
        (line, colour)
        for text, colour in ((title, "currentColor"), (population, "var(--muted)"))
        for line in textwrap.wrap(visible(text), per_line)
    ]
    head = _MARGIN + _LINE * len(lines) + 8
    picture = _filled(
        "figure.svg",
        width=f"{width + _MARGIN:g}",
        height=f"{height + head + _MARGIN:g}",
        title=title,
        lines=[(_MARGIN + _LINE * number - 4, line, colour) for number, (line, colour) in enumerate(lines, 1)],
        margin=_MARGIN,
        head=head,
        inner=Markup(svg[svg.index(">") + 1 : svg.rindex("</svg>")]),
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.with_suffix(".svg").write_text(picture, encoding="utf-8")
    path.with_suffix(".csv").write_text(numbers, encoding="utf-8")
    content = vlc.svg_to_pdf(_FOREIGN.sub("?", _WEIGHT.sub("", picture)))
    same = _LISTED.sub(lambda names: b"".join(sorted(names[0].splitlines(keepends=True))), content)
    path.with_suffix(".pdf").write_bytes(same)


def _filled(template: str, **values: object) -> str:
    """A stand-alone picture: its template filled in, with the light colours instead of custom properties."""
    svg = render(template, {**values, "fonts": FONTS}).replace("currentColor", "var(--ink)")
    return _USED.sub(lambda use: light_colours()[use[1]], svg)


def write_shared_picture(path: Path, title: str, sentence: str) -> None:
    """Write the PNG for link previews of a page; a sentence that is too long is cut and ends in `…`."""
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
    """Custom property of the style sheet → its colour in the light theme."""
    declared = _COLOUR.findall(STYLE.read_text(encoding="utf-8"))
    colours = {name: colour for name, colour, _ in declared if colour}
    return colours | {name: colours[other] for name, _, other in declared if other in colours}
