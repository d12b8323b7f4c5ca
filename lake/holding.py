"""Which parts of a table hold some values of a column: a large table is opened only there."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import polars as pl

from lake.store import Lake, Part

PARTS_AT_ONCE = 100
"""How many parts one plan reads beside each other: of thousands polars would open all at once."""


def parts_holding(lake: Lake, name: str, column: str, values: pl.Series, **folders: str) -> list[Part]:
    """The parts of a table in which a column of text has one of the values, in their own order."""
    parts, places = held_in(lake, name, column, values, **folders)
    return [parts[number] for number in sorted({*places["part"]})]


def held_in(lake: Lake, name: str, column: str, values: pl.Series, **folders: str) -> tuple[list[Part], pl.DataFrame]:
    """A table's parts, and which of the values each holds: the column, and `part`, the part's place in the list."""
    parts = lake.listed_parts(name, **folders)
    known = _values_of_parts(lake.root, name, column, tuple(folders.items()), tuple(part.digest for part in parts))
    return parts, known.join(values.rename(column).to_frame(), on=column, how="semi")


def numbered(lake: Lake, name: str, parts: list[Part], rows: Callable[[pl.LazyFrame], pl.LazyFrame]) -> pl.DataFrame:
    """What is taken of the rows of each of some parts of a table, with `part`, the part's place in the list."""
    frames = []
    for first in range(0, max(1, len(parts)), PARTS_AT_ONCE):
        some = parts[first : first + PARTS_AT_ONCE]
        scans = [lake.scan_parts([part], name) for part in some] or [lake.scan_parts([], name)]
        taken = [rows(scan).with_columns(part=pl.lit(first + number, pl.Int32)) for number, scan in enumerate(scans)]
        frames.append(pl.concat(taken).collect())
    return pl.concat(frames)


@lru_cache(maxsize=16)
def _values_of_parts(
    root: Path, name: str, column: str, folders: tuple[tuple[str, str], ...], _: tuple[str, ...]
) -> pl.DataFrame:
    """Every value in each of a table's parts, looked up once per process and state of the table."""
    lake = Lake(root)
    return numbered(lake, name, lake.parts(name, **dict(folders)), lambda rows: rows.select(column).unique())
