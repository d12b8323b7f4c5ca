"""Figures: a picture with its title, population and numbers; shown in a page and offered as files to download."""

import textwrap
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

FIGURES = "figures"  # the folder of the site with the figures' files
LONG, _MAX_LABEL = 32, 24  # characters of labels
SHADES = 4  # of a kind's colour; a system has the same shade in every picture, unless it is taken by another
ORACLE_KIND = "oracle"
_artists: list[tuple[Executor, Path | None]] = [(InThisProcess(), None)]
"""A stack: the executor that draws, and the site that figures are written to (None: no files)."""


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


class Point(NamedTuple):
    """One system in a chart: its score, and the interval (None if there is none)."""

    label: str
    kind: str
    value: float
    low: float | None = None
    high: float | None = None


class Curve:
    """A system's curve: its `values` at the x values `places`, or at steps 1, 2, 3, … if there are none."""

    def __init__(
        self, label: str, values: Sequence[float], kind: str, places: Sequence[float] = (), system: str = ""
    ) -> None:
        self.label, self.values, self.kind, self.is_sized = label, values, kind, bool(places)
        self.system = system or label
        self.places = places or range(1, len(values) + 1)


@dataclass(frozen=True)
class Figure:
    """A picture, which may not be drawn yet, its `numbers` as CSV, and the path of its files (`name`)."""

    name: str
    title: str
    population: str
    numbers: str
    svg: Future[str]

    @property
    def picture(self) -> Markup:
        """Its `<svg>` element; waits until it is drawn and its files are written."""
        return Markup(self.svg.result())

    @property
    def links(self) -> list[tuple[str, str]]:
        """The files to download, as format and path in the site."""
        return [(ending.upper(), f"{FIGURES}/{self.name}.{ending}") for ending in ("svg", "pdf", "csv")]


@contextmanager
def drawing(site: Path) -> Iterator[Executor]:
    """Let another process draw the figures of this block: in a thread, Vega would hold the interpreter lock."""
    with Engine(1).executor() as artist:
        _artists.append((artist, site))
        # Start it now: it takes a second until it can draw, during which tables are read here.
        draw("plots.forest_chart", [Point("", ORACLE_KIND, 0.0)], "")
        try:
            yield artist
        finally:
            _artists.pop()


def draw(function: str, *what: object, about: Sequence[str] = ()) -> Future[str]:
    """The future result of a function (`plots.line_chart`); a picture `about` a Figure's fields is also written."""
    artist, site = _artists[-1]
    return artist.submit(_drawn, function, what, (site / FIGURES / about[0], *about[1:]) if site and about else ())


def _drawn(function: str, what: Sequence[object], files: Sequence[object]) -> str:
    # Imported only in the process that draws: Altair and Vega take long to import.
    module, _, name = function.partition(".")
    picture = str(getattr(import_module(f"report.charts.{module}"), name)(*what))
    if files:
        import_module("report.charts.drawing").write_figure(files[0], picture, *files[1:])
    return picture


def cut(text: str, most: int = _MAX_LABEL) -> str:
    """A name with hidden characters made visible, shortened to `most` characters."""
    shown = visible(text)
    if len(shown) <= most:
        return shown
    if " " in shown[: most - 1]:
        return textwrap.shorten(shown, most, placeholder=" …")
    # Names without spaces keep their ends, in which they often differ.
    kept = most // 2
    return f"{shown[: most - 1 - kept]}…{shown[-kept:]}"
