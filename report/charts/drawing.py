"""What every picture is drawn with: one look, axes, legend and the way into a page.

Every mark is drawn in `currentColor` or a custom property of the style sheet, so one picture serves light and dark.
Vega's own accessibility attributes are left out: the page gives the whole picture one name and its numbers as rows.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence

import altair as alt

from report.charts.converter import svg_of_chart
from report.format import visible
from report.models import KINDS

# Every object of a chart checks itself against the whole schema otherwise, which takes longer than all else.
alt.utils.schemapi.DEBUG_MODE = False

INK, PAGE, LINE, MUTED = "currentColor", "var(--page)", "var(--line)", "var(--muted)"
WIDTH, CHARACTER, FONT = 560, 7.2, 12
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
_LEAST = 11 / FONT  # No text gets smaller than 11 pixels: in a narrower box the picture scrolls.
_MOST_MARKS, _MAX_LABEL, _PANELS_BESIDE = 8, 24, 3
_EMPTY_GROUP = re.compile(r'<path class="(?:background|foreground)"[^>]*/>|<path [^>]*d="M0,0"[^>]*/>')
_PLACES = re.compile(r' (?:d|transform)="[^"]*"')
_HUNDREDTHS = re.compile(r"(\.[0-9])[0-9]+")
# What Vega writes into every mark and no mark needs; a third of a picture.
_NEEDLESS = re.compile(
    r' (?:role|aria-[a-z]+|class|pointer-events|version|xmlns(?::xlink)?|font-family|stroke-miterlimit)="[^"]*"'
    rf'| opacity="1"| font-size="{FONT}px"'
)
_SIZE = re.compile(r' width="([0-9.]+)" height="[0-9.]+"')


def marks_of(table: str) -> alt.Chart:
    """A layer of a mark per row of a table, which is given to :func:`svg_of` by its name."""
    # By name, since Altair copies what is in a layer at every word about it.
    return alt.Chart(alt.NamedData(name=table))


def svg_of(
    layers: Sequence[alt.Chart],
    tables: Mapping[str, Sequence[Mapping[str, object]]],
    size: tuple[int, int],
    name: str,
    padding: int | Mapping[str, float] = 4,
    panels: Sequence[str] = (),
) -> str:
    """Layers, the lowest first, as an `<svg>` element that fills its box and scrolls where its text would be too small.

    `tables` has the rows of the layers' tables, `size` is that of a plot in pixels, `padding` the room beside it. With
    `panels` there is a plot for each, of the rows that name it in column `panel` of the one table.
    """
    # Put together here: as one chart of Altair's it would be copied whole at every word about it.
    marks = [layer.to_dict(validate=False, context={"top_level": False}) for layer in layers]
    plot = {"layer": marks, "width": size[0], "height": size[1]}
    if panels:
        for each in marks:
            # The rows of a panel are those of the whole, and not of a layer.
            each.pop("data")
        header = {"title": None, "labelAnchor": "start", "labelFontSize": FONT, "labelFontWeight": "bold"}
        facet = {"field": "panel", "type": "nominal", "sort": panels, "header": {**header, "labelColor": INK}}
        plot = {"data": {"name": next(iter(tables))}, "facet": facet, "columns": _PANELS_BESIDE, "spec": plot}
    svg = svg_of_chart(json.dumps({**plot, "datasets": tables, "config": {**_CONFIG, "padding": padding}}))
    label = visible(name).replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
    # Half of a chart of many systems is digits beyond a tenth of a pixel.
    svg = _PLACES.sub(lambda match: _HUNDREDTHS.sub(r"\1", match[0]), svg)
    slim = _NEEDLESS.sub("", _EMPTY_GROUP.sub("", svg))
    least = round(float(_SIZE.findall(slim)[0]) * _LEAST)
    return slim.replace(
        "<svg ", f'<svg role="img" aria-label="{label}" font-size="{FONT}" style="min-width:{least}px" ', 1
    )


def at_pixel(x: float) -> alt.XValue:
    """A place along x that no number decides."""
    return alt.XValue(x)  # type: ignore[no-untyped-call]  # Altair's own


def cut(text: str, most: int = _MAX_LABEL) -> str:
    """A name that has room beside a picture."""
    shown = visible(text)
    if len(shown) <= most:
        return shown
    # Names that are no words differ at their ends as well.
    kept = 0 if " " in shown else most // 2
    return f"{shown[: most - 1 - kept]}…{shown[len(shown) - kept :]}"


def powers_axis(field: str, numbers: Sequence[float], title: str, beyond: float) -> alt.X:
    """The axis of what is compared by ratios, on a scale of powers; `beyond` is the room at either end, as a factor."""
    low, high = min(numbers) / beyond, max(numbers) * beyond
    axis = alt.Axis(
        title=title, values=_marks(low, high), format=",~r", grid=True, domain=False, ticks=False,
        labelOverlap="greedy", labelSeparation=CHARACTER,
    )  # fmt: skip
    return alt.X(f"{field}:Q", scale=alt.Scale(type="log", domain=[low, high], nice=False), axis=axis)


def value_axis(title: str, top: float) -> alt.Y:
    """The axis of a number that is best read from 0."""
    axis = alt.Axis(title=title, tickCount=5, grid=True, domain=False, ticks=False)
    return alt.Y("value:Q", scale=alt.Scale(domain=[0, top], nice=False), axis=axis)


def by_kind(kinds: Iterable[str], *, has_legend: bool = True) -> tuple[alt.Color, alt.Shape]:
    """The colour and the shape of each of the KINDS that are there, and the line above the axes that says which."""
    domain = [kind for kind in KINDS if kind in set(kinds)]
    names = "{" + ", ".join(f"'{kind}': '{KINDS[kind].title}'" for kind in domain) + "}"
    legend = alt.Legend(
        orient="top", title=None, labelColor=INK, labelFontSize=FONT, symbolSize=64, symbolOpacity=1, offset=8,
        labelExpr=f"{names}[datum.label]", symbolStrokeWidth=0,
    ) if has_legend else None  # fmt: skip
    colours = alt.Scale(domain=domain, range=[KINDS[kind].colour for kind in domain])
    shapes = alt.Scale(domain=domain, range=[KINDS[kind].shape for kind in domain])
    return alt.Color("kind:N", scale=colours, legend=legend), alt.Shape("kind:N", scale=shapes, legend=legend)


def _marks(low: float, high: float) -> list[float]:
    """The round numbers between two: 1, 2, 5, 10, … where they are few, else powers of 10."""
    powers = [10.0**power for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]
    marks = [power * digit for power in powers for digit in (1, 2, 5) if low <= power * digit <= high]
    return marks if len(marks) <= _MOST_MARKS else [power for power in powers if low <= power <= high]
