"""Rows of a bench: what counts as over, and how the table says it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.bench import Bench, Row, Target
from tests.bench._table import aligned, plain

ASKED = Target(seconds=30, peak_mb=2_000, ratio=4, difference=1e-12, disk_mb=60)
REACHED = Row("x", seconds=30, peak_mb=2_000, ratio=4, difference=0, disk_mb=60, target=ASKED)


@pytest.fixture
def nothing() -> Bench:
    # No module-level name: discovery would take it for a bench.
    return Bench("nothing", "nothing", "not at all", lambda _settings, _folder: iter(()))


def test_a_target_is_reached_at_its_own_number() -> None:
    assert REACHED.verdict == "ok"


@pytest.mark.parametrize(
    "missed",
    [
        replace(REACHED, seconds=30.1),
        replace(REACHED, peak_mb=2_001),
        replace(REACHED, ratio=3.9),
        replace(REACHED, difference=1e-11),
        replace(REACHED, disk_mb=60.1),
    ],
)
def test_one_number_over_is_over(missed: Row) -> None:
    assert missed.verdict == "over"


@pytest.mark.parametrize("value", [None, float("nan")])
def test_what_was_not_measured_is_over(value: float | None) -> None:
    unmeasured = [
        replace(REACHED, seconds=value),
        replace(REACHED, peak_mb=value),
        replace(REACHED, ratio=value),
        replace(REACHED, difference=value),
    ]
    assert [row.verdict for row in unmeasured] == ["over"] * 4


def test_without_a_target_there_is_no_verdict() -> None:
    assert Row("x", seconds=1e9).verdict == ""


def test_a_computation_that_got_half_a_core_was_disturbed(nothing: Bench) -> None:
    disturbed = Row("x", seconds=10, cpu_seconds=5)
    assert disturbed.is_disturbed
    assert "busy with other work" in aligned([(nothing, disturbed)])
    assert not Row("x", seconds=10, cpu_seconds=9).is_disturbed
    assert not Row("x", seconds=0.5, cpu_seconds=0.1).is_disturbed


def test_what_failed_says_why_below_the_table(nothing: Bench) -> None:
    table = aligned([(nothing, Row("x", seconds=1.234, target=ASKED)), (nothing, Row("y", failed="no peer"))])
    head, rule, measured, failed, why = table.splitlines()
    assert head.split()[:2] == ["bench", "what"]
    assert set(rule) == {"-", " "}
    assert measured.split()[:3] == ["nothing", "x", "1.23"]
    assert measured.endswith("≤ 30 s, ≤ 2,000 MB, ≤ 60 MB written, ≥ 4×, equal to 1e-12  over")
    assert failed.split() == ["nothing", "y", "failed"]
    assert why == "nothing, y: no peer"
    assert plain(nothing, Row("y", failed="no peer"))["verdict"] == "failed"
