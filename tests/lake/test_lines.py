"""Lines that spans add to those before them, against sets of lines."""

from __future__ import annotations

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from lake.offsets import added_lines

spans = st.tuples(st.sampled_from("xy"), st.sampled_from("ab"), st.integers(0, 9), st.integers(0, 9))


@given(rows=st.lists(spans, max_size=9))
def test_every_line_is_added_by_the_first_span_of_its_list_that_has_it(rows: list[tuple[str, str, int, int]]) -> None:
    ranked = [(*row, rank) for rank, row in enumerate(rows, start=1)]
    names = {"list": pl.String, "path": pl.String, "line_start": pl.Int64, "line_end": pl.Int64, "rank": pl.Int64}
    added = added_lines(pl.DataFrame(ranked, names, orient="row"), ["list"]).select(*names)
    found = [(of, path, line, rank) for of, path, start, end, rank in added.rows() for line in range(start, end)]
    expected: dict[tuple[str, str, int], int] = {}
    for of, path, start, end, rank in ranked:
        for line in range(start, end):
            expected.setdefault((of, path, line), rank)
    assert sorted(found) == sorted((*place, rank) for place, rank in expected.items())
