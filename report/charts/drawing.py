"""What every picture is drawn with: one look, axes, legend, and Vega, which may draw in another process.

Every mark is drawn in `currentColor` or a custom property of the style sheet,
so one picture serves light and dark. Vega's own accessibility attributes are left out: the page gives the whole picture
one name and its numbers as rows. The only font is the one that the converter brings along.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager

import altair as alt

from lake.engine import InThisProcess
from report.charts.figures import FONT, Picture, svg_of
from report.format import visible
from report.models import KIND_LOOKS

# Every object of a chart checks itself against the whole schema otherwise, which takes longer than all else.
alt.utils.schemapi.DEBUG_MODE = False

INK, LINE, MUTED = "currentColor", "var(--line)", "var(--muted)"
WIDTH, CHARACTER = 560, 7.2
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
_MOST_MARKS, _MAX_LABEL, _PANELS_BESIDE = 8, 24, 3
_executors: list[Executor] = [InThisProcess()]


@contextmanager
def drawing_in(executor: Executor) -> Iterator[None]:
    """Have an executor draw the charts of this block: Vega leaves the interpreter to nobody while it draws."""
    _executors.append(executor)
    try:
        yield
    finally:
        _executors.pop()


def marks_of(table: str) -> alt.Chart:
    """A layer of a mark per row of a table, which is given to :func:`drawn` by its name."""
    # By name, since Altair copies what is in a layer at every word about it.
    return alt.Chart(alt.NamedData(name=table))


def drawn(
    layers: Sequence[alt.Chart],
    tables: Mapping[str, Sequence[Mapping[str, object]]],
    size: tuple[int, int],
    name: str,
    padding: int | Mapping[str, float] = 4,
    panels: Sequence[str] = (),
) -> Picture:
    """Layers, the lowest first, as a picture that fills its box and scrolls where its text would be too small.

    `tables` has the rows of the layers' tables, `size` is that of a plot in pixels, `padding` the room beside it. With
    `panels` there is a plot for each, of the rows that name it in column `panel` of the one table.
    """
    # Put together here: as one chart of Altair's it would be copied whole at every word about it.
    marks = [layer.to_dict(validate=False, context={"top_level": False}) for layer in layers]
    plot: dict[str, object] = {"layer": marks, "width": size[0], "height": size[1]}
    if panels:
        for each in marks:
            # The rows of a panel are those of the whole, and not of a layer.
            each.pop("data")
        header = {"title": None, "labelAnchor": "start", "labelFontSize": FONT, "labelFontWeight": "bold"}
        facet = {"field": "panel", "type": "nominal", "sort": panels, "header": {**header, "labelColor": INK}}
        plot = {"data": {"name": next(iter(tables))}, "facet": facet, "columns": _PANELS_BESIDE, "spec": plot}
    specification = json.dumps({**plot, "datasets": tables, "config": {**_CONFIG, "padding": padding}})
    return Picture(_executors[-1].submit(svg_of, specification, name))


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
        title=title, values=_round_numbers(low, high), format=",~r", grid=True, domain=False, ticks=False,
        labelOverlap="greedy", labelSeparation=CHARACTER,
    )  # fmt: skip
    return alt.X(f"{field}:Q", scale=alt.Scale(type="log", domain=[low, high], nice=False), axis=axis)


def value_axis(title: str, top: float) -> alt.Y:
    """The axis of a number that is best read from 0."""
    axis = alt.Axis(title=title, tickCount=5, grid=True, domain=False, ticks=False)
    return alt.Y("value:Q", scale=alt.Scale(domain=[0, top], nice=False), axis=axis)


def by_kind(kinds: Iterable[str], *, has_legend: bool = True) -> tuple[alt.Color, alt.Shape]:
    """The colour and the shape of each of the kinds that are there, and the line above the axes that says which."""
    domain = [kind for kind in KIND_LOOKS if kind in set(kinds)]
    names = "{" + ", ".join(f"'{kind}': '{KIND_LOOKS[kind].title}'" for kind in domain) + "}"
    legend = alt.Legend(
        orient="top", title=None, labelColor=INK, labelFontSize=FONT, symbolSize=64, symbolOpacity=1, offset=8,
        labelExpr=f"{names}[datum.label]", symbolStrokeWidth=0,
    ) if has_legend else None  # fmt: skip
    colours = alt.Scale(domain=domain, range=[KIND_LOOKS[kind].colour for kind in domain])
    shapes = alt.Scale(domain=domain, range=[KIND_LOOKS[kind].shape for kind in domain])
    return alt.Color("kind:N", scale=colours, legend=legend), alt.Shape("kind:N", scale=shapes, legend=legend)


def _round_numbers(low: float, high: float) -> list[float]:
    """The round numbers between two: 1, 2, 5, 10, … where they are few, else powers of 10."""
    powers = [10.0**power for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]
    numbers = [power * digit for power in powers for digit in (1, 2, 5) if low <= power * digit <= high]
    return numbers if len(numbers) <= _MOST_MARKS else [power for power in powers if low <= power <= high]
