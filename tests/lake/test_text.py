import pytest
from hypothesis import given
from hypothesis import strategies as st

from lake.rejects import Rejects
from lake.tables import table
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


def _rows(rejects: Rejects) -> list[tuple[object, ...]]:
    return table("rejects").checked(rejects.frame("ingest")).rows()


def test_rejects_are_rows_sorted_by_their_place() -> None:
    rejects = Rejects()
    rejects.add("b.jsonl", "line 1", "odd", "{}")
    rejects.add("a.jsonl", "line 2", "odd")
    assert len(rejects) == 2
    assert _rows(rejects) == [("ingest", "a.jsonl", "line 2", "odd", ""), ("ingest", "b.jsonl", "line 1", "odd", "{}")]


def test_two_reasons_at_one_place_are_one_row_and_one_reason_twice_is_said_once() -> None:
    rejects = Rejects()
    for reason in ("odd", "old", "odd"):
        rejects.add("a", "line 1", reason, "x")
    assert _rows(rejects) == [("ingest", "a", "line 1", "odd; old", "x")]


def test_a_long_excerpt_is_cut() -> None:
    rejects = Rejects()
    rejects.add("a", "line 1", "long", "x" * 5000)
    assert _rows(rejects)[0][-1] == "x" * 200


def test_half_a_surrogate_pair_is_shown_and_not_stored() -> None:
    rejects = Rejects()
    rejects.add("a\udcff", "line 1", "odd \ud800", "{\ud83d}")
    assert _rows(rejects) == [("ingest", "a\\udcff", "line 1", "odd \\ud800", "{\\ud83d}")]
