"""Kinds of systems, each with one colour and one shape wherever it is drawn: in figures, in tables, in legends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

ORACLE = "oracle"


class Kind(NamedTuple):
    """How a kind is drawn: its title in a legend, its colour in the style sheet, its shape as Vega knows it.

    The style sheet draws the same shape beside a table's numbers, by the kind's name.
    """

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
