"""Contents by their hash: only the parts of `blobs` that hold some of them are opened."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import polars as pl

from lake.store import Lake
from lake.tables import table


def contents_of(lake: Lake, sha256: pl.Series, columns: Sequence[str] = ("text", "n_lines")) -> pl.DataFrame:
    """Some contents: sha256 and some columns of `blobs`, sorted by sha256; what the lake does not hold is missing."""
    names = ("sha256", *columns)
    parts = lake.parts("blobs")
    known = _part_of_each(lake.root, tuple(part.fingerprint for part in parts)).lazy()
    known = known.join(sha256.to_frame("sha256").lazy(), on="sha256", how="semi")
    rows = [
        lake.scan_parts([parts[part]], "blobs").filter(pl.col("sha256").is_in(pl.Series([of_part]))).select(names)
        for part, of_part in known.group_by("part").agg("sha256").collect().iter_rows()
    ]
    empty = pl.LazyFrame(schema={name: table("blobs").columns[name] for name in names})
    return pl.concat(rows or [empty]).sort("sha256").collect()


@lru_cache(maxsize=1)
def _part_of_each(root: Path, _: tuple[str, ...]) -> pl.DataFrame:
    """Which part holds which content, the first of several: sha256, part (its number). Looked up once."""
    lake = Lake(root)
    parts = enumerate(lake.parts("blobs"))
    rows = [lake.scan_parts([part], "blobs").select("sha256", part=pl.lit(number)) for number, part in parts]
    every = pl.concat(rows or [pl.LazyFrame(schema={"sha256": pl.String, "part": pl.Int32})])
    return every.group_by("sha256").agg(pl.col("part").min()).collect()
