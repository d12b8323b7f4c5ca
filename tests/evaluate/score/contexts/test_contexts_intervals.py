"""Unions of intervals step by step, held against sets of the places themselves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluate.score.contexts import intervals
from evaluate.score.contexts.intervals import NEVER, Spans, Walks, held_since, pieces, ranges, sizes

Row = tuple[int, int, int, int]

N_STEPS, LENGTH = [3, 0, 2], 40
_PLACE = st.integers(0, LENGTH - 16)
_ROW = st.tuples(st.sampled_from([(0, 1), (0, 2), (0, 3), (2, 1), (2, 2)]), _PLACE, st.integers(0, 16)).map(
    lambda one: (*one[0], one[1], one[1] + one[2])
)


@pytest.fixture(params=["marked", "sorted"], autouse=True)
def _both_ways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intervals, "_DENSE", 1_000_000 if request.param == "marked" else 0)


def spans(rows: Sequence[Row]) -> Spans:
    return Spans(*np.array(rows, np.int64).reshape(-1, 4).T)


def walks() -> Walks:
    return Walks(np.array(N_STEPS, np.int64), np.full(len(N_STEPS), LENGTH, np.int64))


def places(rows: Sequence[Row], walk: int, first: int, last: int) -> set[int]:
    return {place for w, step, start, end in rows if w == walk and first <= step <= last for place in range(start, end)}


def check(seen: list[Row], gold: list[Row]) -> None:
    found, slot = sizes(walks(), spans(seen), spans(gold)), 0
    for walk, n_steps in enumerate(N_STEPS):
        should = places(gold, walk, 0, 9)
        assert found.n_gold[walk] == len(should)
        for step in range(1, n_steps + 1):
            here, so_far = places(seen, walk, step, step), places(seen, walk, 1, step)
            assert (found.n_pred[slot], found.n_hit[slot]) == (len(here), len(here & should))
            assert found.n_cumulative[slot] == len(so_far)
            assert found.n_cumulative_hit[slot] == len(so_far & should)
            slot += 1


@given(st.lists(_ROW, max_size=14), st.lists(_ROW, max_size=6))
def test_sizes_are_those_of_the_sets_of_places(seen: list[Row], gold: list[Row]) -> None:
    check(seen, gold)


@given(st.lists(_ROW, max_size=10), st.sampled_from([0, 2]), st.integers(-1, LENGTH - 1))
def test_a_place_is_held_since_the_first_step_that_holds_it(seen: list[Row], walk: int, place: int) -> None:
    found = held_since(walks(), spans(seen), np.array([walk]), np.array([place]))
    steps = [step for w, step, start, end in seen if w == walk and start <= place < end]
    assert found.tolist() == [min(steps, default=NEVER)]


@given(st.lists(_ROW, max_size=10))
def test_pieces_give_every_place_to_its_first_step(seen: list[Row]) -> None:
    found = [
        (w, step, place)
        for w, step, start, end in zip(*pieces(walks(), spans(seen)), strict=True)
        for place in range(start, end)
    ]
    wanted: dict[tuple[int, int], int] = {}
    for w, step, start, end in seen:
        for place in range(start, end):
            wanted[w, place] = min(step, wanted.get((w, place), step))
    assert sorted(found) == sorted((w, step, place) for (w, place), step in wanted.items())


def test_ranges_are_spelled_out_with_the_row_they_are_from() -> None:
    row, number = ranges(np.array([3, 7, 5]), np.array([5, 6, 6]))
    assert (row.tolist(), number.tolist()) == ([0, 0, 2], [3, 4, 5])
