"""Calls and results that lie apart are paired by id, by order where they are as many, else each call has the rest."""

from __future__ import annotations

import pytest

from ingest.runs.sessions import paired
from ingest.runs.trajectories.trajectory import Unread


def result(name: str, of: str = "") -> dict[str, object]:
    return {"name": name, "of": of}


@pytest.mark.parametrize(
    ("calls", "results", "wanted"),
    [
        (["a", "b"], [result("2", "b"), result("1", "a")], ["1", "2"]),
        (["a", "b"], [result("1"), result("2")], ["1", "2"]), (["", ""], [result("1"), result("2")], ["1", "2"]),
        (["a", "b", "c"], [result("2", "b"), result("1"), result("3")], ["1", "2", "3"]),
        (["a", "b"], [result("screen")], ["screen", "screen"]),
        (["a", "b", "c"], [result("2", "b"), result("screen")], ["screen", "2", "screen"]),
        (["a"], [result("1"), result("2")], ["12"]), (["a"], [result("1", "a"), result("2", "a")], ["12"]),
        (["a", "b"], [result("1", "a")], ["1", ""]), (["a", "b"], [], ["", ""]),
    ],
)  # fmt: skip
def test_calls_and_results_are_paired(calls: list[str], results: list[dict[str, object]], wanted: list[str]) -> None:
    found = paired(calls, results, ["of"])
    assert ["".join(str(one["name"]) for one in each) for each in found] == wanted


def test_what_is_unread_is_told_the_most_frequent_first() -> None:
    unread = Unread({"tool b": 2, "tool a": 2, "file x": 1200})
    assert unread.summary() == "file x (1,200), tool a (2), tool b (2)"
    assert unread.summary(most=1) == "file x (1,200) and 2 more"
