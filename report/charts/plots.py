"""Charts of one number per system, and those in which systems are compared along something: steps, sizes, costs.

Each takes its systems in order, what its axes show, and the name that a person who cannot see it is told.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from functools import cache
from typing import Literal
from zlib import crc32

import altair as alt
from markupsafe import Markup

from report.charts.drawing import (
    CHARACTER,
    INK,
    LINE,
    MUTED,
    WIDTH,
    as_json,
    at_pixel,
    by_kind,
    drawn,
    kinds_in,
    marks_of,
    powers,
    powers_axis,
    value_axis,
)
from report.charts.figures import KIND_LOOKS, LONG, SHADES, Curve, Point, Spot, cut
from report.format import score

_ROW, _GAP = 21, 6
_LABEL_END = -12
_FOREST, _FOREST_NAME = 125, 25


def score_chart(points: Sequence[Point], title: str, name: str) -> str:
    """A chart of one metric: a row per system, in groups, each a mark on a stem with its interval and its number."""
    bottom = min([0.0, *(point.value for point in points)])
    top = max([1.0, *(point.high or point.value for point in points)])
    rows: list[dict[str, object]] = []
    groups: list[dict[str, object]] = []
    height = 0
    for number, point in enumerate(points):
        if number == 0 or point.group != points[number - 1].group:
            height += _GAP if groups else 0
            groups.append({"group": cut(point.group), "y": height + _ROW / 2})
            height += _ROW
        rows.append(_row(point, height + _ROW / 2, bottom, score(point.value)))
        height += _ROW
    # Left of every label even in a font wider than the one the picture was laid out with.
    left = _LABEL_END - CHARACTER * max(len(str(row["label"])) for row in rows)
    holes = {"x": title, "x_domain": [bottom, top], "y_domain": [height, 0], "left": left}
    kinds = kinds_in(point.kind for point in points)
    return drawn(_score_layers(), holes | kinds, {"rows": rows, "groups": groups}, (WIDTH, height), name)


@cache
def _score_layers() -> str:
    axis = alt.Axis(title="@x", tickCount=5, format=".1f", grid=True, domain=False, ticks=False)
    x = alt.X("value:Q", scale=alt.Scale(domain=["@x_domain"]), axis=axis)
    y = alt.Y("y:Q", scale=alt.Scale(domain=["@y_domain"]), axis=None)
    colour, shape = by_kind()
    base = marks_of("rows")
    dots = base.encode(x=x, y=y)
    known = base.transform_filter("datum.low !== null").encode(x=alt.X("low:Q"), x2=alt.X2("high"), y=y)
    heads = marks_of("groups").encode(y=y, x=at_pixel("@left"), text=alt.Text("group:N"))
    return as_json([
        dots.encode(x2=alt.X2Datum(0)).mark_rule(color=INK, opacity=0.25, strokeWidth=1),
        known.mark_rule(strokeWidth=2.5, opacity=0.55).encode(color=colour),
        dots.mark_point(filled=True, size=64, opacity=1).encode(color=colour, shape=shape),
        # Behind the interval, which would strike it through.
        base.mark_text(align="left", dx=10, color=INK).encode(x=alt.X("end:Q"), y=y, text=alt.Text("shown:N")),
        base.mark_text(align="right", color=MUTED).encode(x=at_pixel(_LABEL_END), y=y, text=alt.Text("label:N")),
        heads.mark_text(align="left", color=INK, fontWeight="bold"),
    ])  # fmt: skip


def forest_chart(points: Sequence[Point], name: str) -> str:
    """A few systems, one below the other: name, interval and mark on a line of its own, the number to the right."""
    bottom = min([0.0, *(min(point.low or 0.0, point.value) for point in points)])
    top = max([*(max(point.high or 0.0, point.value) for point in points), bottom + 0.1])
    height = _ROW * len(points)
    rows = [
        _row(point, _ROW * (number + 0.5), bottom, f"{point.value:.2f}", _FOREST_NAME)
        for number, point in enumerate(points)
    ]
    # Room for a font wider than the one that the picture is laid out with.
    padding = {"left": 24, "right": 8, "top": 2, "bottom": 2}
    holes = {"x_domain": [bottom, top], "y_domain": [height, 0]} | kinds_in(point.kind for point in points)
    return drawn(_forest_layers(bottom < 0), holes, {"rows": rows}, (_FOREST, height), name, padding)


@cache
def _forest_layers(has_zero: bool) -> str:  # of a cache's key
    scale = alt.Scale(domain=["@x_domain"])
    base = marks_of("rows").encode(y=alt.Y("y:Q", scale=alt.Scale(domain=["@y_domain"]), axis=None))
    known = base.transform_filter("datum.low !== null").encode(x2=alt.X2("high"))
    colour, shape = by_kind(has_legend=False)
    dot = {"x": alt.X("value:Q", scale=scale, axis=None), "color": colour, "shape": shape}
    layers = [
        base.mark_rule(color=LINE).encode(x=at_pixel(0), x2=alt.value(_FOREST)),
        known.mark_rule(strokeWidth=3, opacity=0.55).encode(x=alt.X("low:Q", scale=scale, axis=None), color=colour),
        base.mark_point(filled=True, size=70, opacity=1).encode(**dot),
        base.mark_text(align="right", color=INK).encode(x=at_pixel(-10), text=alt.Text("label:N")),
        base.mark_text(align="left", color=INK).encode(x=at_pixel(_FOREST + 10), text=alt.Text("shown:N")),
    ]
    if has_zero:
        layers.insert(1, base.mark_rule(color=MUTED, strokeDash=[2, 3]).encode(x=alt.XDatum(0, scale=scale, axis=None)))
    return as_json(layers)


def _row(point: Point, y: float, bottom: float, shown: str, most: int = 24) -> dict[str, object]:
    """A point as a chart has it; what lies left of the axis is where the names stand."""
    low = None if point.low is None else max(point.low, bottom)
    end = max(point.value, point.high or 0.0)
    return {**asdict(point), "low": low, "y": y, "shown": shown, "label": cut(point.label, most), "end": end}


MOST_TOGETHER = 6
"""Of more curves, or more of a kind than it has shades, each has a plot of its own, with the others faintly behind."""

_CURVES, _CURVES_HIGH, _LINE_HEIGHT = 330, 260, 16
"""As wide as a telephone: there the names at the ends stand in a legend below."""

_PANEL, _PANEL_HIGH = 230, 140
_APART = 0.03
_DASHED = ("baseline", "oracle")


def line_chart(curves: Sequence[Curve], titles: tuple[str, str], name: str) -> str:
    """A curve per system with its name at its end: over steps, or over sizes on a scale of powers, each with a mark."""
    has_marks = any(curve.is_sized for curve in curves)
    places = [place for curve in curves for place in curve.places]
    kinds = [curve.kind for curve in curves]
    shades = _shades([(curve.kind, curve.system) for curve in curves])
    rows = [
        {"curve": number, "at": position, "value": value, "kind": curve.kind, "dashed": curve.kind in _DASHED}
        for number, curve in enumerate(curves)
        for position, value in zip(curve.places, curve.values, strict=True)
    ]
    top = max([0.1, *(value for curve in curves for value in curve.values)])
    labels = [f"{cut(curve.label, LONG)} {score(curve.values[-1])}" for curve in curves]
    ends = [
        {"curve": number, "value": y * top, "label": labels[number]}
        for number, y in _spread([curve.values[-1] / top for curve in curves], _CURVES_HIGH)
    ]
    x = powers(titles[0], places, 1.1) if has_marks else {"x": titles[0], "x_domain": [1, max(places)]}
    holes = {**x, "y": titles[1], "y_domain": [0, top], "curves": [*range(len(curves))], "shades": shades}
    holes |= kinds_in(kinds)
    is_apart = len(curves) > MOST_TOGETHER or len(set(zip(kinds, shades, strict=True))) < len(curves)
    layers = _line_layers("linear" if has_marks else "step-after", is_apart)
    if is_apart:
        panels = [
            {**row, "panel": label, "is_own": row["curve"] == number}
            for number, label in enumerate(labels)
            for row in rows
        ]
        return drawn(layers, holes, {"rows": panels}, (_PANEL, _PANEL_HIGH), name, panels=labels)
    padding = {"left": 4, "top": 8, "bottom": 4, "right": _beside(labels)}
    svg = drawn(layers, holes, {"rows": rows, "ends": ends}, (_CURVES, _CURVES_HIGH), name, padding)
    return _with_legend(svg, [(label, shade) for label, shade in zip(labels, shades, strict=True)])


@cache
def _line_layers(way: Literal["linear", "step-after"], is_apart: bool) -> str:  # of a cache's key
    has_marks = way == "linear"
    axis = alt.Axis(title="@x", tickMinStep=1, grid=False, domainColor=LINE, tickColor=LINE, format="d")
    x = powers_axis("at") if has_marks else alt.X("at:Q", scale=alt.Scale(domain=["@x_domain"]), axis=axis)
    colour = alt.Color("curve:N", scale=alt.Scale(domain=["@curves"], range=["@shades"]), legend=None)
    y, (_, shape) = value_axis(), by_kind(has_legend=False)
    lines = marks_of("rows").encode(x=x, y=y, color=colour, detail=alt.Detail("curve:N"))
    if is_apart:
        others = lines.transform_filter("!datum.is_own").encode(color=alt.value(MUTED))
        own = lines.transform_filter("datum.is_own")
        behind = others.mark_line(strokeWidth=1, opacity=0.35, interpolate=way)
        layers = [behind, own.mark_line(strokeWidth=2.25, interpolate=way)]
        if has_marks:
            layers.append(own.mark_point(filled=True, size=40, opacity=1).encode(shape=shape))
        return as_json(layers)
    heads = marks_of("ends").encode(x=at_pixel(_CURVES + 10), y=y, color=colour)
    layers = [
        lines.transform_filter("!datum.dashed").mark_line(strokeWidth=2.25, interpolate=way),
        lines.transform_filter("datum.dashed").mark_line(strokeWidth=1.75, strokeDash=[5, 4], interpolate=way),
        heads.mark_text(align="left", fontWeight="bold").encode(text=alt.Text("label:N")),
    ]
    if has_marks:
        layers.insert(2, lines.mark_point(filled=True, size=52, opacity=1).encode(shape=shape))
    return as_json(layers)


def _shades(systems: Sequence[tuple[str, str]]) -> list[str]:
    """A shade of its kind's colour for each system, given as kind and name: its own by its name, or the next free."""
    taken: dict[str, list[int]] = {}
    chosen: dict[tuple[str, str], str] = {}
    for kind, system in sorted(set(systems)):
        used, first = taken.setdefault(kind, []), crc32(system.encode())
        least = min(map(used.count, range(SHADES)))
        turns = ((first + turn) % SHADES for turn in range(SHADES))
        shade = next(shade for shade in turns if used.count(shade) == least)
        used.append(shade)
        own = KIND_LOOKS[kind].colour
        chosen[kind, system] = own if not shade or kind not in ("retriever", "agent") else f"{own[:-1]}-{shade + 1})"
    return [chosen[system] for system in systems]


