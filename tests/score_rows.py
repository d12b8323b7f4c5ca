"""Rows of table `scores`, for tests of what is made of them."""

from collections.abc import Mapping, Sequence

import polars as pl

from lake.tables import table

USUAL = {"run_id": "run", "protocol": "rules", "granularity": "chunk", "metric": "recall", "k": 5, "protocol_hash": "h"}


def score_rows(given: Mapping[str, Sequence[object]], **same: object) -> pl.LazyFrame:
    """Rows of some columns; the others are the same in every row: as said, as usual, or null."""
    columns = table("scores").columns
    rows = pl.LazyFrame(given, {name: columns[name] for name in given})
    same = {**dict.fromkeys(columns), **USUAL, **same}
    others = {name: pl.lit(same[name], kind) for name, kind in columns.items() if name not in given}
    return rows.with_columns(**others).select(*columns)
