"""A figure: a picture, what it shows of what, and its numbers; shown in a page, and downloaded as files by itself."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup

from lake.engine import Engine, InThisProcess
from report.format import visible

FIGURES = "figures"
"""The folder of the site that has their files."""

_ENDINGS = ("svg", "pdf", "csv")
LONG, _MAX_LABEL = 32, 24
SHADES = 4
"""So many shades of a kind's colour there are; a system has the same one in every picture that has room for that."""

ORACLE_KIND = "oracle"
_artists: list[tuple[Executor, Path | None]] = [(InThisProcess(), None)]
"""Who draws, and the site that figures are written to."""

Rows = Sequence[Sequence[str | float | int | None]]
"""A figure's numbers."""


class KindLook(NamedTuple):
    """A kind's title in legends, its colour (a custom property of the style sheet) and its shape (as Vega names it)."""

    title: str
    colour: str
    shape: str


KIND_LOOKS: Mapping[str, KindLook] = {
    "retriever": KindLook("retriever", "var(--retriever)", "circle"),
    "agent": KindLook("agent", "var(--agent)", "square"),
    "imported": KindLook("run made elsewhere", "var(--imported)", "triangle-right"),
    "baseline": KindLook("baseline", "var(--baseline)", "diamond"),
    ORACLE_KIND: KindLook("oracle", "var(--oracle)", "triangle-up"),
}


@dataclass(frozen=True)
class Point:
    """One system in the chart, under its group: its number, and its interval where there is one."""

    group: str
    label: str
    kind: str
    value: float
    low: float | None = None
    high: float | None = None


class Curve:
    """A curve in its system's colour: its numbers at `places`, or at steps 1, 2, 3, … without."""

    def __init__(
        self, label: str, values: Sequence[float], kind: str, places: Sequence[float] = (), system: str = ""
    ) -> None:
        self.label, self.values, self.kind, self.is_sized = label, values, kind, bool(places)
        self.system = system or label
        self.places = places or range(1, len(values) + 1)


@dataclass(frozen=True)
class Figure:
    """A picture in the page's colours, which may still be being drawn, with its title, its population and its numbers.

    `name` is that of its files, `numbers` are CSV.
    """

    name: str
    title: str
    population: str
    numbers: str
    svg: Future[str]

    @property
    def picture(self) -> Markup:
        """Its `<svg>` element; its files are written by then."""
        return Markup(self.svg.result())

    @property
    def links(self) -> list[tuple[str, str]]:
        """What may be downloaded: the format, and where it lies in the site."""
        return [(ending.upper(), f"{FIGURES}/{self.name}.{ending}") for ending in _ENDINGS]


@contextmanager
def drawing(site: Path) -> Iterator[None]:
    """Have another process draw the figures of this block and write their files.

    Vega leaves the interpreter to nobody while it draws.
    """
    with Engine(1).executor() as artist:
        _artists.append((artist, site))
        # It takes a second until it can draw: time to read tables meanwhile.
        draw("plots.forest_chart", [Point("", "", ORACLE_KIND, 0.0)], "")
        try:
            yield
        finally:
            _artists.pop()


def draw(function: str, *what: object) -> Future[str]:
    """The end of what a function (`drawing.write_shared_picture`) does where pictures are drawn."""
    return _artists[-1][0].submit(_drawn, function, what)


def draw_figure(
    name: str, title: str, population: str, function: str, what: Sequence[object], columns: Sequence[str], rows: Rows
) -> Figure:
    """A figure of the picture that a function (`plots.line_chart`) draws of what it is given, and of its numbers."""
    (artist, site), numbers = _artists[-1], io.StringIO()
    csv.writer(numbers, lineterminator="\n").writerows([columns, *rows])
    about = (title, population, numbers.getvalue())
    files = (site / FIGURES / name, *about) if site else ()
    return Figure(name, *about, artist.submit(_drawn, function, what, files))


def _drawn(function: str, what: Sequence[object], files: Sequence[object] = ()) -> str:
    """What a function gives; where that is a picture of a site, its files are written."""
    picture = _called(function, *what)
    if files:
        _called("drawing.write_figure", files[0], picture, *files[1:])
    return picture


def _called(function: str, *what: object) -> str:
    # Imported by whoever draws: Altair and Vega take long.
    module, _, name = function.partition(".")
    return str(getattr(import_module(f"report.charts.{module}"), name)(*what))


def cut(text: str, most: int = _MAX_LABEL) -> str:
    """A name that has room beside a picture."""
    shown = visible(text)
    if len(shown) <= most:
        return shown
    # Names that are no words differ at their ends as well.
    kept = 0 if " " in shown else most // 2
    return f"{shown[: most - 1 - kept]}…{shown[len(shown) - kept :]}"
