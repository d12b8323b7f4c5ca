"""What a table holds of some runs, and how many runs are gone through together."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

import polars as pl

from evaluate.selection import ItemPart
from evaluate.systems import Run
from lake.store import Lake, Part

_T = TypeVar("_T")

ROWS_AT_ONCE = 3_000_000
"""About how many rows of hits or scores are read together: what memory must hold."""


def rows_of(item_part: ItemPart, name: str, runs: Sequence[Run], **folders: str) -> pl.LazyFrame:
    """What some items have of some runs in a table, with its declared columns."""
    return item_part.lake.scan_parts(_parts([item_part], name, runs, **folders), name)


def batches(runs: Sequence[Run], name: str, item_parts: Sequence[ItemPart], **folders: str) -> Iterator[list[Run]]:
    """Runs in batches, of so many that memory holds what a table has of theirs on some parts of the items."""
    if runs:
        parts = _parts(item_parts, name, runs, **folders)
        yield from _batches({run.run_id: run for run in runs}, item_parts[0].lake, name, parts)


def _parts(item_parts: Sequence[ItemPart], name: str, runs: Sequence[Run], **folders: str) -> list[Part]:
    ids = [run.run_id for run in runs]
    return [part for each in item_parts for run_id in ids for part in each.parts_of(name, run_id=run_id, **folders)]


def part_batches(lake: Lake, name: str, parts: Sequence[Part]) -> Iterator[list[Part]]:
    """Parts of runs in batches, those of a run together, of so many rows as memory holds."""
    of_run: dict[str, list[Part]] = {}
    for part in parts:
        of_run.setdefault(part.folders["run_id"], []).append(part)
    for some in _batches(of_run, lake, name, parts):
        yield [part for of in some for part in of]


def _batches(by_run: Mapping[str, _T], lake: Lake, name: str, parts: Sequence[Part]) -> Iterator[list[_T]]:
    counts = lake.scan_parts(list(parts), name).group_by("run_id").len()
    sizes = dict(counts.collect().iter_rows())
    batch, n_rows = list[_T](), 0
    for run_id, run in by_run.items():
        n = sizes.get(run_id, 0)
        if batch and n_rows + n > ROWS_AT_ONCE:
            yield batch
            batch, n_rows = [], 0
        batch.append(run)
        n_rows += n
    if batch:
        yield batch
