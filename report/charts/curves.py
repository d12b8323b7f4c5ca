"""Charts in which systems are compared along something, as `<svg>` elements: steps, sizes, costs.

Each takes its systems, what its axes show, and the name that a person who cannot see it is told.
"""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

from markupsafe import Markup

from report.charts.drawing import (
    CHARACTER,
    INK,
    MUTED,
    ROOM_ABOVE,
    ROOM_BELOW,
    Scale,
    axis_below,
    axis_beside,
    cut,
    legend,
    line,
    mark,
    powers_scale,
    room_beside,
    spread,
    svg_of,
    words,
)
from report.charts.kinds import Curve, Spot
from report.format import score
from report.models import KINDS

MOST_TOGETHER = 6
"""Of more curves each has a picture of its own, with the others faintly behind it."""

_CURVES, _CURVES_HIGH, _LINE_HEIGHT = 480, 320, 16
_SMALL, _SMALL_HIGH, _SMALL_COLUMNS = 240, 150, 3
_FRONTIER, _FRONTIER_HIGH, _LONG = 330, 260, 28
_APART = 14
_DASHED = ("baseline", "oracle")
_SHADES = 4
"""So many shades of a kind's colour there are; a system has the same one in every picture that has room for that."""


def step_chart(curves: Sequence[Curve], title: str, name: str) -> Markup:
    """A curve per system over the steps, each with its name at its end."""
    last = max(len(curve.values) for curve in curves)
    return _curve_chart(curves, Scale(1, max(last, 2), 0, 1), ("Step", title), name, is_stepped=True)


def size_chart(curves: Sequence[Curve], titles: tuple[str, str], name: str) -> Markup:
    """A curve per system over sizes, on a scale of powers, a mark at every size and its name at its end."""
    places = [place for curve in curves for place in curve.places]
    return _curve_chart(curves, powers_scale(places, 1.1, 0, 1), titles, name, is_stepped=False)


def _curve_chart(curves: Sequence[Curve], x: Scale, titles: tuple[str, str], name: str, *, is_stepped: bool) -> Markup:
    shades = _shades([(curve.kind, curve.label) for curve in curves])
    top = max([0.1, *(value for curve in curves for value in curve.values)])
    ends = [f"{cut(curve.label)} {score(curve.values[-1])}" for curve in curves]

    def drawn(curve: Curve, shade: str, x: Scale, y: Scale) -> str:
        places = [(x(at), y(value)) for at, value in curve.points]
        is_dashed = curve.kind in _DASHED
        dashes = "5,4" if is_dashed else None
        path = line(
            places,
            is_stepped=is_stepped,
            stroke=shade,
            stroke_width=1.75 if is_dashed else 2.25,
            stroke_dasharray=dashes,
        )
        return path + "".join(mark(curve.kind, *place, 4.0, shade) for place in places if not is_stepped)

    if len(curves) > MOST_TOGETHER:
        return _small_multiples(curves, shades, ends, x, top, titles, name, is_stepped=is_stepped)
    y = Scale(0, top, 8 + _CURVES_HIGH, 8)
    left = room_beside(y)
    x = Scale(x.low, x.high, left, left + _CURVES, x.is_log)
    heads = spread([curve.values[-1] / top * _CURVES_HIGH for curve in curves], _LINE_HEIGHT, _CURVES_HIGH)
    parts = [axis_below(x, y.end, y.start, titles[0]), axis_beside(y, x.start, x.end, titles[1])]
    parts += [drawn(curve, shade, x, y) for curve, shade in zip(curves, shades, strict=True)]
    parts += [
        words(x.end + 10, y.start - head, end, fill=shade, is_bold=True)
        for head, end, shade in zip(heads, ends, shades, strict=True)
    ]
    return svg_of(parts, x.end + _beside(ends), y.start + ROOM_BELOW, name)


