"""JSON values as what they should be, whatever they are, under keys: `str_at(row, "test_result", "git_patch")`."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache

from pydantic_core import from_json

LAST_LINE = 2**53  # A line number beyond it is none: not every writer of JSON can say it exactly
MAX_OBJECTS = 50  # so many are looked at of a beginning: records of sessions begin with a few rows that any could have
_MESSAGE = re.compile(rb"\s*$|[A-Za-z(]|\[[A-Z]")
JsonRecord = Mapping[str, object]


def at(value: object, *keys: str) -> object:
    """What stands in objects within objects under some keys; None where there is nothing."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def object_at(value: object, *keys: str) -> JsonRecord:
    """The object, or an empty one in place of anything else."""
    inner = at(value, *keys)
    return inner if isinstance(inner, dict) else {}


def list_at(value: object, *keys: str) -> Sequence[object]:
    """The list, or an empty one in place of anything else."""
    inner = at(value, *keys)
    return inner if isinstance(inner, list) else ()


def objects_at(value: object, *keys: str) -> list[JsonRecord]:
    """The entries of a list, empty objects in place of those that are none."""
    return [object_at(entry) for entry in list_at(value, *keys)]


def str_at(value: object, *keys: str) -> str:
    """The text, or an empty one in place of anything else."""
    inner = at(value, *keys)
    return inner if isinstance(inner, str) else ""


def first_text(value: object, keys: Iterable[str]) -> str:
    """The first text of an object that is not empty, under the keys in their order."""
    return next((text for key in keys if (text := str_at(value, key))), "")


def content_of(message: object) -> str:
    """The text of a chat message: its `content`, a text or a list of parts that have one each."""
    parts = (part if isinstance(part, str) else str_at(part, "text") for part in list_at(message, "content"))
    return str_at(message, "content") or "\n".join(filter(None, parts))


def line_of(value: object, *keys: str) -> int | None:
    """A line number: a whole number, also as a text or as a float; None for anything else."""
    value = at(value, *keys)
    if isinstance(value, str):
        digits = value.strip()
        value = int(digits) if len(digits) < 20 and digits.removeprefix("-").isdecimal() else None
    elif isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if type(value) is int and abs(value) <= LAST_LINE else None


def parsed_object(value: object, *keys: str) -> JsonRecord:
    """An object, also where it is given as a text of one, as a call's arguments may be."""
    value = at(value, *keys)
    if isinstance(value, str):
        with suppress(ValueError, RecursionError):
            value = json.loads(value)
    return object_at(value)


def count_at(value: object, *keys: str) -> int | None:
    """A whole number of 0 or more; None in place of anything else."""
    number = at(value, *keys)
    return number if type(number) is int and 0 <= number <= LAST_LINE else None


@lru_cache(maxsize=1)
def objects_in(head: bytes) -> tuple[JsonRecord, ...]:
    """The first objects of JSON Lines, a JSON list or one object, as far as a beginning goes, cut off ones too."""
    text = _beginning(head)
    if not text.startswith(("{", "[")):
        return ()
    lines = text.split("\n", MAX_OBJECTS)[:MAX_OBJECTS]
    others = [line for line in lines[1:] if line.startswith("{")]
    if isinstance(first := _parsed(lines[0]), dict):
        values = [first, *(_parsed(line, cut_off=True) for line in others)]
    elif isinstance(whole := _parsed(text, cut_off=True), list):
        values = whole[:MAX_OBJECTS]
    else:
        # Where the first line is damaged, the others may not be.
        values = [whole] if isinstance(whole, dict) else [_parsed(line) for line in others]
    return tuple(value for value in values if isinstance(value, dict))


def first_row(head: bytes) -> JsonRecord:
    """The object that the first line of a file is; an empty one where it is none."""
    return parsed_object(_beginning(head).partition("\n")[0])


def _beginning(head: bytes) -> str:
    # What a program printed of its start may stand before its records.
    return without_messages(head).decode(errors="replace").removeprefix("\ufeff").lstrip()


def without_messages(head: bytes) -> bytes:
    """A beginning from its first object on, where a few lines of text stand before it; else as it is."""
    lines = head.split(b"\n", 20)  # so many may stand before the first record
    first = next((number for number, line in enumerate(lines) if line.startswith(b'{"')), 0)
    return b"\n".join(lines[first:]) if all(map(_MESSAGE.match, lines[:first])) else head


def _parsed(text: str, *, cut_off: bool = False) -> object:
    value: object = None
    with suppress(ValueError):
        value = from_json(text, allow_partial="trailing-strings" if cut_off else False)
        return value
    # It takes half a surrogate pair, which the other does not.
    with suppress(ValueError, RecursionError):
        value = json.loads(text)
    return value
