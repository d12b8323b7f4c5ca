import pytest

from report.format import MAX_LENGTH, count, p_value, score, settings, signed, size, slug, two_digits, visible
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


def test_scores_have_three_decimals() -> None:
    assert [score(value) for value in (0.0, 1.0, 0.12345, None)] == ["0.000", "1.000", "0.123", "–"]


def test_no_p_value_is_shown_as_zero() -> None:
    assert [p_value(p) for p in (0.0, 0.00099, 0.001, 0.5, None)] == ["<0.001", "<0.001", "0.001", "0.500", "–"]


def test_what_is_shown_as_zero_has_no_minus() -> None:
    assert [score(-0.0001), signed(-0.0001), signed(-0.0), signed(-0.0006)] == ["0.000", "0.000", "0.000", "−0.001"]


def test_measurements_have_two_digits_or_whole_units() -> None:
    assert [two_digits(value) for value in (0.1234, 1.234, 12.34, 1234.5, None)] == ["0.12", "1.2", "12", "1,234", "–"]
    assert two_digits(0.0042, 1000) == "4.2"


def test_counts_and_sizes() -> None:
    assert (count(12345), count(None), size(999), size(12_345)) == ("12,345", "–", "999 bytes", "12.3 kB")


def test_parameters_are_names_with_values() -> None:
    assert settings('{"k1":1.5,"lower":true,"tokens":"words"}') == "k1 = 1.5, lower = true, tokens = words"
    assert settings("{}") == ""


def test_a_slug_is_safe_in_a_path() -> None:
    assert (slug("repobench-r"), slug("../../etc"), slug("\u202e")) == ("repobench-r", "etc", "unnamed")


def test_backticks_in_a_declared_text_become_code() -> None:
    assert prose("slice `all` < `x`, lone ` too") == "slice <code>all</code> &lt; <code>x</code>, lone ` too"
