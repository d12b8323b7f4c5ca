"""Seeded samples that every machine draws alike."""

from __future__ import annotations

import hashlib

import polars as pl

SEED = "goldspan-1"


def seeded_hash(*parts: str) -> int:
    """A hash of some texts and the project's seed, and of nothing else: 63 bits, so that `Int64` holds it."""
    data = "\0".join((SEED, *parts)).encode()
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "big") >> 1


def stratified(items: pl.DataFrame, limit: int, *, by: str = "repo", key: str = "item_id") -> pl.DataFrame:
    """At most `limit` rows, every stratum as near to its share as whole rows allow, in the order they had.

    Rows of a stratum are taken in the order of their seeded hash, strata by largest remainder, so a larger limit holds
    the rows of a smaller one but for rounding.
    """
    if items.height <= limit:
        return items
    place = pl.col(key).map_elements(seeded_hash, return_dtype=pl.Int64)
    drawn = items.select(key, by).with_columns(place=place).sort("place", key)
    # The row's quantile within its stratum: taking the smallest overall gives each stratum its share.
    quantile = (pl.int_range(pl.len()).over(by) + 0.5) / pl.len().over(by)
    kept = drawn.with_columns(quantile=quantile).sort("quantile", "place", key).head(limit)
    return items.join(kept.select(key), on=key, how="semi", maintain_order="left")