def frontier_chart(spots: Sequence[Spot], titles: tuple[str, str], name: str) -> str:
    """Each system by its cost, on a log scale, and its value; the frontier is numbered and joined."""
    costs = [spot.cost for spot in spots]
    edge = sorted((spot for spot in spots if spot.number), key=lambda spot: spot.number or 0)
    # What the best system costs buys its number, and more money buys no more.
    line = [{"cost": spot.cost, "value": spot.value} for spot in edge]
    line += [{"cost": max(costs) * 1.25, "value": edge[-1].value}] * bool(edge)
    # A number beside another could not be read: the list below the picture has them all.
    room = (max(costs) / min(costs)) ** _APART
    least = [0.0, *(spot.cost * room for spot in edge)]
    apart = [spot.number for spot, after in zip(edge, least, strict=False) if spot.cost > after]
    top = max(0.1, *(spot.value for spot in spots)) * 1.06
    last = list({spot.run: spot for spot in spots if spot.label}.values())
    shades = dict(zip([spot.run for spot in last], _shades([(spot.kind, spot.system) for spot in last]), strict=True))
    rows = [
        {**asdict(spot), "shade": shades.get(spot.run, KIND_LOOKS[spot.kind].colour), "is_apart": spot.number in apart}
        for spot in spots
    ]
    ends = [
        {"value": y * top, "label": cut(last[number].label, LONG), "shade": shades[last[number].run]}
        for number, y in _spread([spot.value / top for spot in last], _CURVES_HIGH)
    ]
    holes = {**powers(titles[0], costs, 1.25), "y": titles[1], "y_domain": [0, top]}
    holes |= kinds_in(spot.kind for spot in spots)
    padding = {"left": 4, "top": 14, "bottom": 4, "right": _beside([str(end["label"]) for end in ends])}
    tables = {"rows": rows, "line": line, "ends": ends}
    svg = drawn(_frontier_layers(), holes, tables, (_CURVES, _CURVES_HIGH), name, padding)
    return _with_legend(svg, [(str(end["label"]), str(end["shade"])) for end in reversed(ends)])


