"""The kinds of charts and what each is drawn from; the drawing is done by another process where there is one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module

from lake.engine import InThisProcess


@dataclass(frozen=True)
class Point:
    """One system in the chart, under its group: its number, and its interval where there is one."""

    group: str
    label: str
    kind: str
    value: float
    low: float | None = None
    high: float | None = None


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


class Picture:
    """An `<svg>` element of a page, which may still be being drawn."""

    def __init__(self, drawn: Future[str]) -> None:
        self._drawn = drawn

    @property
    def is_drawn(self) -> bool:
        """Whether it is done, so that nobody waits for it."""
        return self._drawn.done()

    def __str__(self) -> str:
        return self._drawn.result()

    __html__ = __str__


_executors: list[Executor] = [InThisProcess()]


@contextmanager
def drawing_in(executor: Executor) -> Iterator[None]:
    """Charts of this block are drawn by an executor; this process need not load what draws them."""
    _executors.append(executor)
    try:
        yield
    finally:
        _executors.pop()


def score_chart(points: Sequence[Point], title: str, name: str) -> Picture:
    """One metric per system under its group's name, with its interval and its number."""
    return _drawn("scores", "score_chart", points, title, name)


def forest_chart(points: Sequence[Point], name: str) -> Picture:
    """A few systems, one below the other: name, interval, mark and number."""
    return _drawn("scores", "forest_chart", points, name)


def step_chart(curves: Sequence[Curve], title: str, name: str) -> Picture:
    """A curve per system over the steps."""
    return _drawn("curves", "step_chart", curves, title, name)


def size_chart(curves: Sequence[Curve], titles: tuple[str, str], name: str) -> Picture:
    """A curve per system over sizes, on a scale of powers."""
    return _drawn("curves", "size_chart", curves, titles, name)


def frontier_chart(spots: Sequence[Spot], titles: tuple[str, str], name: str) -> Picture:
    """Each system by its cost, on a scale of powers, and its value."""
    return _drawn("curves", "frontier_chart", spots, titles, name)


def _drawn(module: str, chart: str, *drawn_from: object) -> Picture:
    return Picture(_executors[-1].submit(_draw, module, chart, drawn_from))


def _draw(module: str, chart: str, drawn_from: Sequence[object]) -> str:
    return str(getattr(import_module(f"report.charts.{module}"), chart)(*drawn_from))
