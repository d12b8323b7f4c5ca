"""The charts: a forest of a few systems' scores, and lines of scores over steps, sizes or costs."""

import math
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Literal
from zlib import crc32

import altair as alt
from markupsafe import Markup

from report.charts.drawing import CHARACTER, INK, LINE, MUTED, as_json, by_kind, drawn, marks_of
from report.charts.figures import KIND_LOOKS, LONG, SHADES, Curve, Point, cut
from report.format import score

_ROW, _FOREST, _FOREST_NAME = 21, 100, 25


def forest_chart(points: Sequence[Point], name: str) -> str:
    """A chart of a few systems: a row each with its name, interval and mark, and the score to the right."""
    bottom = min([0.0, *(min(point.low or 0.0, point.value) for point in points)])
    top = max([*(max(point.high or 0.0, point.value) for point in points), bottom + 0.1])
    rows = [
        point._asdict()
        | {"y": _ROW * (y + 0.5), "shown": f"{point.value:.2f}", "label": cut(point.label, _FOREST_NAME)}
        for y, point in enumerate(points)
    ]
    # Room for a wider font than the one used for the layout.
    padding = {"left": 24, "right": 8, "top": 2, "bottom": 2}
    height = _ROW * len(points)
    holes = {"x_domain": [bottom, top], "y_domain": [height, 0]}
    return drawn(_forest_layers(bottom < 0), holes, {"rows": rows}, (_FOREST, height), name, padding)


@cache
def _forest_layers(has_zero: bool) -> str:  # positional, for the cache
    scale = alt.Scale(domain=["@x_domain"])
    base = marks_of("rows").encode(y=alt.Y("y:Q", scale=alt.Scale(domain=["@y_domain"]), axis=None))
    known = base.transform_filter("datum.low !== null").encode(x2=alt.X2("high"))
    colour, shape = by_kind(has_legend=False)
    dot = {"x": alt.X("value:Q", scale=scale, axis=None), "color": colour, "shape": shape}
    layers = [
        base.mark_rule(color=LINE).encode(x=alt.value(0), x2=alt.value(_FOREST)),
        known.mark_rule(strokeWidth=3, opacity=0.55).encode(x=alt.X("low:Q", scale=scale, axis=None), color=colour),
        base.mark_point(filled=True, size=70, opacity=1).encode(**dot),
        base.mark_text(align="right", color=INK).encode(x=alt.value(-10), text=alt.Text("label:N")),
        base.mark_text(align="left", color=INK).encode(x=alt.value(_FOREST + 10), text=alt.Text("shown:N")),
    ]
    if has_zero:
        layers.insert(1, base.mark_rule(color=MUTED, strokeDash=[2, 3]).encode(x=alt.XDatum(0, scale=scale, axis=None)))
    return as_json(layers)


# With more curves, or with two of the same shade, each gets its own plot, with the others faintly behind.
MOST_TOGETHER = 6
# As wide as a telephone, on which the names at the ends are replaced by a legend below.
_CURVES, _CURVES_HIGH, _LINE_HEIGHT = 330, 260, 16
_PANEL, _PANEL_HIGH = 290, 140
_APART, _BEYOND, _ABOVE, _MOST_MARKS = 0.03, 1.25, 1.06, 8
_DASHED = ("baseline", "oracle")


