"""What each metric computes, as a formula that can be read as text: a fraction, or a line."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple


class Formula(NamedTuple):
    """What stands before a fraction, above its line, and below it; without a line all of it stands before."""

    before: str
    above: str = ""
    below: str = ""


@cache
def formulas() -> Mapping[str, Mapping[str, Formula]]:
    """The formulas `by_metric`; `by_ending` those of sets, by the last word of a metric's name."""
    tables = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return {table: {name: Formula(*texts) for name, texts in rows.items()} for table, rows in tables.items()}


def formula_of(metric: str) -> Formula | None:
    """A metric's formula; None where its description is all there is to say."""
    ending = metric.rpartition("_")[2] if "_" in metric else ""
    return formulas()["by_metric"].get(metric) or formulas()["by_ending"].get(ending)
