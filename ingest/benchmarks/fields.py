"""Fields of foreign rows: read from the first of several key paths that exists in a row, and checked."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

from ingest.sources.rows import JsonObject, read_rows
from ingest.sources.tree import Entry
from lake.rejects import Rejects, excerpt_of
from lake.text import is_encodable

Paths = tuple[str, ...]
"""Paths, each of keys joined by dots; the first that exists in a row is read."""
Fields = Mapping[str, Paths]
"""Field → the paths at which a row may have it: those of the published data, or of a declaration of own data."""
MISSING = object()
_T = TypeVar("_T")


class FieldError(ValueError):
    """A row lacks a field, or the field has another value than expected; the message says which."""


def check(holds: bool, reason: str) -> None:
    """Raise a `FieldError` with `reason` unless `holds`; the row is then rejected."""
    if not holds:
        raise FieldError(reason)


def get_path(row: Mapping[str, object], paths: Paths) -> tuple[str, object]:
    """The first path that exists in a row, and its value; the last path and `MISSING` if none exists."""
    path, value = "", MISSING
    for path in paths:
        value = row
        for key in path.split("."):
            value = value.get(key, MISSING) if isinstance(value, dict) else MISSING
        if value is not MISSING:
            break
    return path, value


def field_error(row: Mapping[str, object], paths: Paths, wanted: str = "") -> FieldError:
    """The error for a field that is missing or has a wrong value; `wanted` says what it must be."""
    path, value = get_path(row, paths)
    tried = " or ".join(f"`{tried}`" for tried in paths)
    return FieldError(f"{tried} is missing{wanted and f'; it {wanted}'}" if value is MISSING else f"`{path}` {wanted}")


def text_at(row: Mapping[str, object], paths: Paths, instead: str | None = None) -> str:
    """The text at the first path that exists; `instead`, if given, for a row where it is missing or null."""
    path, value = get_path(row, paths)
    if instead is not None and (value is MISSING or value is None):
        return instead
    if not isinstance(value, str):
        raise field_error(row, paths, "must be a text")
    return encodable(value, path)


def encodable(text: str, what: str) -> str:
    """Return `text` if it can be encoded as UTF-8; a `FieldError` if it has half a surrogate pair, as JSON may have."""
    check(is_encodable(text), f"`{what}` contains half a surrogate pair, which is no text")
    return text


def parse_rows(
    entry: Entry, rejects: Rejects, parse: Callable[[str, JsonObject], _T], keys: Sequence[str] = ()
) -> Iterator[tuple[str, _T]]:
    """The position and `parse(position, row)` of each row of a data set; rows that raise `FieldError` are rejected."""
    for position, row in read_rows(entry, rejects, keys):
        try:
            value = parse(position, row)
        except FieldError as error:
            rejects.add(entry.path, position, str(error), excerpt_of(row))
        else:
            yield position, value


def upstream_rows(entry: Entry, rejects: Rejects, fields: Fields, usual: Fields) -> Iterator[tuple[str, JsonObject]]:
    """A data set's rows under the published keys: a field at another path (`fields`) moves to its first in `usual`."""

    def as_upstream(_: str, row: JsonObject) -> JsonObject:
        if fields == usual:
            return row
        under: dict[str, object] = {}
        for name, paths in fields.items():
            if paths == usual[name]:
                under |= {key: row[key] for key in paths if key in row}
            else:
                path, under[usual[name][0]] = get_path(row, paths)
                check(under[usual[name][0]] is not MISSING, f"`{path}` is missing: there is no {name}")
        return under

    keys = [path.partition(".")[0] for paths in fields.values() for path in paths]
    return parse_rows(entry, rejects, as_upstream, keys)
