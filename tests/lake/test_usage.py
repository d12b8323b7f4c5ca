from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lake.exact import exact_mean
from lake.store import Lake
from lake.usage import pareto_front, run_costs
from tests.frames import write


def test_a_runs_parts_are_added_and_their_queries_ordered_together(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    # The run `s` has no queries, and `t` no index.
    parts = [("r", 1.5, 10, [0.1, 0.9]), ("r", 2.5, 30, [0.5]), ("s", 0.25, 2, []), ("t", None, None, [2.0])]
    for number, (run_id, seconds, size, queries) in enumerate(parts):
        row = {"part": str(number), "index_seconds": seconds, "index_bytes": size, "query_seconds": queries}
        write(lake, "costs", [row | {"hardware": "2 cores"}], part=str(number), benchmark="b", run_id=run_id)
    rows = run_costs(lake).collect().with_columns(pl.col("query_p50", "query_p95").round(6)).drop("benchmark").rows()
    assert rows == [
        ("r", 4.0, 0.5, 0.86, 40, 3, "2 cores"),
        ("s", 0.25, None, None, 2, 0, "2 cores"),
        ("t", None, 2.0, 2.0, None, 1, "2 cores"),
    ]


few = st.integers(0, 4)


@given(st.lists(st.tuples(few, few), max_size=8), st.booleans())
def test_on_the_frontier_are_those_that_no_other_beats(offers: list[tuple[int, int]], lower: bool) -> None:
    def beats(other: tuple[int, int], first: tuple[int, int]) -> bool:
        gain = first[1] - other[1] if lower else other[1] - first[1]
        return other[0] <= first[0] and gain >= 0 and (other[0] < first[0] or gain > 0)

    wanted = [not any(beats(other, offer) for other in offers) for offer in offers]
    assert pareto_front([cost for cost, _ in offers], [value for _, value in offers], lower_is_better=lower) == wanted


def test_a_mean_does_not_depend_on_the_order_of_rows() -> None:
    numbers = pl.Series("seconds", [0.1, 1e9, 0.3, None, 1470.33] * 7)
    rows = [numbers, numbers.reverse(), numbers.sort(), numbers.shuffle(seed=1)]
    means = {row.to_frame().select(exact_mean(pl.col("seconds"))).item() for row in rows}
    assert len(means) == 1
    assert means.pop() == pytest.approx((1e9 + 1470.73) / 4, rel=1e-9)
    assert numbers.clear().to_frame().select(exact_mean(pl.col("seconds"))).item() is None
