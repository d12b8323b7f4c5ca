"""The objects that a file begins with, also where the beginning ends in the midst of one: what formats are told by."""

from __future__ import annotations

import json
from functools import lru_cache

from pydantic_core import from_json

from ingest.runs.trajectories.json_values import JsonObject, object_of

MAX_OBJECTS = 50
"""So many are looked at: records of sessions begin with a few rows that any could have."""


@lru_cache(maxsize=1)
def objects_in(head: bytes) -> tuple[JsonObject, ...]:
    """The first objects of JSON Lines, of a JSON list, or of one JSON object, each as far as it goes.

    An object that is cut off has the keys and values that stand before the cut. What is damaged is left out. Every
    format looks at the same beginning, so the last one is kept.

    Args:
        head: The first bytes of a file, unpacked.
    """
    text = head.decode(errors="replace").removeprefix("\ufeff").lstrip()
    if not text.startswith(("{", "[")):
        return ()
    lines = text.split("\n", MAX_OBJECTS)
    first = _parsed(lines[0])
    if isinstance(first, dict):
        values = [first, *(_parsed(line, cut_off=True) for line in lines[1:MAX_OBJECTS] if line.startswith("{"))]
    else:
        whole = _parsed(text, cut_off=True)
        values = whole[:MAX_OBJECTS] if isinstance(whole, list) else [whole]
        if not isinstance(whole, dict | list):
            # The first line is damaged; the others may not be.
            values = [_parsed(line) for line in lines[1:MAX_OBJECTS] if line.startswith("{")]
    return tuple(value for value in values if isinstance(value, dict))


def first_row(head: bytes) -> JsonObject:
    """The object that the first line of a file is; an empty one where it is none."""
    try:
        row = json.loads(head.removeprefix(b"\xef\xbb\xbf").lstrip().split(b"\n", 1)[0])
    except (ValueError, RecursionError):
        row = None
    return object_of(row)


def _parsed(text: str, *, cut_off: bool = False) -> object:
    try:
        value: object = from_json(text, allow_partial="trailing-strings" if cut_off else False)
    except ValueError:
        try:
            # It takes half a surrogate pair, which the other does not.
            value = json.loads(text)
        except (ValueError, RecursionError):
            return None
    return value
