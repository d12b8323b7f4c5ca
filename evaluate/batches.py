"""What a table holds of some runs, and how many runs are gone through together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from evaluate.selection import ItemPart
from evaluate.systems import Run

ROWS_AT_ONCE = 3_000_000
"""About how many rows of hits or scores are read together: what memory must hold."""


def rows_of(asked: ItemPart, name: str, runs: Sequence[Run], **folders: str) -> pl.LazyFrame:
    """What some items have of some runs in a table, with its declared columns."""
    parts = [part for run in runs for part in asked.parts_of(name, run_id=run.run_id, **folders)]
    return asked.lake.scan_parts(parts, name)


def batches(runs: Sequence[Run], name: str, asked: Sequence[ItemPart], **folders: str) -> Iterator[list[Run]]:
    """Runs in batches, of so many that memory holds what a table has of theirs on some parts of the items."""
    counts = [rows_of(part, name, runs, **folders).group_by("run_id").len() for part in asked]
    sizes = dict(pl.concat(counts).group_by("run_id").agg(pl.col("len").sum()).collect().iter_rows()) if runs else {}
    batch, n_rows = list[Run](), 0
    for run in runs:
        n = sizes.get(run.run_id, 0)
        if batch and n_rows + n > ROWS_AT_ONCE:
            yield batch
            batch, n_rows = [], 0
        batch.append(run)
        n_rows += n
    if batch:
        yield batch
