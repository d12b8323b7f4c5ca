"""What a run cost is summed up from its parts, and the frontier is its definition."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from lake.store import Lake
from lake.tables import table
from lake.usage import pareto_front, run_costs


def test_a_runs_parts_are_added_and_their_queries_ordered_together(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    of_parts = {
        "one": (1.5, 10, [0.1, 0.9]),
        "two": (2.5, 30, [0.5]),
        "silent": (0.25, 2, []),
        "asked": (None, None, [2.0]),
    }
    for run_id, names in {"r": ("one", "two"), "s": ("silent",), "t": ("asked",)}.items():
        for part in names:
            seconds, size, queries = of_parts[part]
            row = {"run_id": run_id, "part": part, "index_seconds": seconds, "index_bytes": size,
                   "query_seconds": queries, "hardware": "2 cores"}  # fmt: skip
            frame = pl.DataFrame([row], schema=table("costs").columns)
            lake.write("costs", frame, part=part, fingerprint="f", benchmark="b", run_id=run_id)
    rows = run_costs(lake).collect().with_columns(pl.col("query_p50", "query_p95").round(6)).drop("benchmark").rows()
    assert rows == [
        ("r", 4.0, 0.5, 0.86, 40, 3, "2 cores"),
        ("s", 0.25, None, None, 2, 0, "2 cores"),
        ("t", None, 2.0, 2.0, None, 1, "2 cores"),
    ]


few = st.integers(0, 4)


@given(st.lists(st.tuples(few, few), max_size=8), st.booleans())
def test_on_the_frontier_are_those_that_no_other_beats(offers: list[tuple[int, int]], lower: bool) -> None:
    def beats(other: tuple[int, int], one: tuple[int, int]) -> bool:
        gain = one[1] - other[1] if lower else other[1] - one[1]
        return other[0] <= one[0] and gain >= 0 and (other[0] < one[0] or gain > 0)

    wanted = [not any(beats(other, one) for other in offers) for one in offers]
    assert pareto_front([cost for cost, _ in offers], [value for _, value in offers], lower_is_better=lower) == wanted
