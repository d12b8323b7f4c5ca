from itertools import pairwise

import polars as pl
from hypothesis import example, given
from hypothesis import strategies as st

from lake.offsets import Offsets, added_lines, split_lines

TEXTS = st.text(st.sampled_from("ab \t\r\n\n\v\f\x1c\x85\u2028\u2029é€😀\ufeff\u00a0\0"))


@example("a\u2028b\x0cc\x85d\re\r\n\n")
@given(TEXTS)
def test_lines_end_at_newlines_alone_and_joined_they_are_the_text(text: str) -> None:
    lines = split_lines(text)
    assert "".join(lines) == text
    assert all(line.endswith("\n") and line.count("\n") == 1 for line in lines[:-1])
    assert not lines or (lines[-1] and "\n" not in lines[-1][:-1])


@given(TEXTS)
def test_line_starts_cut_the_bytes_where_the_lines_are(text: str) -> None:
    data = text.encode()
    bounds = [*Offsets.between_lines(data.decode()).byte[:-1].tolist(), len(data)]
    assert [data[a:b].decode() for a, b in pairwise(bounds)] == split_lines(text)


@given(TEXTS)
def test_non_whitespace_is_utf16_units_above_the_space(text: str) -> None:
    counted = [sum((2 if ord(c) > 0xFFFF else 1) for c in line if ord(c) > 0x20) for line in split_lines(text)]
    assert Offsets.between_lines(text).n_nws.tolist() == counted


spans = st.tuples(st.sampled_from("xy"), st.sampled_from("ab"), st.integers(0, 9), st.integers(0, 9))


@given(rows=st.lists(spans, max_size=9))
def test_every_line_is_added_by_the_first_span_of_its_list_that_has_it(rows: list[tuple[str, str, int, int]]) -> None:
    ranked = [(*row, rank) for rank, row in enumerate(rows, start=1)]
    names = {"list": pl.String, "path": pl.String, "line_start": pl.Int64, "line_end": pl.Int64, "rank": pl.Int64}
    added = added_lines(pl.DataFrame(ranked, names, orient="row"), ["list"]).select(*names)
    lines = [(of, path, line, rank) for of, path, start, end, rank in added.rows() for line in range(start, end)]
    expected: dict[tuple[str, str, int], int] = {}
    for of, path, start, end, rank in ranked:
        for line in range(start, end):
            expected.setdefault((of, path, line), rank)
    assert sorted(lines) == sorted((*line, rank) for line, rank in expected.items())