def line_chart(
    curves: Sequence[Curve], titles: tuple[str, str], name: str, front: Sequence[tuple[float, float, int]] = ()
) -> str:
    """A chart of a curve per system, faint without a label; `front` are the marks that are joined: x, y, curve."""
    has_marks = any(curve.is_sized for curve in curves)
    places = [at for curve in curves for at in curve.places]
    labels = {
        number: cut(curve.label, LONG) + ("" if front else f" {score(curve.values[-1])}")
        for number, curve in enumerate(curves)
        if curve.label
    }
    shades = {number: KIND_LOOKS[curve.kind].colour for number, curve in enumerate(curves)}
    shades |= zip(labels, _shades([(curves[number].kind, curves[number].system) for number in labels]), strict=True)
    rows = [
        {
            "curve": number, "at": at, "value": value, "kind": curve.kind, "shade": shades[number],
            "way": "faint" if not curve.label else "dashed" if curve.kind in _DASHED else "solid",
        }
        for number, curve in enumerate(curves)
        for at, value in zip(curve.places, curve.values, strict=True)
    ]  # fmt: skip
    top = _ABOVE * max([0.1, *(value for curve in curves for value in curve.values)])
    domain = [min(places) / _BEYOND, max(places) * _BEYOND] if has_marks else [1, max(places)]
    holes: dict[str, object] = {"x": titles[0], "x_domain": domain, "y": titles[1], "y_domain": [0, top]}
    holes["x_values"] = _powers(*domain) if has_marks else []
    n_shades = len({(curves[number].kind, shades[number]) for number in labels})
    is_apart = not front and (len(curves) > MOST_TOGETHER or n_shades < len(labels))
    layers = _line_layers("linear" if has_marks else "step-after", is_apart, bool(front))
    if is_apart:
        panels = [
            {**row, "panel": label, "is_own": row["curve"] == number}
            for number, label in labels.items()
            for row in rows
        ]
        return drawn(layers, holes, {"rows": panels}, (_PANEL, _PANEL_HIGH), name, panels=[*labels.values()])
    ends = [
        {"value": y * top, "label": labels[number], "shade": shades[number]}
        for number, y in _spread({number: curves[number].values[-1] / top for number in labels}, _CURVES_HIGH)
    ]
    tables: dict[str, Sequence[Mapping[str, object]]] = {"rows": rows, "ends": ends}
    tables |= _front(places, [(x, y, curves[number].kind, shades[number]) for x, y, number in front]) if front else {}
    # Room for names in a wider font than the one used for the layout.
    beside = 10 + max(map(len, labels.values()), default=0) * CHARACTER / 4
    padding = {"left": 4, "top": 14, "bottom": 4, "right": beside}
    return _with_legend(drawn(layers, holes, tables, (_CURVES, _CURVES_HIGH), name, padding), ends[::-1])


def _powers(low: float, high: float) -> list[float]:
    """The marks of a logarithmic axis: 1, 2, 5, 10, … or, if these are too many, powers of 10."""
    tens = [10.0**power for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]
    values = [power * digit for power in tens for digit in (1, 2, 5) if low <= power * digit <= high]
    return values if len(values) <= _MOST_MARKS else [power for power in tens if low <= power <= high]


def _front(
    costs: Sequence[float], front: Sequence[tuple[float, float, str, str]]
) -> dict[str, list[dict[str, object]]]:
    """The tables `front` and `line`: marks of a frontier (cost, value, kind, shade), and the line that joins them."""
    # A number too near to another is left out of the picture: the list below has them all.
    room = (max(costs) / min(costs)) ** _APART
    least = [0.0, *(cost * room for cost, *_ in front)]
    marks: list[dict[str, object]] = [
        {"at": cost, "value": value, "kind": kind, "shade": shade, "number": position, "is_apart": cost > after}
        for position, ((cost, value, kind, shade), after) in enumerate(zip(front, least, strict=False), 1)
    ]
    # Beyond the cost of the best system the frontier stays level.
    ends = [*((cost, value) for cost, value, *_ in front), (max(costs) * _BEYOND, front[-1][1])]
    return {"front": marks, "line": [{"at": cost, "value": value} for cost, value in ends]}


