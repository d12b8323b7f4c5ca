"""Fingerprints: equal values alike, different values apart, whatever the order of a mapping or a set."""

from __future__ import annotations

from pathlib import Path

import pytest

from lake.fingerprint import fingerprint


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