@cache
def _frontier_layers() -> str:
    x, y = powers_axis("cost"), value_axis()
    colour, shape = by_kind()
    shade = alt.Color("shade:N", scale=None, legend=None)
    base = marks_of("rows").encode(x=x, y=y)
    numbered = base.transform_filter("datum.number !== null")
    labelled, others = (base.transform_filter(f"datum.label {sign} ''") for sign in ("!==", "==="))
    heads = marks_of("ends").encode(x=at_pixel(_CURVES + 10), y=y, color=shade)
    run = alt.Detail("run:N")
    return as_json([
        marks_of("line").encode(x=x, y=y).mark_line(
            color=MUTED, strokeWidth=5, opacity=0.3, interpolate="step-after"
        ),
        # Nothing but the legend: what is seen has shades of these colours.
        base.mark_point(filled=True, size=0).encode(color=colour, shape=shape),
        others.mark_line(strokeWidth=1, opacity=0.45).encode(color=shade, detail=run),
        others.mark_point(filled=True, size=30, opacity=0.75).encode(color=shade, shape=shape),
        labelled.mark_line(strokeWidth=2).encode(color=shade, detail=run),
        labelled.mark_point(filled=True, size=56, opacity=1).encode(color=shade, shape=shape),
        numbered.mark_point(filled=True, size=80, opacity=1, stroke=INK, strokeWidth=1.25).encode(
            fill=shade, shape=shape
        ),
        numbered.transform_filter("datum.is_apart")
        .mark_text(dx=-9, dy=-10, color=INK, fontWeight="bold")
        .encode(text=alt.Text("number:Q")),
        heads.mark_text(align="left", fontWeight="bold").encode(text=alt.Text("label:N")),
    ])  # fmt: skip


