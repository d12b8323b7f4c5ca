"""Fingerprints: equal values alike, different values apart, whatever the order of a mapping or a set."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from lake.code import code_digest, folder_digest
from lake.fingerprint import canonical_json, fingerprint, sha256_of, sha256_of_file
from tests.tiny import put


def test_a_fingerprint_is_32_hex_digits_and_the_same_everywhere() -> None:
    assert fingerprint("a", 1) == hashlib.sha256(b'["a",1]').hexdigest()[:32]


def test_equal_values_have_equal_fingerprints_whatever_their_order() -> None:
    assert fingerprint({"a": 1, "b": (2, 3)}) == fingerprint({"b": [2, 3], "a": 1})
    assert fingerprint({"x", "y", "z"}) == fingerprint(frozenset(["z", "y", "x"]))
    assert fingerprint(Path("a/b")) == fingerprint("a/b")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("a", "b"), ("ab",)),
        (("1",), (1,)),
        ((None,), ("",)),
        (([],), ()),
        ((1,), (1.0,)),
        ((["a"], "b"), ("a", ["b"])),
    ],
)
def test_different_values_have_different_fingerprints(one: tuple[object, ...], other: tuple[object, ...]) -> None:
    assert fingerprint(*one) != fingerprint(*other)


def test_what_has_no_canonical_form_is_refused() -> None:
    with pytest.raises(TypeError, match="cannot fingerprint a object"):
        fingerprint(object())


def test_canonical_json_has_sorted_keys_and_no_spaces() -> None:
    assert canonical_json({"b": 1, "a": "ü"}) == '{"a":"ü","b":1}'


def test_a_files_sha256_is_that_of_its_bytes(tmp_path: Path) -> None:
    assert sha256_of_file(put(tmp_path / "a", b"x")) == sha256_of(b"x") == hashlib.sha256(b"x").hexdigest()


def test_a_functions_digest_is_that_of_the_file_it_stands_in() -> None:
    assert code_digest(fingerprint) == sha256_of_file(Path(fingerprint.__code__.co_filename))


def test_a_folders_digest_names_every_python_file_in_order(tmp_path: Path) -> None:
    put(tmp_path / "b/c.py", b"c")
    put(tmp_path / "a.py", b"a")
    put(tmp_path / "a.txt", b"a")
    assert folder_digest(tmp_path) == [("a.py", sha256_of(b"a")), ("b/c.py", sha256_of(b"c"))]
