"""Lines, bytes and characters against their definitions."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lake.text import decode, language_of, line_starts, n_nws_per_line, regex_tokens, split_lines, words

TEXTS = st.text(st.sampled_from("ab \t\r\n\n\v\f\x1c\x85\u2028\u2029é€😀\ufeff\u00a0\0"))
BYTES = st.one_of(st.binary(), st.lists(st.sampled_from([b"a", b"\n", b"\r\n", b"\xe2\x82", b"\xff"])).map(b"".join))


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


@given(BYTES)
def test_line_starts_are_zero_and_every_byte_after_a_newline(data: bytes) -> None:
    assert line_starts(data) == [at for at in range(len(data)) if at == 0 or data[at - 1 : at] == b"\n"]


@given(TEXTS)
def test_line_starts_cut_the_bytes_where_the_lines_are(text: str) -> None:
    data = text.encode()
    bounds = [*line_starts(data), len(data)]
    assert [data[a:b].decode() for a, b in pairwise(bounds)] == split_lines(text)


def test_an_astral_character_counts_as_two_units() -> None:
    # "a😀 b": a, two halves, (space), b; then a line of white space; then U+00A0, which is above U+0020.
    assert n_nws_per_line("a😀 b\n \t\r\n\u00a0").tolist() == [4, 0, 1]


@given(TEXTS)
def test_non_whitespace_is_utf16_units_above_the_space(text: str) -> None:
    counted = [sum((2 if ord(c) > 0xFFFF else 1) for c in line if ord(c) > 0x20) for line in split_lines(text)]
    assert n_nws_per_line(text).tolist() == counted


@given(BYTES)
def test_decoding_replaces_and_counts_what_is_not_utf8(data: bytes) -> None:
    text, n_replaced = decode(data)
    assert text == data.decode(errors="replace")
    assert (n_replaced == 0) == _is_utf8(data)


def test_a_replacement_character_that_was_there_is_not_counted() -> None:
    assert decode("\ufffd".encode() + b"\xff") == ("\ufffd\ufffd", 1)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


@pytest.mark.parametrize(
    ("path", "language"),
    [("a/b.py", "python"), ("B.PY", "python"), ("py", ""), ("a.py/readme", ""), (".py", "python"), ("x.tar.gz", "")],
)
def test_language_is_told_by_the_ending_of_the_name(path: str, language: str) -> None:
    assert language_of(path) == language


def test_regex_tokens_keep_case_and_marks_and_words_do_not() -> None:
    assert regex_tokens("def Foo_1(x): return 12.5e3") == [
        "def", "Foo_1", "(", "x", ")", ":", "return", "12", ".", "5", "e3",
    ]  # fmt: skip
    assert words("def Foo_1(x): return 12.5e3") == ["def", "foo_1", "x", "return", "12", "5e3"]
