"""Parts of the items that are alike in something: their words and order, and which of their values a page shows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import polars as pl

from lake.store import Lake

SliceSizes = Mapping[tuple[str, str | None, str], tuple[int, int]]
"""Protocol, task and slice → how many values the slice has, and how many items in all."""

_WORDS = {"repo": "repository", "band": "number of candidates"}
"""What a slice's items are alike in, where its name does not say it."""

_ORDER = ("repo", "language", "source", "subset", "level", "difficulty", "band")
"""The order in which a page shows slices; others follow by name. Of two that are alike the first is shown."""


def title_of(name: str) -> str:
    """What a slice's items are alike in, in words: `context, repository` of `context/repo`."""
    return ", ".join(_WORDS.get(column, column) for column in name.split("/"))


def place_of(name: str) -> tuple[int, str]:
    """Where a slice stands among others."""
    return (_ORDER.index(name) if name in _ORDER else len(_ORDER), name)


def in_numbers_order(values: Iterable[str]) -> list[str]:
    """Values in order, numbers in them by their size: 5-9 before 10-14."""

    def key(value: str) -> list[tuple[int, int, str]]:
        parts = re.findall(r"[0-9]+|[^0-9]+", value)
        return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts]

    return sorted(values, key=lambda value: (key(value), value))


def slice_sizes(lake: Lake) -> SliceSizes:
    """The slices' sizes, of all values: a board has those of the most items alone."""
    tasks = lake.scan("runs").select("run_id", "task")
    of = ["protocol", "task", "slice"]
    values = (
        lake.scan("aggregates")
        .join(tasks, on="run_id", how="left")
        .group_by(*of, "slice_value")
        .agg(pl.col("n_items").max())
    )
    sizes = values.group_by(of).agg(pl.len(), pl.col("n_items").sum()).collect()
    return {(row[0], row[1], row[2]): (row[3], row[4]) for row in sizes.iter_rows()}
