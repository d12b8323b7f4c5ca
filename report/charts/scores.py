"""Charts of one number per system or cell.

Each takes what it shows in order, what its axes show, and the name that a person who cannot see it is told.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import cache

import altair as alt

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
)
from report.charts.figures import Point, cut
from report.format import score

_ROW, _GAP = 21, 6
_LABEL_END = -12
_FOREST, _FOREST_NAME = 150, 20


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
