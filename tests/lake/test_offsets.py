from itertools import pairwise

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lake.offsets import Offsets, added_lines, split_lines

TEXTS = st.text(st.sampled_from("ab \t\r\n\n\v\f\x1c\x85\u2028\u2029é€😀\ufeff\u00a0\0"))


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("\n", ["\n"]),
        ("a", ["a"]),
        ("a\n", ["a\n"]),
        ("a\r\nb", ["a\r\n", "b"]),
        ("a\rb\n", ["a\rb\n"]),
        ("a\u2028b\x0cc\x85d\n\n", ["a\u2028b\x0cc\x85d\n", "\n"]),
    ],
)
def test_text_splits_on_newlines_alone(text: str, lines: list[str]) -> None:
    assert split_lines(text) == lines


@given(TEXTS)
def test_lines_joined_are_the_text_and_only_the_last_may_lack_its_end(text: str) -> None:
    lines = split_lines(text)
    assert "".join(lines) == text
    assert all(line.endswith("\n") and line.count("\n") == 1 for line in lines[:-1])
    assert not lines or (lines[-1] and "\n" not in lines[-1][:-1])


@given(TEXTS)
def test_line_starts_cut_the_bytes_where_the_lines_are(text: str) -> None:
    data = text.encode()
    bounds = [*Offsets.between_lines(data.decode()).byte[:-1].tolist(), len(data)]
    assert [data[a:b].decode() for a, b in pairwise(bounds)] == split_lines(text)


def test_an_astral_character_counts_as_two_units() -> None:
    # "a😀 b": a, two halves, (space), b; then a line of white space; then U+00A0, which is above U+0020.
    assert Offsets.between_lines("a😀 b\n \t\r\n\u00a0").n_nws.tolist() == [4, 0, 1]


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
