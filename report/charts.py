"""Charts as inline SVG that takes its colours from the page; the one module that knows Altair.

Every mark is drawn in `currentColor` or a custom property of the stylesheet, so one picture serves light and dark.
Vega's own accessibility attributes are left out: the page gives the whole picture one name and the numbers in a table.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Literal

import altair as alt
import vl_convert as vlc

from report.shown import score, visible

VEGA_LITE = "6.4"

_WIDTH, _ROW, _GAP = 360, 21, 6
_LABEL_END, _CHARACTER = -12, 7.2
_MAX_LABEL = 24
_CURVES, _CURVES_HIGH, _LINE_HEIGHT = 420, 300, 16
_FRONTIER_HIGH, _MOST_MARKS = 240, 8
_INK, _ACCENT, _PAGE, _LINE, _MUTED = "currentColor", "var(--mark)", "var(--page)", "var(--line)", "var(--muted)"
_FOREST, _FOREST_NAME = 160, 18
KINDS = {
    "retriever": ("var(--retriever)", "circle"),
    "agent": ("var(--agent)", "square"),
    "imported": ("var(--agent)", "triangle-up"),
    "baseline": ("var(--baseline)", "diamond"),
}
"""Kind of system → its colour and its shape."""
_EMPTY_GROUP = re.compile(r'<path class="(?:background|foreground)"[^>]*/>')
_FONT = re.compile(r' font-family="[^"]*"')
_PLACES = re.compile(r' (?:d|transform)="[^"]*"')
_HUNDREDTHS = re.compile(r"(\.[0-9])[0-9]+")
_ROLES = re.compile(r' (?:role|aria-[a-z]+)="[^"]*"')


@dataclass(frozen=True)
class Point:
    """One system in the chart.

    Attributes:
        group: What it is listed under.
        label: What it is called there.
        value: Its number.
        baseline: Drawn hollow.
        low: Lower end of its interval, where there is one.
        high: Upper end.
    """

    group: str
    label: str
    value: float
    baseline: bool
    low: float | None = None
    high: float | None = None


def score_chart(points: Sequence[Point], title: str, name: str) -> str:
    """One metric per system under its group's name: a dot on a stem, the number behind it; baselines are hollow.

    Args:
        points: The systems, in order, those of a group together.
        title: What the axis shows.
        name: What a person who cannot see it is told.

    Returns:
        An `<svg>` element.
    """
    bottom = min([0.0, *(point.value for point in points)])
    top = max([1.0, *(point.high or point.value for point in points)])
    # What lies left of the axis is where the names stand.
    shown = [replace(one, low=None if one.low is None else max(one.low, bottom)) for one in points]
    rows, groups, height = _placed(shown)
    axis = alt.Axis(title=title, tickCount=5, format=".1f", grid=True, domain=False, ticks=False)
    x = alt.X("value:Q", scale=alt.Scale(domain=[bottom, top]), axis=axis)
    y = alt.Y("y:Q", scale=alt.Scale(domain=[height, 0]), axis=None)
    base = alt.Chart(alt.InlineData(values=rows))
    dots = base.encode(x=x, y=y)
    known = base.transform_filter("datum.low !== null").encode(x=alt.X("low:Q"), x2="high:Q", y=y)
    heads = alt.Chart(alt.InlineData(values=groups)).encode(y=y)
    # Left of every label even in a font wider than the one the picture was laid out with.
    left = _LABEL_END - _CHARACTER * max(len(str(row["label"])) for row in rows)
    layers = [
        dots.encode(x2=alt.datum(0)).mark_rule(color=_INK, opacity=0.25, strokeWidth=1),
        known.mark_rule(color=_INK, strokeWidth=2, opacity=0.6),
        dots.transform_filter("!datum.baseline").mark_point(filled=True, size=64, fill=_ACCENT, opacity=1),
        dots.transform_filter("datum.baseline").mark_point(
            filled=True, size=56, fill=_PAGE, stroke=_INK, strokeWidth=1.5, opacity=1, shape="diamond"
        ),
        # Behind the interval, which would strike it through.
        base.mark_text(align="left", dx=10, color=_INK).encode(x="end:Q", y=y, text="shown:N"),
        base.mark_text(align="right", color=_MUTED).encode(x=alt.value(_LABEL_END), y=y, text="label:N"),
        heads.mark_text(align="left", color=_INK, fontWeight="bold").encode(x=alt.value(left), text="group:N"),
    ]
    chart = (
        alt.layer(*layers)
        .properties(width=_WIDTH, height=height)
        .configure(background="transparent", padding=4, aria=False)
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=_MUTED, titleColor=_INK, gridColor=_LINE, labelFontSize=12, titleFontSize=12, titlePadding=10
        )
        .configure_text(fontSize=12)
    )
    return _inline(vlc.vegalite_to_svg(chart.to_dict(validate=False), vl_version=VEGA_LITE), name)


def forest_chart(points: Sequence[Point], name: str) -> str:
    """A few systems, one below the other: name, interval and mark on a line of its own, the number to the right.

    Args:
        points: The systems, in order; `group` is a system's kind, which has one colour and one shape everywhere.
        name: What a person who cannot see it is told.

    Returns:
        An `<svg>` element.
    """
    bottom = min([0.0, *(point.value for point in points)])
    top = max([*(max(point.high or 0.0, point.value) for point in points), bottom + 0.1])
    rows = [
        {
            "label": _cut(point.label, _FOREST_NAME), "kind": point.group,
            "value": point.value, "shown": f"{point.value:.2f}",
            "low": None if point.low is None else max(point.low, bottom), "high": point.high, "y": _ROW * (place + 0.5),
        }
        for place, point in enumerate(points)
    ]  # fmt: skip
    # Room for a font wider than the one that the picture is laid out with.
    padding = {"left": 24, "right": 8, "top": 2, "bottom": 2}
    base = alt.Chart(alt.InlineData(values=rows))
    x = alt.X("value:Q", scale=alt.Scale(domain=[bottom, top]), axis=None)
    y = alt.Y("y:Q", scale=alt.Scale(domain=[_ROW * len(points), 0]), axis=None)
    kinds = [kind for kind in KINDS if any(point.group == kind for point in points)]
    colour = alt.Color("kind:N", scale=alt.Scale(domain=kinds, range=[KINDS[kind][0] for kind in kinds]), legend=None)
    shape = alt.Shape("kind:N", scale=alt.Scale(domain=kinds, range=[KINDS[kind][1] for kind in kinds]), legend=None)
    layers = [
        base.encode(y=y, x=alt.value(0), x2=alt.value(_FOREST)).mark_rule(color=_LINE),
        base.transform_filter("datum.low !== null")
        .mark_rule(strokeWidth=3, opacity=0.55)
        .encode(x=alt.X("low:Q", scale=alt.Scale(domain=[bottom, top]), axis=None), x2="high:Q", y=y, color=colour),
        base.mark_point(filled=True, size=70, opacity=1).encode(x=x, y=y, color=colour, shape=shape),
        base.mark_text(align="right", color=_INK).encode(x=alt.value(-10), y=y, text="label:N"),
        base.mark_text(align="left", color=_INK).encode(x=alt.value(_FOREST + 10), y=y, text="shown:N"),
    ]
    chart = (
        alt.layer(*layers)
        .properties(width=_FOREST, height=_ROW * len(points))
        .configure(background="transparent", padding=padding, aria=False)
        .configure_view(stroke=None)
        .configure_text(fontSize=12.5)
    )
    return _inline(vlc.vegalite_to_svg(chart.to_dict(validate=False), vl_version=VEGA_LITE), name)


@dataclass(frozen=True)
class Curve:
    """One system's curve.

    Attributes:
        label: What it is called.
        values: Its number at 1, 2, 3, … or at the places.
        baseline: Drawn dashed.
        places: Where its numbers lie, rising; 1, 2, 3, … without.
    """

    label: str
    values: Sequence[float]
    baseline: bool
    places: Sequence[float] = ()


def step_chart(curves: Sequence[Curve], title: str, name: str) -> str:
    """A curve per system over the steps, each with its name at its end.

    Args:
        curves: The systems; colours are given in their order.
        title: What the axis shows.
        name: What a person who cannot see it is told.

    Returns:
        An `<svg>` element.
    """
    x = alt.X(
        "at:Q", scale=alt.Scale(domain=[1, max(len(curve.values) for curve in curves)]),
        axis=alt.Axis(title="Step", tickMinStep=1, grid=False, domainColor=_LINE, tickColor=_LINE, format="d"),
    )  # fmt: skip
    return _curve_chart(curves, x, title, name, has_marks=False)


def size_chart(curves: Sequence[Curve], titles: tuple[str, str], name: str) -> str:
    """A curve per system over sizes, on a scale of powers, a mark at every size and its name at its end.

    Args:
        curves: The systems with their places; colours are given in their order.
        titles: What the two axes show, that of the sizes first.
        name: What a person who cannot see it is told.

    Returns:
        An `<svg>` element.
    """
    places = [place for curve in curves for place in curve.places]
    low, high = min(places) / 1.1, max(places) * 1.1
    x = alt.X(
        "at:Q", scale=alt.Scale(type="log", domain=[low, high], nice=False),
        axis=alt.Axis(title=titles[0], values=_marks(low, high), format=",~r", grid=True, domain=False, ticks=False),
    )  # fmt: skip
    return _curve_chart(curves, x, titles[1], name, has_marks=True)


def _curve_chart(curves: Sequence[Curve], x: alt.X, title: str, name: str, *, has_marks: bool) -> str:
    rows = [
        {"curve": number, "at": place, "value": value, "baseline": curve.baseline}
        for number, curve in enumerate(curves)
        for place, value in zip(curve.places or range(1, len(curve.values) + 1), curve.values, strict=True)
    ]
    top = max([0.1, *(value for curve in curves for value in curve.values)])
    ends = [
        {"curve": place, "value": y * top, "label": f"{_cut(curves[place].label)} {score(curves[place].values[-1])}"}
        for place, y in _spread([curve.values[-1] / top for curve in curves])
    ]
    colours = alt.Scale(
        domain=list(range(len(curves))), range=[f"var(--c{place % 8 + 1})" for place in range(len(curves))]
    )
    colour = alt.Color("curve:N", scale=colours, legend=None)
    y = alt.Y(
        "value:Q", scale=alt.Scale(domain=[0, top]),
        axis=alt.Axis(title=title, tickCount=5, grid=True, domain=False, ticks=False),
    )  # fmt: skip
    way: Literal["linear", "step-after"] = "linear" if has_marks else "step-after"
    marks = alt.OverlayMarkDef(filled=True, size=36, opacity=1) if has_marks else False
    # The names stand beside the picture proper, which knows nothing of their width.
    beside = max(len(str(end["label"])) for end in ends) * _CHARACTER
    padding = {"left": 4, "top": 4, "bottom": 4, "right": 10 + beside}
    lines = alt.Chart(alt.InlineData(values=rows)).encode(x=x, y=y, color=colour, detail="curve:N")
    heads = alt.Chart(alt.InlineData(values=ends)).encode(x=alt.value(_CURVES + 10), y=y, color=colour)
    layers = [
        lines.transform_filter("!datum.baseline").mark_line(strokeWidth=2.25, interpolate=way, point=marks),
        lines.transform_filter("datum.baseline").mark_line(
            strokeWidth=1.75, strokeDash=[5, 4], interpolate=way, point=marks
        ),
        heads.mark_text(align="left", fontWeight="bold").encode(text="label:N"),
    ]
    chart = (
        alt.layer(*layers)
        .properties(width=_CURVES, height=_CURVES_HIGH)
        .configure(background="transparent", padding=padding, aria=False)
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=_MUTED, titleColor=_INK, gridColor=_LINE, labelFontSize=12, titleFontSize=12, titlePadding=10
        )
        .configure_text(fontSize=12)
    )
    return _inline(vlc.vegalite_to_svg(chart.to_dict(validate=False), vl_version=VEGA_LITE), name)


@dataclass(frozen=True)
class Spot:
    """A system between what it costs and what it is worth.

    Attributes:
        cost: Above 0.
        value: Its number.
        number: Its place on the frontier, from 1; None off it.
    """

    cost: float
    value: float
    number: int | None = None


def frontier_chart(spots: Sequence[Spot], titles: tuple[str, str], name: str) -> str:
    """Each system by its cost, on a scale of powers, and its number; those on the frontier are numbered and joined.

    Args:
        spots: The systems.
        titles: What the two axes show, that of the cost first.
        name: What a person who cannot see it is told.

    Returns:
        An `<svg>` element.
    """
    rows = [asdict(spot) for spot in spots]
    costs, edge = [spot.cost for spot in spots], sorted((one for one in spots if one.number), key=_number)
    low, high = min(costs) / 1.25, max(costs) * 1.25
    # What the best system costs buys its number, and more money buys no more.
    line = [{"cost": one.cost, "value": one.value} for one in edge] + [{"cost": high, "value": edge[-1].value}] * bool(
        edge
    )
    x = alt.X(
        "cost:Q", scale=alt.Scale(type="log", domain=[low, high], nice=False),
        axis=alt.Axis(title=titles[0], values=_marks(low, high), format=",~r", grid=True, domain=False, ticks=False),
    )  # fmt: skip
    top = max(0.1, *(spot.value for spot in spots))
    y = alt.Y(
        "value:Q", scale=alt.Scale(domain=[0, top * 1.06], nice=False),
        axis=alt.Axis(title=titles[1], tickCount=5, grid=True, domain=False, ticks=False),
    )  # fmt: skip
    base = alt.Chart(alt.InlineData(values=rows)).encode(x=x, y=y)
    numbered = base.transform_filter("datum.number !== null")
    layers = [
        alt.Chart(alt.InlineData(values=line)).encode(x=x, y=y).mark_line(
            color=_INK, strokeWidth=1.5, opacity=0.6, interpolate="step-after"
        ),
        base.transform_filter("datum.number === null").mark_point(filled=True, size=36, fill=_MUTED, opacity=0.75),
        numbered.mark_point(filled=True, size=80, fill=_ACCENT, stroke=_INK, strokeWidth=1, opacity=1),
        numbered.mark_text(dx=-9, dy=-9, color=_INK, fontWeight="bold").encode(text="number:Q"),
    ]  # fmt: skip
    chart = (
        alt.layer(*layers)
        .properties(width=_WIDTH, height=_FRONTIER_HIGH)
        .configure(background="transparent", padding={"left": 4, "top": 14, "bottom": 4, "right": 14}, aria=False)
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=_MUTED, titleColor=_INK, gridColor=_LINE, labelFontSize=12, titleFontSize=12, titlePadding=10
        )
        .configure_text(fontSize=12)
    )
    return _inline(vlc.vegalite_to_svg(chart.to_dict(validate=False), vl_version=VEGA_LITE), name)


def _marks(low: float, high: float) -> list[float]:
    """The round numbers between two: 1, 2, 5, 10, … where they are few, else powers of 10."""
    powers = [10.0**power for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]
    marks = [power * digit for power in powers for digit in (1, 2, 5) if low <= power * digit <= high]
    return marks if len(marks) <= _MOST_MARKS else [power for power in powers if low <= power <= high]


def _number(spot: Spot) -> int:
    return spot.number or 0


def _spread(ends: Sequence[float]) -> list[tuple[int, float]]:
    """Where each curve's name stands: at its end, or so far off that no two overlap."""
    gap = _LINE_HEIGHT / _CURVES_HIGH
    order = sorted(range(len(ends)), key=lambda place: (ends[place], place))
    placed: list[float] = []
    for place in order:
        placed.append(max(ends[place], placed[-1] + gap if placed else 0.0))
    over = placed[-1] - 1.0
    for index in range(len(placed) - 1, -1, -1):
        limit = 1.0 if index == len(placed) - 1 else placed[index + 1] - gap
        placed[index] = min(placed[index], limit) if over > 0 else placed[index]
    return list(zip(order, placed, strict=True))


