"""Which parts of a table hold some values of a column: a large table is opened only there."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import polars as pl

from lake.store import Lake, Part


def parts_holding(lake: Lake, name: str, column: str, values: pl.Series, **folders: str) -> list[Part]:
    """The parts of a table in which a column has one of the values, in their own order.

    Args:
        lake: Where they are.
        name: The table.
        column: One of its columns of text.
        values: Which are looked for; those that no part has mean nothing.
        folders: Values of the table's Hive folders; only their parts are looked at.
    """
    parts, places = held_in(lake, name, column, values, **folders)
    return [parts[number] for number in places["part"].unique().sort()]


def held_in(lake: Lake, name: str, column: str, values: pl.Series, **folders: str) -> tuple[list[Part], pl.DataFrame]:
    """A table's parts, and which of the values each holds: the column, and `part`, the part's place in the list."""
    parts = lake.parts(name, **folders)
    known = _values_of_parts(lake.root, name, column, tuple(folders.items()), tuple(part.digest for part in parts))
    wanted = values.rename(column).to_frame().unique()
    return parts, known.join(wanted, on=column, how="semi")


@lru_cache(maxsize=16)
def _values_of_parts(
    root: Path, name: str, column: str, folders: tuple[tuple[str, str], ...], _: tuple[str, ...]
) -> pl.DataFrame:
    """Every value in each of a table's parts, looked up once per process and state of the table."""
    lake = Lake(root)
    rows = [
        lake.scan_parts([part], name).select(column, part=pl.lit(number, pl.Int32)).unique()
        for number, part in enumerate(lake.parts(name, **dict(folders)))
    ]
    return pl.concat([pl.LazyFrame(schema={column: pl.String, "part": pl.Int32}), *rows]).collect()
