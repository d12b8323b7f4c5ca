"""What is said of the intervals on every page is what was measured."""

from __future__ import annotations

from lake.catalog.interval_coverage import coverage_note


def test_the_note_has_the_worst_and_the_best() -> None:
    assert "in 93.2 to 95.9 % of cases up to a correlation of 0.2" in coverage_note()
    assert "in 91.5 to 94.5 % at 0.4" in coverage_note()
