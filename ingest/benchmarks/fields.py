"""Fields of foreign rows: read from the first of several key paths that exists in a row, and checked."""

import ast
import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

from ingest.rejects import Rejects, excerpt_of
from ingest.sources.rows import read_rows
from ingest.sources.tree import Entry
from lake.text import is_encodable

Fields = Mapping[str, tuple[str, ...]]
"""Field → the paths, of keys joined by dots, at which a row may have it: the published ones, or those declared."""
MISSING = object()
_BETWEEN_QUOTES = re.compile(r"(?<=['\"}\]])\s+(?=['\"{\[])")
_T = TypeVar("_T")


class FieldError(ValueError):
    """A row lacks a field, or the field has another value than expected; the message says which."""


@dataclass(frozen=True)
class ForeignRow:
    """A row and the paths of its fields; a field is read at the first path that exists."""

    content: Mapping[str, object]
    fields: Fields

    def path(self, field: str) -> str:
        """The first path of a field that exists in the row, else its last."""
        paths = self.fields[field]
        return next((path for path in paths if get_path(self.content, path) is not MISSING), paths[-1])

    def get(self, field: str) -> object:
        """The value of a field, `MISSING` if the row lacks it."""
        return get_path(self.content, self.path(field))

    def values(self, field: str) -> list[object]:
        """The value at each path of a field."""
        return [get_path(self.content, path) for path in self.fields[field]]

    def text(self, field: str, instead: str | None = None) -> str:
        """The text of a field; `instead`, if given, for a row where it is missing or null."""
        value = self.get(field)
        if instead is not None and (value is MISSING or value is None):
            return instead
        # JSON may contain half a surrogate pair.
        if not isinstance(value, str) or not is_encodable(value):
            raise self.error(field, "must be a text")
        return value

    def number(self, field: str, wanted: str = "must be a whole number") -> int:
        """The whole number in a field."""
        number = whole_number(self.get(field))
        if number is None:
            raise self.error(field, wanted)
        return number

    def check(self, field: str, holds: bool, wanted: str) -> None:
        """Raise the error of a field unless `holds`."""
        if not holds:
            raise self.error(field, wanted)

    def error(self, field: str, wanted: str) -> FieldError:
        """The error for a field that is missing or has a wrong value."""
        if self.get(field) is not MISSING:
            return FieldError(f"`{self.path(field)}` {wanted}")
        return FieldError(f"{' or '.join(f'`{path}`' for path in self.fields[field])} is missing; it {wanted}")


def get_path(content: object, path: str) -> object:
    """The value at a path, `MISSING` if there is none."""
    for key in path.split("."):
        content = content.get(key, MISSING) if isinstance(content, dict) else MISSING
    return content


def whole_number(value: object) -> int | None:
    """A whole number of 32 bits, also as tables have it: as a text, or as 4.0 in a column with gaps; else None."""
    if isinstance(value, str) and re.fullmatch(r"[+-]?\d{1,15}(\.0*)?", value):
        value = float(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**31 else None


def parsed(value: object) -> object:
    """A list or object, also as tables contain it: as JSON, or as Python or numpy print it; else the value."""
    if isinstance(value, str) and value[:1] in ("[", "{", "("):
        for parse, text in ((json.loads, value), (ast.literal_eval, _BETWEEN_QUOTES.sub(", ", value))):
            with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
                result: object = parse(text)
                return result
    return value


def check(holds: bool, reason: str) -> None:
    """Raise a `FieldError` with `reason` unless `holds`; the row is then rejected."""
    if not holds:
        raise FieldError(reason)


def parse_rows(
    entry: Entry,
    rejects: Rejects,
    parse: Callable[[str, ForeignRow], _T],
    fields: Fields,
    *,
    usual: Fields | None = None,
    columns: Sequence[str] = (),
    row_keys: Collection[str] = (),
) -> Iterator[tuple[str, _T]]:
    """The position and `parse(position, row)` of each row of a data set; rows that raise `FieldError` are rejected.

    So are rows that lack a field at declared paths, which are not the `usual` ones. `columns`, `row_keys`: `read_rows`.
    """
    declared = [name for name, paths in fields.items() if usual is not None and paths != usual[name]]
    for position, content in read_rows(entry, rejects, columns, row_keys or columns_of(fields)):
        row = ForeignRow(content, fields)
        try:
            for name in declared:
                row.check(name, row.get(name) is not MISSING, f"has the {name}")
            value = parse(position, row)
        except FieldError as error:
            rejects.add(entry.path, position, str(error), excerpt_of(content))
        else:
            yield position, value


def columns_of(fields: Fields) -> list[str]:
    """The columns of a table that hold the fields."""
    return [re.split(r"[.:\[]", path)[0] for paths in fields.values() for path in paths]
