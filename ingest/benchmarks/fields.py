"""Where a row holds what: paths of keys into it, upstream's own or those that a declaration of one's own names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ingest.sources.dataset_rows import dataset_rows
from ingest.sources.jsonl import JsonObject
from ingest.sources.tree import Entry
from lake.rejects import Rejects, excerpt_of

Paths = tuple[str, ...]
"""Keys joined by dots; of several paths, the first that leads somewhere."""

Fields = Mapping[str, Paths]
"""What is read of a row → where it is."""

NOWHERE = object()


class FieldError(ValueError):
    """A row without what is read of it, or with something else there; the message says what is wrong."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)


def found(row: Mapping[str, object], paths: Paths) -> tuple[str, object]:
    """The first of some paths that leads somewhere and what is there; else the last, and `NOWHERE`."""
    path, value = "", NOWHERE
    for path in paths:
        value = row
        for key in path.split("."):
            value = value.get(key, NOWHERE) if isinstance(value, dict) else NOWHERE
        if value is not NOWHERE:
            break
    return path, value


def text_at(row: Mapping[str, object], paths: Paths, instead: str | None = None) -> str:
    """The text at a path; `instead`, where one is given, of a row that has none.

    Raises:
        FieldError: There is none, or none that can be written.
    """
    path, value = found(row, paths)
    if instead is not None and (value is NOWHERE or value is None):
        return instead
    if not isinstance(value, str):
        reason = f"`{path}` leads nowhere" if value is NOWHERE else f"`{path}` is to be a text"
        raise FieldError(reason)
    if not is_encodable(value):
        reason = f"`{path}` holds half a surrogate pair, which is no character"
        raise FieldError(reason)
    return value


def is_encodable(text: str) -> bool:
    """Whether a text can be written: JSON can hold half a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def upstream_rows(entry: Entry, rejects: Rejects, fields: Fields, usual: Fields) -> Iterator[tuple[str, JsonObject]]:
    """A data set's rows under upstream's keys, and where each stands; one without what is declared is rejected.

    Args:
        entry: The data set.
        rejects: Where that goes.
        fields: Where its rows hold what.
        usual: Where upstream's do.
    """
    keys = [path.partition(".")[0] for paths in fields.values() for path in paths]
    for position, row in dataset_rows(entry, rejects, keys):
        try:
            yield position, _as_upstream(row, fields, usual)
        except FieldError as error:
            rejects.add(entry.path, position, str(error), excerpt_of(row))


def _as_upstream(row: JsonObject, fields: Fields, usual: Fields) -> JsonObject:
    """A row under upstream's keys: what `fields` has elsewhere goes where `usual` has it first.

    Raises:
        FieldError: A path that is not upstream's leads nowhere.
    """
    if fields == usual:
        return row
    under: dict[str, object] = {}
    for field, paths in fields.items():
        if paths == usual[field]:
            under |= {key: row[key] for key in paths if key in row}
            continue
        path, value = found(row, paths)
        if value is NOWHERE:
            reason = f"`{path}` leads nowhere, where its {field} is to be"
            raise FieldError(reason)
        under[usual[field][0]] = value
    return under
