"""Charts of one number per system or cell.

Each takes what it shows in order, what its axes show, and the name that a person who cannot see it is told.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from report.charts.drawing import (
    CHARACTER,
    INK,
    LINE,
    MUTED,
    WIDTH,
    Picture,
    at_pixel,
    by_kind,
    category,
    cut,
    drawn,
    marks,
    quantity,
)
from report.format import score

_ROW, _GAP = 21, 6
_LABEL_END = -12
_FOREST, _FOREST_NAME = 150, 20
_HAS_INTERVAL = "datum.low !== null"


@dataclass(frozen=True)
class Point:
    """One system in the chart, under its group: its number, and its interval where there is one."""

    group: str
    label: str
    kind: str
    value: float
    low: float | None = None
    high: float | None = None


def score_chart(points: Sequence[Point], title: str, name: str) -> Picture:
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
    axis = {"title": title, "tickCount": 5, "format": ".1f", "grid": True, "domain": False, "ticks": False}
    x = quantity("value", scale={"domain": [bottom, top]}, axis=axis)
    y = quantity("y", scale={"domain": [height, 0]}, axis=None)
    look = by_kind(point.kind for point in points)
    # Left of every label even in a font wider than the one the picture was laid out with.
    left = _LABEL_END - CHARACTER * max(len(str(row["label"])) for row in rows)
    ends = {"x": quantity("low"), "x2": {"field": "high"}, "y": y, "color": look["color"]}
    layers = [
        marks("rule", "rows", {"x": x, "y": y, "x2": {"datum": 0}}, color=INK, opacity=0.25, strokeWidth=1),
        marks("rule", "rows", ends, where=_HAS_INTERVAL, strokeWidth=2.5, opacity=0.55),
        marks("point", "rows", {"x": x, "y": y, **look}, filled=True, size=64, opacity=1),
        # Behind the interval, which would strike it through.
        marks(
            "text", "rows", {"x": quantity("end"), "y": y, "text": category("shown")}, align="left", dx=10, color=INK
        ),
        marks(
            "text",
            "rows",
            {"x": at_pixel(_LABEL_END), "y": y, "text": category("label")},
            align="right",
            color=MUTED,
        ),
        marks(
            "text",
            "groups",
            {"x": at_pixel(left), "y": y, "text": category("group")},
            align="left",
            color=INK,
            fontWeight="bold",
        ),
    ]
    return drawn(layers, {"rows": rows, "groups": groups}, (WIDTH, height), name)


def forest_chart(points: Sequence[Point], name: str) -> Picture:
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
    scale = {"domain": [bottom, top]}
    y = quantity("y", scale={"domain": [height, 0]}, axis=None)
    look = by_kind((point.kind for point in points), has_legend=False)
    low, value = (quantity(field, scale=scale, axis=None) for field in ("low", "value"))
    ends = {"x": low, "x2": {"field": "high"}, "y": y, "color": look["color"]}
    layers = [
        marks("rule", "rows", {"x": at_pixel(0), "x2": at_pixel(_FOREST), "y": y}, color=LINE),
        marks("rule", "rows", ends, where=_HAS_INTERVAL, strokeWidth=3, opacity=0.55),
        marks("point", "rows", {"x": value, "y": y, **look}, filled=True, size=70, opacity=1),
        marks("text", "rows", {"x": at_pixel(-10), "y": y, "text": category("label")}, align="right", color=INK),
        marks(
            "text", "rows", {"x": at_pixel(_FOREST + 10), "y": y, "text": category("shown")}, align="left", color=INK
        ),
    ]
    if bottom < 0:
        zero = {"x": {"datum": 0, "scale": scale, "axis": None}, "y": y}
        layers.insert(1, marks("rule", "rows", zero, color=MUTED, strokeDash=[2, 3]))
    return drawn(layers, {"rows": rows}, (_FOREST, height), name, padding)


def _row(point: Point, y: float, bottom: float, shown: str, most: int = 24) -> dict[str, object]:
    """A point as a chart has it; what lies left of the axis is where the names stand."""
    low = None if point.low is None else max(point.low, bottom)
    end = max(point.value, point.high or 0.0)
    return {**asdict(point), "low": low, "y": y, "shown": shown, "label": cut(point.label, most), "end": end}
