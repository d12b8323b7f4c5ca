"""Charts in which systems are compared along something: steps, sizes, costs.

Each takes its systems, what its axes show, and the name that a person who cannot see it is told.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from zlib import crc32

from report.charts.drawing import (
    CHARACTER,
    INK,
    LINE,
    MUTED,
    Channel,
    Picture,
    at_pixel,
    by_kind,
    category,
    cut,
    drawn,
    marks,
    powers_axis,
    quantity,
    value_axis,
)
from report.format import score
from report.models import KIND_LOOKS

MOST_TOGETHER = 6
"""Of more curves each has a plot of its own, with the others faintly behind it."""

_CURVES, _CURVES_HIGH, _LINE_HEIGHT = 480, 320, 16
_PANEL, _PANEL_HIGH = 230, 140
_FRONTIER, _FRONTIER_HIGH, _LONG = 330, 260, 28
_APART = 0.03
_SHADES = 4
"""So many shades of a kind's colour there are; a system has the same one in every picture that has room for that."""


@dataclass(frozen=True)
class Curve:
    """One system's curve: its numbers at `places`, or at 1, 2, 3, … without."""

    label: str
    values: Sequence[float]
    kind: str
    places: Sequence[float] = ()


@dataclass(frozen=True)
class Spot:
    """A system at one cut-off: its cost, above 0, and its value.

    The spots of one run are joined; one without a label is drawn faintly; `number` counts the frontier from 1.
    """

    cost: float
    value: float
    kind: str
    run: str = ""
    system: str = ""
    label: str = ""
    number: int | None = None


def step_chart(curves: Sequence[Curve], title: str, name: str) -> Picture:
    """A curve per system over the steps, each with its name at its end."""
    axis = {"title": "Step", "tickMinStep": 1, "grid": False, "domainColor": LINE, "tickColor": LINE, "format": "d"}
    x = quantity("at", scale={"domain": [1, max(len(curve.values) for curve in curves)]}, axis=axis)
    return _curve_chart(curves, x, title, name, has_marks=False)


def size_chart(curves: Sequence[Curve], titles: tuple[str, str], name: str) -> Picture:
    """A curve per system over sizes, on a scale of powers, a mark at every size and its name at its end."""
    x = powers_axis("at", [position for curve in curves for position in curve.places], titles[0], 1.1)
    return _curve_chart(curves, x, titles[1], name, has_marks=True)


def _curve_chart(curves: Sequence[Curve], x: Channel, title: str, name: str, *, has_marks: bool) -> Picture:
    shades = _shades([(curve.kind, curve.label) for curve in curves])
    rows = [
        {"curve": number, "at": position, "value": value, "kind": curve.kind, "dashed": curve.kind in _DASHED}
        for number, curve in enumerate(curves)
        for position, value in zip(curve.places or range(1, len(curve.values) + 1), curve.values, strict=True)
    ]
    top = max([0.1, *(value for curve in curves for value in curve.values)])
    labels = [f"{cut(curve.label)} {score(curve.values[-1])}" for curve in curves]
    ends = [
        {"curve": number, "value": y * top, "label": labels[number]}
        for number, y in _spread([curve.values[-1] / top for curve in curves], _CURVES_HIGH)
    ]
    y, way = value_axis(title, top), "linear" if has_marks else "step-after"
    colour = category("curve", scale={"domain": list(range(len(curves))), "range": shades}, legend=None)
    line = {"x": x, "y": y, "color": colour, "detail": category("curve")}
    dot = {**line, "shape": by_kind((curve.kind for curve in curves), has_legend=False)["shape"]}
    if len(curves) > MOST_TOGETHER:
        panels = [
            {**row, "panel": label, "is_own": row["curve"] == number}
            for number, label in enumerate(labels)
            for row in rows
        ]
        faint = {**line, "color": {"value": MUTED}}
        layers = [
            marks("line", "rows", faint, where="!datum.is_own", strokeWidth=1, opacity=0.35, interpolate=way),
            marks("line", "rows", line, where="datum.is_own", strokeWidth=2.25, interpolate=way),
        ]
        if has_marks:
            layers.append(marks("point", "rows", dot, where="datum.is_own", filled=True, size=40, opacity=1))
        return drawn(layers, {"rows": panels}, (_PANEL, _PANEL_HIGH), name, panels=labels)
    names = {"x": at_pixel(_CURVES + 10), "y": y, "color": colour, "text": category("label")}
    layers = [
        marks("line", "rows", line, where="!datum.dashed", strokeWidth=2.25, interpolate=way),
        marks("line", "rows", line, where="datum.dashed", strokeWidth=1.75, strokeDash=[5, 4], interpolate=way),
        marks("text", "ends", names, align="left", fontWeight="bold"),
    ]
    if has_marks:
        layers.insert(2, marks("point", "rows", dot, filled=True, size=52, opacity=1))
    padding = {"left": 4, "top": 8, "bottom": 4, "right": _beside(labels)}
    return drawn(layers, {"rows": rows, "ends": ends}, (_CURVES, _CURVES_HIGH), name, padding)


_DASHED = ("baseline", "oracle")


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
        own = KIND_LOOKS[kind].colour
        chosen[kind, system] = own if not shade or kind not in ("retriever", "agent") else f"{own[:-1]}-{shade + 1})"
    return [chosen[system] for system in systems]


def frontier_chart(spots: Sequence[Spot], titles: tuple[str, str], name: str) -> Picture:
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
        {"value": y * top, "label": cut(last[number].label, _LONG), "shade": shades[last[number].run]}
        for number, y in _spread([spot.value / top for spot in last], _FRONTIER_HIGH)
    ]
    x, y = powers_axis("cost", costs, titles[0], 1.25), value_axis(titles[1], top)
    look = by_kind(spot.kind for spot in spots)
    at, shade = {"x": x, "y": y}, category("shade", scale=None, legend=None)
    joined = {**at, "color": shade, "detail": category("run")}
    dot = {**at, "color": shade, "shape": look["shape"]}
    on_edge = {**at, "fill": shade, "shape": look["shape"]}
    numbers = {**at, "text": quantity("number")}
    names = {"x": at_pixel(_FRONTIER + 10), "y": y, "color": shade, "text": category("label")}
    named, others = "datum.label !== ''", "datum.label === ''"
    has_number = "datum.number !== null"
    layers = [
        marks("line", "line", at, color=MUTED, strokeWidth=5, opacity=0.3, interpolate="step-after"),
        # Nothing but the legend: what is seen has shades of these colours.
        marks("point", "rows", {**at, **look}, filled=True, size=0),
        marks("line", "rows", joined, where=others, strokeWidth=1, opacity=0.45),
        marks("point", "rows", dot, where=others, filled=True, size=30, opacity=0.75),
        marks("line", "rows", joined, where=named, strokeWidth=2),
        marks("point", "rows", dot, where=named, filled=True, size=56, opacity=1),
        marks(
            "point", "rows", on_edge, where=has_number, filled=True, size=80, opacity=1, stroke=INK, strokeWidth=1.25
        ),
        marks(
            "text", "rows", numbers, where=f"{has_number} && datum.is_apart", dx=-9, dy=-10, color=INK,
            fontWeight="bold",
        ),
        marks("text", "ends", names, align="left", fontWeight="bold"),
    ]  # fmt: skip
    padding = {"left": 4, "top": 14, "bottom": 4, "right": _beside([str(end["label"]) for end in ends])}
    return drawn(layers, {"rows": rows, "line": line, "ends": ends}, (_FRONTIER, _FRONTIER_HIGH), name, padding)


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