def _with_legend(svg: str, names: Iterable[tuple[str, str]]) -> str:
    """A picture with the names at its right and their colours once more below it, for where it is cut off at its plot.

    Its `--whole` says by how much it is wider than up to the end of the plot.
    """
    width, left = (float(re.findall(pattern, svg)[0]) for pattern in (r' width="([0-9.]+)"', r"translate\(([0-9.]+)"))
    whole = f"--whole:{width / (left + _CURVES + 6):.3f};"
    entry = Markup('<li><span class="swatch" style="background:{}"></span>{}</li>')
    entries = Markup("").join(entry.format(shade, label) for label, shade in names)
    return svg.replace('style="', f'style="{whole}', 1) + f'<ul class="legend ends">{entries}</ul>'


def _beside(labels: Sequence[str]) -> float:
    """Room for names in a font that is wider than the one which the picture is laid out with."""
    return 10 + max(map(len, labels), default=0) * CHARACTER / 4


def _spread(ends: Sequence[float], height: int) -> list[tuple[int, float]]:
    """Where each curve's name stands: at its end, or so far off that no two overlap."""
    gap = _LINE_HEIGHT / height
    order = sorted(range(len(ends)), key=lambda number: (ends[number], number))
    placed: list[float] = []
    for number in order:
        placed.append(max(ends[number], placed[-1] + gap if placed else 0.0))
    if placed and placed[-1] > 1.0:
        limit = 1.0
        for index in reversed(range(len(placed))):
            placed[index] = min(placed[index], limit)
            limit = placed[index] - gap
    return list(zip(order, placed, strict=True))
