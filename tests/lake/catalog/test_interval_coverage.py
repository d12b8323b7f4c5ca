"""What is said of the intervals on every page is what was measured."""

from __future__ import annotations

import re

from evaluate.statistics import intervals
from lake.catalog.interval_coverage import ALIKE, COVERAGE, coverage_note


def test_the_shares_are_those_of_the_method_that_makes_the_intervals() -> None:
    assert intervals.__doc__ is not None
    for kind, shares in COVERAGE.items():
        (row,) = re.findall(rf"\| values {kind} \|(.*)\|", intervals.__doc__)
        assert tuple(float(cell) for cell in row.split("|")[: len(ALIKE)]) == shares


def test_the_note_has_the_worst_and_the_best() -> None:
    assert "in 93.2 to 95.9 % of cases up to a correlation of 0.2" in coverage_note()
    assert "in 91.5 to 94.5 % at 0.4" in coverage_note()