def _small_multiples(
    curves: Sequence[Curve],
    shades: Sequence[str],
    ends: Sequence[str],
    x: Scale,
    top: float,
    titles: tuple[str, str],
    name: str,
    *,
    is_stepped: bool,
) -> Markup:
    """A small picture per curve, named above it, all with the same axes, and the others faintly in each."""
    n_columns = min(_SMALL_COLUMNS, len(curves))
    beside = room_beside(Scale(0, top, 1, 0))
    parts = []
    for place, (curve, shade, end) in enumerate(zip(curves, shades, ends, strict=True)):
        row, column = divmod(place, n_columns)
        left, head = beside + column * (_SMALL + 24), 24 + row * (_SMALL_HIGH + 48)
        own = Scale(x.low, x.high, left, left + _SMALL, x.is_log)
        y = Scale(0, top, head + _SMALL_HIGH, head)
        is_last = place + n_columns >= len(curves)
        parts += [
            axis_below(own, y.end, y.start, titles[0] if is_last else ""),
            axis_beside(y, own.start, own.end, titles[1] if column == 0 else ""),
            words(left, head - 11, end, fill=shade, is_bold=True),
        ]
        for other in (*(other for other in curves if other is not curve), curve):
            places = [(own(at), y(value)) for at, value in other.points]
            stroke, width, opacity = (shade, 2.25, None) if other is curve else (MUTED, None, 0.3)
            parts.append(line(places, is_stepped=is_stepped, stroke=stroke, stroke_width=width, opacity=opacity))
        if not is_stepped:
            parts += [mark(curve.kind, own(at), y(value), 3.5, shade) for at, value in curve.points]
    n_rows = -(-len(curves) // n_columns)
    return svg_of(parts, beside + n_columns * (_SMALL + 24), n_rows * (_SMALL_HIGH + 48) + ROOM_BELOW - 16, name)


def _shades(systems: Sequence[tuple[str, str]]) -> list[str]:
    """A shade of its kind's colour for each system, given as kind and name: its own by its name, or the next free."""
    taken: dict[str, list[int]] = {}
    chosen: dict[tuple[str, str], str] = {}
    for kind, system in sorted(set(systems)):
        used, first = taken.setdefault(kind, []), crc32(system.encode())
        least = min(map(used.count, range(_SHADES)))
        turns = ((first + turn) % _SHADES for turn in range(_SHADES))
        shade = next(shade for shade in turns if used.count(shade) == least)
        used.append(shade)
        own = KINDS[kind].colour
        chosen[kind, system] = own if not shade or kind not in ("retriever", "agent") else f"{own[:-1]}-{shade + 1})"
    return [chosen[system] for system in systems]


def frontier_chart(spots: Sequence[Spot], titles: tuple[str, str], name: str) -> Markup:
    """Each system by its cost, on a log scale, and its value; the frontier is numbered and joined."""
    costs = [spot.cost for spot in spots]
    top = max(0.1, *(spot.value for spot in spots)) * 1.06
    y = Scale(0, top, ROOM_ABOVE + _FRONTIER_HIGH, ROOM_ABOVE)
    left = room_beside(y)
    x = powers_scale(costs, 1.25, left, left + _FRONTIER)
    named = list({spot.run: spot for spot in spots if spot.label}.values())
    shades = dict(zip([spot.run for spot in named], _shades([(spot.kind, spot.system) for spot in named]), strict=True))
    parts = [
        legend((spot.kind for spot in spots), left),
        axis_below(x, y.end, y.start, titles[0]),
        axis_beside(y, x.start, x.end, titles[1]),
    ]
    edge = sorted((spot for spot in spots if spot.number), key=lambda spot: spot.number or 0)
    if edge:
        # What the best system costs buys its number, and more money buys no more.
        steps = [*((x(spot.cost), y(spot.value)) for spot in edge), (x.end, y(edge[-1].value))]
        parts.append(line(steps, is_stepped=True, stroke=MUTED, stroke_width=5, opacity=0.3))
    by_run: dict[str, list[Spot]] = {}
    for spot in sorted(spots, key=lambda spot: bool(spot.label)):
        by_run.setdefault(spot.run, []).append(spot)
    for of_run in by_run.values():
        is_named = of_run[0].run in shades
        shade = shades.get(of_run[0].run, KINDS[of_run[0].kind].colour)
        places = [(x(spot.cost), y(spot.value)) for spot in of_run]
        width, opacity = (2, None) if is_named else (None, 0.45)
        parts.append(line(places, stroke=shade, stroke_width=width, opacity=opacity) if len(places) > 1 else "")
        parts += [
            mark(spot.kind, *place, 4.2 if is_named else 3.0, shade, opacity=None if is_named else 0.75)
            for spot, place in zip(of_run, places, strict=True)
        ]
    before = 0.0
    for spot in edge:
        at, high = x(spot.cost), y(spot.value)
        shade = shades.get(spot.run, KINDS[spot.kind].colour)
        parts.append(mark(spot.kind, at, high, 5.0, shade, stroke=INK, stroke_width=1.25))
        # A number beside another could not be read: the list below the picture has them all.
        if at > before:
            parts.append(words(at - 9, high - 10, str(spot.number), anchor="middle", is_bold=True))
        before = at + _APART
    heads = spread([spot.value / top * _FRONTIER_HIGH for spot in named], _LINE_HEIGHT, _FRONTIER_HIGH)
    labels = [cut(spot.label, _LONG) for spot in named]
    parts += [
        words(x.end + 10, y.start - head, label, fill=shades[spot.run], is_bold=True)
        for head, label, spot in zip(heads, labels, named, strict=True)
    ]
    return svg_of(parts, x.end + _beside(labels), y.start + ROOM_BELOW, name)


def _beside(labels: Sequence[str]) -> float:
    """Room for names at the ends of lines."""
    return 14 + max(map(len, labels), default=0) * CHARACTER
