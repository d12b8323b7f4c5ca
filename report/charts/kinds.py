"""Kinds of systems, each with one colour and one shape wherever it is drawn: in figures, in tables, in legends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

ORACLE = "oracle"


class Kind(NamedTuple):
    """A kind's title in legends, its colour (a custom property of the style sheet) and its shape (as Vega names it)."""

    title: str
    colour: str
    shape: str


KINDS: Mapping[str, Kind] = {
    "retriever": Kind("retriever", "var(--retriever)", "circle"),
    "agent": Kind("agent", "var(--agent)", "square"),
    "imported": Kind("run made elsewhere", "var(--imported)", "triangle-right"),
    "baseline": Kind("baseline", "var(--baseline)", "diamond"),
    ORACLE: Kind("oracle", "var(--oracle)", "triangle-up"),
}
"""In the order in which legends have them."""
