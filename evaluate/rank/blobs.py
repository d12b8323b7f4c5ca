"""Contents by their hash: only the parts of `blobs` that hold some of them are opened."""

from collections.abc import Sequence

import polars as pl

from lake.pools import parts_with_values
from lake.store import Lake
from lake.tables import table


def contents_of(lake: Lake, sha256: pl.Series, columns: Sequence[str] = ("text", "n_lines")) -> pl.DataFrame:
    """Some contents: sha256 and some columns of `blobs`, sorted by sha256; what the lake does not hold is missing."""
    names = ("sha256", *columns)
    parts, places = parts_with_values(lake, "blobs", "sha256", sha256)
    # Where several parts hold one content, the first.
    first = places.group_by("sha256").agg(pl.col("part").min()).group_by("part").agg("sha256")
    rows = [
        lake.scan_parts([parts[part]], "blobs").filter(pl.col("sha256").is_in(pl.Series([of_part]))).select(names)
        for part, of_part in first.collect().iter_rows()
    ]
    empty = pl.LazyFrame(schema={name: table("blobs").columns[name] for name in names})
    return pl.concat(rows or [empty]).sort("sha256").collect()
