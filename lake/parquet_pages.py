"""Where the pages of a Parquet file are and what each unpacks to, read from the pages: a file's own sums may lie.

Arrow ends the process where some of what a damaged file says of its columns is asked for, so it is read here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, NamedTuple

_HEADER_BYTES = 1 << 12
_LARGEST_HEADER = 1 << 22
"""A page's header holds its smallest and largest value, which may be long."""
_DATA_PAGES = {0: 5, 3: 8}
"""Kind of page → the field that describes its values."""
_DICTIONARY_PAGE, _DICTIONARY_FIELD = 2, 7
_DELTA_BYTE_ARRAY = 7
_MAX_NESTING = 12
_NAME_BYTES = 4096
_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)


_BYTE_ARRAY = 6


class Column(NamedTuple):
    """The pages of one column in one group of rows.

    Attributes:
        path: The column's name, and within it those of what it is nested in, joined by dots.
        is_text: Whether it holds texts or bytes of any length.
        start: Where the first page starts.
        n_bytes: What the pages and their headers take in the file.
    """

    path: str
    is_text: bool
    start: int
    n_bytes: int


def columns(footer: bytes) -> tuple[int, list[Column]]:
    """How many rows a file says it has, and its columns in every group of rows.

    Args:
        footer: What the file says of itself.

    Raises:
        ValueError: It is damaged.
    """
    try:
        about = _Compact(footer).struct(0)
    except IndexError as error:
        raise _damaged() from error
    found = []
    for group in _structs(about, 4):
        for chunk in _structs(group, 1):
            inner = chunk.get(3)
            column = inner if isinstance(inner, dict) else {}
            names = column.get(3)
            path = ".".join(str(name) for name in names) if isinstance(names, list) else ""
            starts = [_number(column, field) for field in (9, 11)]
            # The second is of a dictionary, where there is one.
            start = min(one for one in starts if one or one == starts[0])
            found.append(Column(path, column.get(1) == _BYTE_ARRAY, start, _number(column, 7)))
    return _number(about, 3), found


def _structs(of: dict[int, object], field: int) -> list[dict[int, object]]:
    values = of.get(field, [])
    return [one for one in values if isinstance(one, dict)] if isinstance(values, list) else []


class Page(NamedTuple):
    """One page.

    Attributes:
        n_bytes: What it unpacks to.
        n_values: How many values it holds.
        is_dictionary: Whether other pages name values of it.
        is_delta: Whether a value is written as what differs from the one before.
    """

    n_bytes: int
    n_values: int
    is_dictionary: bool
    is_delta: bool


def pages(file: IO[bytes], start: int, n_bytes: int) -> Iterator[Page]:
    """The pages of one column in one group of rows.

    Args:
        file: The file.
        start: Where the first page starts.
        n_bytes: What the pages and their headers take in the file.

    Raises:
        ValueError: What is there is no page.
    """
    at, end = start, start + n_bytes
    while at < end:
        fields, length = _header(file, at)
        kind, unpacked, packed = (_number(fields, field) for field in (1, 2, 3))
        inner = fields.get(_DATA_PAGES.get(kind, _DICTIONARY_FIELD))
        about = inner if isinstance(inner, dict) else {}
        encoding = about.get(4 if kind == 3 else 2)
        yield Page(unpacked, _number(about, 1), kind == _DICTIONARY_PAGE, encoding == _DELTA_BYTE_ARRAY)
        at += length + packed


def _number(fields: dict[int, object], field: int) -> int:
    value = fields.get(field, 0)
    if not isinstance(value, int) or value < 0:
        raise _damaged()
    return value


def _damaged() -> ValueError:
    return ValueError("a page's header is damaged")


def _header(file: IO[bytes], at: int) -> tuple[dict[int, object], int]:
    size = _HEADER_BYTES
    while True:
        file.seek(at)
        reader = _Compact(file.read(size))
        try:
            return reader.struct(0), reader.at
        except IndexError as error:
            if len(reader.data) < size or size >= _LARGEST_HEADER:
                raise _damaged() from error
            size *= 8


class _Compact:
    """Thrift's compact protocol, as far as Parquet needs it."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def struct(self, depth: int) -> dict[int, object]:
        if depth > _MAX_NESTING:
            raise _damaged()
        fields: dict[int, object] = {}
        field = 0
        while head := self.byte():
            delta, kind = head >> 4, head & 15
            field = field + delta if delta else self.zigzag()
            fields[field] = self.value(kind, depth)
        return fields

    def value(self, kind: int, depth: int) -> object:
        if kind in (_TRUE, _FALSE):
            return kind == _TRUE
        if kind in (_I16, _I32, _I64):
            return self.zigzag()
        if kind == _STRUCT:
            return self.struct(depth + 1)
        if kind in (_BYTE, _DOUBLE, _BINARY):
            n_bytes = {_BYTE: 1, _DOUBLE: 8}[kind] if kind != _BINARY else self.varint()
            start = self.at
            self.skip(n_bytes)
            return self.data[start : self.at].decode(errors="replace") if n_bytes <= _NAME_BYTES else None
        if kind in (_LIST, _SET):
            head = self.byte()
            n_values = head >> 4 if head >> 4 < 15 else self.varint()
            # In a list a truth is a byte of its own.
            inner = _BYTE if head & 15 in (_TRUE, _FALSE) else head & 15
            return [self.value(inner, depth + 1) for _ in range(n_values)]
        raise _damaged()

    def skip(self, n: int) -> None:
        self.at += n
        if self.at > len(self.data):
            raise IndexError

    def byte(self) -> int:
        value = self.data[self.at]
        self.at += 1
        return value

    def varint(self) -> int:
        value = shift = 0
        while shift < 70:
            byte = self.byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
        raise _damaged()

    def zigzag(self) -> int:
        value = self.varint()
        return (value >> 1) ^ -(value & 1)
