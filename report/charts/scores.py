"""Charts of one number per system or cell, as `<svg>` elements.

Each takes what it shows in order, what its axes show, and the name that a person who cannot see it is told.
"""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from report.charts.drawing import (
    CHARACTER,
    INK,
    LINE,
    MUTED,
    ROOM_ABOVE,
    ROOM_BELOW,
    Scale,
    axis_below,
    cut,
    legend,
    line,
    mark,
    svg_of,
    words,
)
from report.charts.kinds import Point
from report.format import score
from report.models import KINDS

_WIDTH, _ROW, _GAP = 560, 21, 6
_CELL, _HIGH = 120, 28
_FOREST, _FOREST_NAME = 150, 20
_PADDING = 4.0


def score_chart(points: Sequence[Point], title: str, name: str) -> Markup:
    """One metric per system under its group's name: a mark on a stem with its interval, the number behind it."""
    room = max(len(cut(text)) for point in points for text in (point.label, point.group)) * CHARACTER
    left = _PADDING + room + 12
    ends = [0.0, 1.0, *(end for point in points for end in (point.value, point.high or 0.0))]
    x = Scale(min(ends), max(ends), left, left + _WIDTH)
    parts, y = [legend((point.kind for point in points), left)], ROOM_ABOVE
    for before, point in zip([None, *points], points, strict=False):
        if before is None or before.group != point.group:
            y += _GAP if before else 0
            parts.append(words(_PADDING, y + _ROW / 2, cut(point.group), is_bold=True))
            y += _ROW
        middle = y + _ROW / 2
        parts += [
            line([(x(0), middle), (x(point.value), middle)], stroke=INK, opacity=0.25),
            *_estimate(point, x, middle, 4.5, 2.5),
            # Behind the interval, which would strike it through.
            words(x(max(point.value, point.high or 0.0)) + 10, middle, score(point.value)),
            words(left - 12, middle, cut(point.label), anchor="end", fill=MUTED),
        ]
        y += _ROW
    axis = axis_below(x, ROOM_ABOVE, y, title)
    return svg_of([axis, *parts], x.end + 48, y + ROOM_BELOW, name)


def forest_chart(points: Sequence[Point], name: str) -> Markup:
    """A few systems, one below the other: name, interval and mark on a line of its own, the number to the right."""
    labels = [cut(point.label, _FOREST_NAME) for point in points]
    left, height = 14 + max(map(len, labels)) * CHARACTER, _ROW * len(points) + _PADDING
    bottom = min([0.0, *(min(point.low or 0.0, point.value) for point in points)])
    top = max([*(max(point.high or 0.0, point.value) for point in points), bottom + 0.1])
    x = Scale(bottom, top, left, left + _FOREST)
    zero = [(x(0), 0), (x(0), height)]
    parts = [line(zero, stroke=MUTED, stroke_dasharray="2,3")] if bottom < 0 else []
    for place, (point, label) in enumerate(zip(points, labels, strict=True)):
        middle = _ROW * (place + 0.5) + _PADDING / 2
        parts += [
            line([(x.start, middle), (x.end, middle)], stroke=LINE),
            *_estimate(point, x, middle, 4.7, 3.0),
            words(left - 10, middle, label, anchor="end"),
            words(x.end + 10, middle, f"{point.value:.2f}"),
        ]
    return svg_of(parts, x.end + 10 + 5 * CHARACTER, height, name)


def _estimate(point: Point, x: Scale, y: float, radius: float, width: float) -> list[str]:
    """A point's interval, where it has one, and its mark upon it."""
    colour = KINDS[point.kind].colour
    parts = [mark(point.kind, x(point.value), y, radius, colour)]
    if point.low is not None and point.high is not None:
        interval = [(x(max(point.low, x.low)), y), (x(point.high), y)]
        parts.insert(0, line(interval, stroke=colour, stroke_width=width, opacity=0.55))
    return parts


def grid_chart(cells: Sequence[tuple[str, str, float]], titles: tuple[str, str], name: str) -> Markup:
    """A number per row and column, the stronger the higher, from the least of them to the greatest."""
    rows = [*dict.fromkeys(row for row, _, _ in cells)]
    columns = [*dict.fromkeys(column for _, column, _ in cells)]
    shade = Scale(min(value for *_, value in cells), max(value for *_, value in cells), 0.06, 0.6)
    left, top = _PADDING + max(map(len, [*rows, titles[0]])) * CHARACTER + 10, 44.0
    parts = [
        words(left + _CELL * len(columns) / 2, 10, titles[1], anchor="middle", is_bold=True),
        words(left - 10, 32, titles[0], anchor="end", is_bold=True),
        *(words(left + _CELL * (at + 0.5), 32, cut(each, 16), anchor="middle") for at, each in enumerate(columns)),
        *(words(left - 10, top + _HIGH * (at + 0.5), each, anchor="end") for at, each in enumerate(rows)),
    ]
    for row, column, value in cells:
        x, y = left + _CELL * columns.index(column), top + _HIGH * rows.index(row)
        parts += [
            f'<rect x="{x:g}" y="{y:g}" width="{_CELL}" height="{_HIGH}" fill="var(--tint)" '
            f'fill-opacity="{shade(value):.2f}" stroke="{LINE}"/>',
            words(x + _CELL / 2, y + _HIGH / 2, score(value), anchor="middle"),
        ]
    return svg_of(parts, left + _CELL * len(columns) + 2, top + _HIGH * len(rows) + 2, name)
