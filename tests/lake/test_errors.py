"""Errors as a person reads them: at most ten lines, what, where, examples, what to do."""

from __future__ import annotations

from lake.errors import GoldspanError


def test_an_error_says_what_where_three_examples_and_what_to_do() -> None:
    error = GoldspanError("it is odd", where="a.jsonl", examples=["1", "2", "3", "4", "5"], hint="Mend it.")
    assert str(error) == (
        "it is odd\n  where: a.jsonl\n  for example: 1\n  for example: 2\n  for example: 3\n  and 2 more\n  Mend it."
    )


def test_a_name_of_several_lines_is_shown_on_one() -> None:
    error = GoldspanError("it is odd", where="a\nb\x1b", examples=["c\nd"])
    assert error.render() == "it is odd\n  where: a\\u{A}b\\u{1B}\n  for example: c\\u{A}d"
