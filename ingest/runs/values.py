"""JSON values of an expected type under keys, whatever the input: `str_at(row, "test_result", "git_patch")`."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache, partial

from pydantic_core import from_json

LAST_LINE = 2**53  # Larger line numbers are invalid: not every writer of JSON can represent them exactly
MAX_OBJECTS = 50  # objects examined at a file's beginning: sessions begin with a few rows that could be of any format
_MESSAGE = re.compile(rb"\s*$|[A-Za-z(]|\[[A-Z]")
JsonRecord = Mapping[str, object]


def at(value: object, *keys: str) -> object:
    """The value in nested objects under some keys; None if there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def object_at(value: object, *keys: str) -> JsonRecord:
    """The object under some keys; an empty one in place of anything else."""
    inner = at(value, *keys)
    return inner if isinstance(inner, dict) else {}


def list_at(value: object, *keys: str) -> Sequence[object]:
    """The list under some keys; an empty one in place of anything else."""
    inner = at(value, *keys)
    return inner if isinstance(inner, list) else ()


def objects_at(value: object, *keys: str) -> list[JsonRecord]:
    """The entries of the list under some keys; an entry that is not an object becomes an empty one."""
    return [object_at(entry) for entry in list_at(value, *keys)]


def str_at(value: object, *keys: str) -> str:
    """The text under some keys; an empty one in place of anything else."""
    inner = at(value, *keys)
    return inner if isinstance(inner, str) else ""


def first_text(value: object, keys: Iterable[str]) -> str:
    """The first non-empty text of an object under some keys, in their order; empty if there is none."""
    return next((text for key in keys if (text := str_at(value, key))), "")


def content_of(message: object) -> str:
    """The text of a chat message: its `content`, a text or a list of parts with texts, joined by line ends."""
    parts = (part if isinstance(part, str) else str_at(part, "text") for part in list_at(message, "content"))
    return str_at(message, "content") or "\n".join(filter(None, parts))


def line_of(value: object, *keys: str) -> int | None:
    """A line number: a whole number, also written as text or float; None for anything else."""
    value = at(value, *keys)
    if isinstance(value, str):
        digits = value.strip()
        value = int(digits) if len(digits) < 20 and digits.removeprefix("-").isdecimal() else None
    elif isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if type(value) is int and abs(value) <= LAST_LINE else None


def parsed_object(value: object, *keys: str) -> JsonRecord:
    """The object under some keys, also if written as JSON text, as a call's arguments may be; else an empty one."""
    value = at(value, *keys)
    return object_at(value_in(value) if isinstance(value, str) else value)


def count_at(value: object, *keys: str) -> int | None:
    """A whole number of 0 or more; None in place of anything else."""
    number = at(value, *keys)
    return number if type(number) is int and 0 <= number <= LAST_LINE else None


def held_list(value: object, key: str) -> list[object] | None:
    """The list under a key, also if written as JSON text, even if cut off; None if there is no list."""
    inner = at(value, key)
    inner = value_in(inner, cut_off=True) if isinstance(inner, str) and inner.lstrip()[:1] == "[" else inner
    return inner if isinstance(inner, list) else None


@lru_cache(maxsize=1)
def objects_in(head: bytes) -> tuple[JsonRecord, ...]:
    """The first objects of JSON Lines, a JSON list or one object, in a file's first bytes; cut-off ones included."""
    # A program may have printed messages before its first record.
    text = without_messages(head).decode(errors="replace").removeprefix("\ufeff").lstrip()
    if not text.startswith(("{", "[")):
        return ()
    lines = text.split("\n", MAX_OBJECTS)[:MAX_OBJECTS]
    others = [line for line in lines[1:] if line.startswith("{")]
    if isinstance(first := value_in(lines[0]), dict):
        values = [first, *(value_in(line, cut_off=True) for line in others)]
    elif isinstance(whole := value_in(text, cut_off=True), list):
        values = whole[:MAX_OBJECTS]
    else:
        # If the first line is damaged, the others may still be valid.
        values = [whole] if isinstance(whole, dict) else [value_in(line) for line in others]
    return tuple(value for value in values if isinstance(value, dict))


def without_messages(head: bytes) -> bytes:
    """A file's first bytes without the few lines of messages before the first object; unchanged if there are none."""
    lines = head.split(b"\n", 20)  # at most 20 lines may precede the first record
    first = next((number for number, line in enumerate(lines) if line.startswith(b'{"')), 0)
    return b"\n".join(lines[first:]) if all(map(_MESSAGE.match, lines[:first])) else head


def value_in(text: str, *, cut_off: bool = False) -> object:
    """The value that a JSON text holds, even if it is `cut_off`; None if it holds none."""
    value: object = None
    # `json.loads` accepts half a surrogate pair, `from_json` does not.
    for parse in (partial(from_json, allow_partial="trailing-strings" if cut_off else False), json.loads):
        with suppress(ValueError, RecursionError):
            value = parse(text)
            break
    return value
