"""What charts are drawn from: a system's number, its curve, and what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


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

    @property
    def points(self) -> list[tuple[float, float]]:
        """Each place with the number there."""
        return list(zip(self.places or range(1, len(self.values) + 1), self.values, strict=True))


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