@cache
def _line_layers(way: Literal["linear", "step-after"], is_apart: bool, has_front: bool) -> str:  # positional
    has_marks = way == "linear"
    if has_marks:
        axis = alt.Axis(
            title="@x", values=["@x_values"], format=",~r", grid=True, domain=False, ticks=False,
            labelOverlap="greedy", labelSeparation=2 * CHARACTER,
        )  # fmt: skip
        x = alt.X("at:Q", scale=alt.Scale(type="log", domain=["@x_domain"], nice=False), axis=axis)
    else:
        axis = alt.Axis(title="@x", tickMinStep=1, grid=False, domainColor=LINE, tickColor=LINE, format="d")
        x = alt.X("at:Q", scale=alt.Scale(domain=["@x_domain"]), axis=axis)
    axis = alt.Axis(title="@y", tickCount=5, grid=True, domain=False, ticks=False)
    y = alt.Y("value:Q", scale=alt.Scale(domain=["@y_domain"], nice=False), axis=axis)
    shade, (kind, shape) = alt.Color("shade:N", scale=None, legend=None), by_kind(has_legend=has_front)
    lines = marks_of("rows").encode(x=x, y=y, color=shade, detail=alt.Detail("curve:N"))
    if is_apart:
        others = lines.transform_filter("!datum.is_own").encode(color=alt.value(MUTED))
        own = lines.transform_filter("datum.is_own")
        behind = others.mark_line(strokeWidth=1, opacity=0.35, interpolate=way)
        layers = [behind, own.mark_line(strokeWidth=2.25, interpolate=way)]
        if has_marks:
            layers.append(own.mark_point(filled=True, size=40, opacity=1).encode(shape=shape))
        return as_json(layers)
    faint, solid, dashed = (lines.transform_filter(f"datum.way === '{way}'") for way in ("faint", "solid", "dashed"))
    heads = marks_of("ends").encode(x=alt.value(_CURVES + 10), y=y, color=shade)
    layers = [
        faint.mark_line(strokeWidth=1, opacity=0.45, interpolate=way),
        solid.mark_line(strokeWidth=2.25, interpolate=way),
        dashed.mark_line(strokeWidth=1.75, strokeDash=[5, 4], interpolate=way),
        heads.mark_text(align="left", fontWeight="bold").encode(text=alt.Text("label:N")),
    ]
    if has_marks:
        layers[1:1] = [faint.mark_point(filled=True, size=30, opacity=0.75).encode(shape=shape)]
        with_names = lines.transform_filter("datum.way !== 'faint'")
        layers.append(with_names.mark_point(filled=True, size=52, opacity=1).encode(shape=shape))
    if has_front:
        line = marks_of("line").encode(x=x, y=y)
        joined = line.mark_line(color=MUTED, strokeWidth=3, opacity=0.7, interpolate="step-after")
        # Only for the legend: the visible marks have shades of these colours.
        legend = marks_of("rows").encode(x=x, y=y, color=kind, shape=shape).mark_point(filled=True, size=0)
        marks = marks_of("front").encode(x=x, y=y)
        ring = marks.mark_point(filled=True, size=80, opacity=1, stroke=INK, strokeWidth=1.25)
        numbers = marks.transform_filter("datum.is_apart").mark_text(dx=-9, dy=-10, color=INK, fontWeight="bold")
        above = [ring.encode(fill=shade, shape=shape), numbers.encode(text=alt.Text("number:Q"))]
        layers = [joined, legend, *layers, *above]
    return as_json(layers)


def _shades(systems: Sequence[tuple[str, str]]) -> list[str]:
    """The colour of each system, given as (kind, name): the shade its name hashes to, or the next that is free."""
    taken: dict[str, list[int]] = {}
    chosen: dict[tuple[str, str], str] = {}
    for kind, system in sorted(set(systems)):
        used, first = taken.setdefault(kind, []), crc32(system.encode())
        shade = min(((first + turn) % SHADES for turn in range(SHADES)), key=used.count)
        used.append(shade)
        own = KIND_LOOKS[kind].colour
        chosen[kind, system] = own if not shade or kind not in ("retriever", "agent") else f"{own[:-1]}-{shade + 1})"
    return [chosen[system] for system in systems]


def _with_legend(svg: str, ends: Sequence[Mapping[str, object]]) -> str:
    """A picture (`--whole`: its width relative to the part left of the names) with a legend for narrow screens."""
    width, left = (float(re.findall(pattern, svg)[0]) for pattern in (r' width="([0-9.]+)"', r"translate\(([0-9.]+)"))
    whole = f"--whole:{width / (left + _CURVES + 6):.3f};"
    entry = Markup('<li><span class="swatch" style="background:{shade}"></span>{label}</li>')
    entries = Markup("").join(entry.format(**end) for end in ends)
    return svg.replace('style="', f'style="{whole}', 1) + f'<ul class="legend ends">{entries}</ul>'


def _spread(ends: Mapping[int, float], height: int) -> list[tuple[int, float]]:
    """The places of the curves' names, as (curve, y from 0 to 1): at the ends, moved so that no two overlap."""
    gap, limit = _LINE_HEIGHT / height, 1.0
    order = sorted(ends, key=lambda number: (ends[number], number))
    placed: list[float] = []
    for number in order:
        placed.append(max(ends[number], placed[-1] + gap if placed else 0.0))
    for index in reversed(range(len(placed) if placed and placed[-1] > limit else 0)):
        placed[index] = min(placed[index], limit)
        limit = placed[index] - gap
    return list(zip(order, placed, strict=True))
