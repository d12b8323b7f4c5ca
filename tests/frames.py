"""Rows of tables, or of some of their columns, in few words, and stored ones changed."""

from collections.abc import Iterable, Mapping, Sequence

import polars as pl

from lake.store import Lake, Part
from lake.tables import TABLES, table

TYPES = {name: kind for one in TABLES.values() for name, kind in one.columns.items()}

USUAL = {"run_id": "run", "protocol": "rules", "granularity": "chunk", "metric": "recall", "k": 5, "protocol_hash": "h"}


def frame(rows: Iterable[Sequence[object]], *columns: str, **others: pl.DataType) -> pl.LazyFrame:
    """Rows under columns, which have the types that the tables give them, and under others."""
    return pl.LazyFrame(list(rows), {name: TYPES[name] for name in columns} | others, orient="row")


def score_rows(given: Mapping[str, Sequence[object]], **same: object) -> pl.LazyFrame:
    """Rows of `scores`: some columns as given, the others alike in every row, as said, as usual or null."""
    columns = table("scores").columns
    rows = pl.LazyFrame(given, {name: columns[name] for name in given})
    same = {**dict.fromkeys(columns), **USUAL, **same}
    others = {name: pl.lit(same[name], kind) for name, kind in columns.items() if name not in given}
    return rows.with_columns(**others).select(*columns)


def change(lake: Lake, name: str, *parts: Part, **columns: pl.Expr) -> None:
    """Write parts of a table, or all of them, again with some columns changed, under their fingerprints."""
    for part in parts or lake.parts(name):
        rows = lake.scan_parts([part], name).select(*table(name).columns).with_columns(**columns)
        lake.write(name, rows.collect(), part=part.name, fingerprint=part.fingerprint, **part.folders)
