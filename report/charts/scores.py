"""Charts of one number per system: each on a line of its own, with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import altair as alt

from report.charts.drawing import CHARACTER, INK, LINE, MUTED, WIDTH, by_kind, cut, marks_of, svg_of
from report.shown import score

_ROW, _GAP = 21, 6
_LABEL_END = -12
_CELL, _HIGH = 120, 28
_FOREST, _FOREST_NAME = 150, 20


@dataclass(frozen=True)
class Point:
    """One system in the chart.

    Attributes:
        group: What it is listed under.
        label: What it is called there.
        kind: Which of the kinds it is drawn as.
        value: Its number.
        low: Lower end of its interval, where there is one.
        high: Upper end.
    """

    group: str
    label: str
    kind: str
    value: float
    low: float | None = None
    high: float | None = None


def score_chart(points: Sequence[Point], title: str, name: str) -> str:
    """One metric per system under its group's name: a mark on a stem with its interval, the number behind it.

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
    colour, shape = by_kind([point.kind for point in points])
    base = marks_of("rows")
    dots = base.encode(x=x, y=y)
    known = base.transform_filter("datum.low !== null").encode(x=alt.X("low:Q"), x2=alt.X2("high"), y=y)
    heads = marks_of("groups").encode(y=y)
    # Left of every label even in a font wider than the one the picture was laid out with.
    left = _LABEL_END - CHARACTER * max(len(str(row["label"])) for row in rows)
    layers = [
        dots.encode(x2=alt.X2Datum(0)).mark_rule(color=INK, opacity=0.25, strokeWidth=1),
        known.mark_rule(strokeWidth=2.5, opacity=0.55).encode(color=colour),
        dots.mark_point(filled=True, size=64, opacity=1).encode(color=colour, shape=shape),
        # Behind the interval, which would strike it through.
        base.mark_text(align="left", dx=10, color=INK).encode(x="end:Q", y=y, text=alt.Text("shown:N")),
        base.mark_text(align="right", color=MUTED).encode(x=alt.value(_LABEL_END), y=y, text=alt.Text("label:N")),
        heads.mark_text(align="left", color=INK, fontWeight="bold").encode(x=alt.value(left), text=alt.Text("group:N")),
    ]
    return svg_of(layers, {"rows": rows, "groups": groups}, (WIDTH, height), name)


def forest_chart(points: Sequence[Point], name: str, *, is_wide: bool = False, is_signed: bool = False) -> str:
    """A few systems, one below the other: name, interval and mark on a line of its own, the number to the right.

    Args:
        points: The systems, in order.
        name: What a person who cannot see it is told.
        is_wide: It has the width of a page, so that there is room for long names and a legend.
        is_signed: The numbers are differences: they have a sign, and a line marks 0.

    Returns:
        An `<svg>` element.
    """
    width, most = (WIDTH - 80, 32) if is_wide else (_FOREST, _FOREST_NAME)
    bottom = min([0.0, *(min(point.value, (point.low or 0.0) if is_signed else 0.0) for point in points)])
    top = max([*(max(point.high or 0.0, point.value) for point in points), bottom + 0.1])
    rows = [
        {
            **asdict(point), "label": cut(point.label, most), "y": _ROW * (place + 0.5),
            "low": None if point.low is None else max(point.low, bottom),
            "shown": f"{point.value:+.2f}".replace("-", "−") if is_signed else f"{point.value:.2f}",
        }
        for place, point in enumerate(points)
    ]  # fmt: skip
    # Room for a font wider than the one that the picture is laid out with.
    padding = {"left": 24, "right": 8, "top": 2, "bottom": 2}
    base = marks_of("rows")
    scale = alt.Scale(domain=[bottom, top])
    x = alt.X("value:Q", scale=scale, axis=None)
    y = alt.Y("y:Q", scale=alt.Scale(domain=[_ROW * len(points), 0]), axis=None)
    colour, shape = by_kind([point.kind for point in points], has_legend=is_wide)
    layers = [
        base.encode(y=y, x=alt.value(0), x2=alt.value(width)).mark_rule(color=LINE),
        base.transform_filter("datum.low !== null")
        .mark_rule(strokeWidth=3, opacity=0.55)
        .encode(x=alt.X("low:Q", scale=scale, axis=None), x2=alt.X2("high"), y=y, color=colour),
        base.mark_point(filled=True, size=70, opacity=1).encode(x=x, y=y, color=colour, shape=shape),
        base.mark_text(align="right", color=INK).encode(x=alt.value(-10), y=y, text=alt.Text("label:N")),
        base.mark_text(align="left", color=INK).encode(x=alt.value(width + 10), y=y, text=alt.Text("shown:N")),
    ]
    if is_signed:
        zero = base.encode(y=alt.value(0), y2=alt.value(_ROW * len(points)), x=alt.XDatum(0, scale=scale, axis=None))
        layers.insert(0, zero.mark_rule(color=MUTED, strokeDash=[2, 3]))
    return svg_of(layers, {"rows": rows}, (width, _ROW * len(points)), name, padding)


def grid_chart(cells: Sequence[tuple[str, str, float]], titles: tuple[str, str], name: str) -> str:
    """A number per row and column, the stronger the higher, from the least of them to the greatest.

    Args:
        cells: Row, column and number, in the order in which rows and columns are shown.
        titles: What the rows are, and the columns.
        name: What a person who cannot see it is told.

    Returns:
        An `<svg>` element.
    """
    rows = [*dict.fromkeys(row for row, _, _ in cells)]
    columns = [*dict.fromkeys(column for _, column, _ in cells)]
    values = [value for _, _, value in cells]
    table = [{"row": row, "column": column, "value": value, "shown": score(value)} for row, column, value in cells]
    above = alt.Axis(title=titles[1], orient="top", labelAngle=0, labelLimit=_CELL, domain=False, ticks=False)
    beside = alt.Axis(title=titles[0], labelLimit=2 * _CELL, domain=False, ticks=False)
    x, y = alt.X("column:N", sort=columns, axis=above), alt.Y("row:N", sort=rows, axis=beside)
    shade = alt.Opacity("value:Q", scale=alt.Scale(domain=[min(values), max(values)], range=[0.06, 0.6]), legend=None)
    base = marks_of("cells").encode(x=x, y=y)
    layers = [
        base.mark_rect(color="var(--tint)", stroke=LINE).encode(opacity=shade),
        base.mark_text(color=INK).encode(text=alt.Text("shown:N")),
    ]
    return svg_of(layers, {"cells": table}, (_CELL * len(columns), _HIGH * len(rows)), name)


def _placed(points: Sequence[Point]) -> tuple[list[dict[str, object]], list[dict[str, object]], int]:
    """The points and the groups' names, each with its height on the page, and the height of it all."""
    rows: list[dict[str, object]] = []
    groups: list[dict[str, object]] = []
    y, before = 0, None
    for point in points:
        if point.group != before:
            y += _GAP if groups else 0
            groups.append({"group": cut(point.group), "y": y + _ROW / 2})
            y, before = y + _ROW, point.group
        shown = {"label": cut(point.label), "shown": score(point.value), "end": max(point.value, point.high or 0.0)}
        rows.append({**asdict(point), **shown, "y": y + _ROW / 2})
        y += _ROW
    return rows, groups, y