def _placed(points: Sequence[Point]) -> tuple[list[dict[str, object]], list[dict[str, object]], int]:
    """The points and the groups' names, each with its height on the page, and the height of it all."""
    rows: list[dict[str, object]] = []
    groups: list[dict[str, object]] = []
    y, before = 0, None
    for point in points:
        if point.group != before:
            y += _GAP if groups else 0
            groups.append({"group": _cut(point.group), "y": y + _ROW / 2})
            y, before = y + _ROW, point.group
        shown = {"label": _cut(point.label), "shown": score(point.value), "end": max(point.value, point.high or 0.0)}
        rows.append({**asdict(point), **shown, "y": y + _ROW / 2})
        y += _ROW
    return rows, groups, y


def _cut(text: str, most: int = _MAX_LABEL) -> str:
    shown = visible(text)
    return shown if len(shown) <= most else shown[: most - 1] + "…"


def _inline(svg: str, name: str) -> str:
    """The picture as part of a page: one name, the page's font, no empty groups."""
    label = visible(name).replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
    # Half of a chart of many systems is digits beyond a tenth of a pixel.
    svg = _PLACES.sub(lambda place: _HUNDREDTHS.sub(r"\1", place[0]), svg)
    slim = _ROLES.sub("", _FONT.sub("", _EMPTY_GROUP.sub("", svg)))
    return slim.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)
