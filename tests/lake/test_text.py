import pytest
from hypothesis import given
from hypothesis import strategies as st

from lake.text import decode, language_of, regex_tokens, words

BYTES = st.one_of(st.binary(), st.lists(st.sampled_from([b"a", b"\n", b"\r\n", b"\xe2\x82", b"\xff"])).map(b"".join))


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
