from collections.abc import Callable, Sequence
from functools import partial

import pytest

from report.format import MAX_LENGTH, count, p_value, score, settings, signed, slug, two_digits, visible
from report.render import prose


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain ünïcode 文字", "plain ünïcode 文字"),
        ("a\u202eb", "a\\u{202E}b"),
        ("nul\x00", "nul\\u{0}"),
        ("tab\tand\nline", "tab\tand\nline"),
        ("carriage\rreturn", "carriage\\u{D}return"),
        ("family 👨\u200d👩", "family 👨\u200d👩"),
        ("\ufeffbom", "\\u{FEFF}bom"),
    ],
)
def test_hidden_characters_are_made_visible(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_a_very_long_text_is_cut_and_says_so() -> None:
    assert visible("x" * 1_000_000) == "x" * MAX_LENGTH + "… (1,000,000 characters)"


@pytest.mark.parametrize(
    ("form", "values", "texts"),
    [
        (score, (0.0, 1.0, 0.12345, None), ["0.000", "1.000", "0.123", "–"]),
        (p_value, (0.0, 0.00099, 0.001, 0.5, None), ["<0.001", "<0.001", "0.001", "0.500", "–"]),
        (score, (-0.0001,), ["0.000"]),
        (signed, (-0.0001, -0.0, -0.0006), ["0.000", "0.000", "−0.001"]),
        (two_digits, (0.1234, 1.234, 12.34, 1234.5, None), ["0.12", "1.2", "12", "1,234", "–"]),
        (partial(two_digits, scale=1000), (0.0042,), ["4.2"]),
        (count, (12345, None), ["12,345", "–"]),
        (slug, ("repobench-r", "../../etc", "\u202e"), ["repobench-r", "etc", "unnamed"]),
    ],
)
def test_values_are_written_out(form: Callable[[object], str], values: Sequence[object], texts: list[str]) -> None:
    assert list(map(form, values)) == texts


def test_parameters_are_names_with_values() -> None:
    assert settings('{"k1":1.5,"lower":true,"tokens":"words"}') == "k1 = 1.5, lower = true, tokens = words"
    assert settings("{}") == ""


def test_backticks_in_a_declared_text_become_code() -> None:
    assert prose("slice `all` < `x`, lone ` too") == "slice <code>all</code> &lt; <code>x</code>, lone ` too"
