"""Fields of rows that others made: found by the paths at which a row may have them, each checked as it is read."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

from ingest.sources.rows import JsonObject, read_rows
from ingest.sources.tree import Entry
from lake.rejects import Rejects, excerpt_of
from lake.text import is_encodable

Paths = tuple[str, ...]
"""Keys joined by dots; of several paths, the first that leads somewhere."""
Fields = Mapping[str, Paths]
"""Field → the paths at which a row may have it: upstream's own, or those that a declaration of one's own names."""
MISSING = object()
_T = TypeVar("_T")


class FieldError(ValueError):
    """A row without what is read of it, or with something else there; the message says what is wrong."""


def check(holds: bool, reason: str) -> None:
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


def field_error(row: Mapping[str, object], paths: Paths, wanted: str = "") -> FieldError:
    """The fault of a field that is not there, or not what is wanted."""
    path, value = get_path(row, paths)
    tried = " or ".join(f"`{tried}`" for tried in paths)
    return FieldError(f"{tried} is missing{wanted and f'; it {wanted}'}" if value is MISSING else f"`{path}` {wanted}")


def text_at(row: Mapping[str, object], paths: Paths, instead: str | None = None) -> str:
    """The text at a path; `instead`, where one is given, of a row that has none."""
    path, value = get_path(row, paths)
    if instead is not None and (value is MISSING or value is None):
        return instead
    if not isinstance(value, str):
        raise field_error(row, paths, "must be a text")
    return encodable(value, path)


def encodable(text: str, what: str) -> str:
    """A text that can be written: JSON can hold half a surrogate pair."""
    check(is_encodable(text), f"`{what}` holds half a surrogate pair, which is no character")
    return text


def parse_rows(
    entry: Entry, rejects: Rejects, parse: Callable[[str, JsonObject], _T], keys: Sequence[str] = ()
) -> Iterator[tuple[str, _T]]:
    """The position of each of a data set's rows and what `parse(position, row)` makes of it, or a reject."""
    for position, row in read_rows(entry, rejects, keys):
        try:
            value = parse(position, row)
        except FieldError as error:
            rejects.add(entry.path, position, str(error), excerpt_of(row))
        else:
            yield position, value


def upstream_rows(entry: Entry, rejects: Rejects, fields: Fields, usual: Fields) -> Iterator[tuple[str, JsonObject]]:
    """A data set's rows under upstream's keys: what `fields` has elsewhere goes where `usual` has it first."""

    def as_upstream(_: str, row: JsonObject) -> JsonObject:
        if fields == usual:
            return row
        under: dict[str, object] = {}
        for name, paths in fields.items():
            if paths == usual[name]:
                under |= {key: row[key] for key in paths if key in row}
            else:
                path, under[usual[name][0]] = get_path(row, paths)
                check(under[usual[name][0]] is not MISSING, f"`{path}` is missing: its {name} must be there")
        return under

    keys = [path.partition(".")[0] for paths in fields.values() for path in paths]
    return parse_rows(entry, rejects, as_upstream, keys)
