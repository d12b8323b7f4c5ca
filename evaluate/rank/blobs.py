"""Contents by their hash: only the parts of `blobs` that hold some of them are opened."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import polars as pl

from lake.store import Lake


def contents_of(lake: Lake, sha256: pl.Series, columns: Sequence[str] = ("text", "n_lines")) -> pl.DataFrame:
    """Some contents: sha256 and some columns of `blobs`, sorted by sha256; what the lake does not hold is missing.

    Args:
        lake: Where from.
        sha256: Which, each any number of times.
        columns: Which columns.
    """
    wanted = sha256.unique().sort()
    parts = lake.parts("blobs")
    place = _places(lake.root, tuple(part.fingerprint for part in parts))
    holding = place.join(wanted.to_frame("sha256"), on="sha256", how="semi")["part"].unique().sort()
    found = lake.scan_parts([parts[number] for number in holding], "blobs").select("sha256", *columns)
    return found.filter(pl.col("sha256").is_in(wanted.implode())).collect().unique("sha256").sort("sha256")


@lru_cache(maxsize=1)
def _places(root: Path, _: tuple[str, ...]) -> pl.DataFrame:
    """Which part holds which content: sha256, part (its number). Looked up once for the same fingerprints of parts."""
    lake = Lake(root)
    parts = enumerate(lake.parts("blobs"))
    held = [lake.scan_parts([part], "blobs").select("sha256", part=pl.lit(number)) for number, part in parts]
    return pl.concat(held).collect() if held else pl.DataFrame(schema={"sha256": pl.String, "part": pl.Int32})
