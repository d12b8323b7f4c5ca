"""Fields of rows: paths of keys, upstream's own or those that a declaration of one's own names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

from ingest.sources.rows import JsonObject, read_rows
from ingest.sources.tree import Entry
from lake.rejects import Rejects, excerpt_of

Paths = tuple[str, ...]
"""Keys joined by dots; of several paths, the first that leads somewhere."""

Fields = Mapping[str, Paths]
"""Field → the paths at which a row may have it."""

MISSING = object()

_T = TypeVar("_T")


class FieldError(ValueError):
    """A row without what is read of it, or with something else there; the message says what is wrong."""


def check(holds: bool, reason: str) -> None:  # what is checked
    """Refuse a row of which something does not hold."""
    if not holds:
        raise FieldError(reason)


def get_path(row: Mapping[str, object], paths: Paths) -> tuple[str, object]:
    """The first of some paths that leads somewhere and what is there; else the last, and `MISSING`."""
    path, value = "", MISSING
    for path in paths:
        value = row
        for key in path.split("."):
            value = value.get(key, MISSING) if isinstance(value, dict) else MISSING
        if value is not MISSING:
            break
    return path, value


def field_error(row: Mapping[str, object], paths: Paths, wanted: str) -> FieldError:
    """The fault of a field that is not there, or not what is wanted."""
    path, value = get_path(row, paths)
    if value is not MISSING:
        return FieldError(f"`{path}` {wanted}")
    tried = " or ".join(f"`{tried}`" for tried in paths)
    return FieldError(f"{tried} {wanted}, and leads nowhere")


def text_at(row: Mapping[str, object], paths: Paths, instead: str | None = None) -> str:
    """The text at a path; `instead`, where one is given, of a row that has none."""
    path, value = get_path(row, paths)
    if instead is not None and (value is MISSING or value is None):
        return instead
    if not isinstance(value, str):
        raise field_error(row, paths, "is to be a text")
    return encodable(value, path)


def encodable(text: str, what: str) -> str:
    """A text that can be written: JSON can hold half a surrogate pair."""
    check(is_encodable(text), f"`{what}` holds half a surrogate pair, which is no character")
    return text


def is_encodable(text: str) -> bool:
    """Whether a text can be written."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def parse_rows(
    entry: Entry, rejects: Rejects, parse: Callable[[str, JsonObject], _T], keys: Sequence[str] = ()
) -> Iterator[tuple[str, _T]]:
    """The position of each of a data set's rows and what `parse(position, row)` makes of it, or a reject."""
    for position, row in read_rows(entry, rejects, keys):
        try:
            value = parse(position, row)
        except FieldError as error:
            rejects.add(entry.path, position, str(error), excerpt_of(row))
            continue
        yield position, value


def upstream_rows(entry: Entry, rejects: Rejects, fields: Fields, usual: Fields) -> Iterator[tuple[str, JsonObject]]:
    """A data set's rows under upstream's keys: what `fields` has elsewhere goes where `usual` has it first."""

    def as_upstream(_: str, row: JsonObject) -> JsonObject:
        if fields == usual:
            return row
        under: dict[str, object] = {}
        for field, paths in fields.items():
            if paths == usual[field]:
                under |= {key: row[key] for key in paths if key in row}
                continue
            path, value = get_path(row, paths)
            check(value is not MISSING, f"`{path}` leads nowhere, where its {field} is to be")
            under[usual[field][0]] = value
        return under

    return parse_rows(
        entry, rejects, as_upstream, [path.partition(".")[0] for paths in fields.values() for path in paths]
    )
