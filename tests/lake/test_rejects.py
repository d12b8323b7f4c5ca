"""Rejects: each with its place and reason, one row per place."""

from __future__ import annotations

from lake.rejects import Rejects
from lake.tables import table


def _rows(rejects: Rejects) -> list[tuple[object, ...]]:
    return table("rejects").checked(rejects.frame("ingest")).rows()


def test_rejects_are_rows_sorted_by_their_place() -> None:
    rejects = Rejects()
    rejects.add("b.jsonl", "line 1", "odd", "{}")
    rejects.add("a.jsonl", "line 2", "odd")
    assert len(rejects) == 2
    assert _rows(rejects) == [
        ("ingest", "a.jsonl", "line 2", "odd", ""),
        ("ingest", "b.jsonl", "line 1", "odd", "{}"),
    ]


def test_two_reasons_at_one_place_are_one_row_and_one_reason_twice_is_said_once() -> None:
    rejects = Rejects()
    for reason in ("odd", "old", "odd"):
        rejects.add("a", "line 1", reason, "x")
    assert _rows(rejects) == [("ingest", "a", "line 1", "odd; old", "x")]


def test_a_long_excerpt_is_cut() -> None:
    rejects = Rejects()
    rejects.add("a", "line 1", "long", "x" * 5000)
    assert _rows(rejects)[0][-1] == "x" * 200


def test_half_a_surrogate_pair_is_shown_and_not_stored() -> None:
    rejects = Rejects()
    rejects.add("a\udcff", "line 1", "odd \ud800", "{\ud83d}")
    assert _rows(rejects) == [("ingest", "a\\udcff", "line 1", "odd \\ud800", "{\\ud83d}")]
