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

    Rows of a stratum are taken in the order of their seeded hash, and what rounding leaves over goes by largest
    remainder, so a larger limit holds the rows of a smaller one but for rounding.
    """
    if items.height <= limit:
        return items
    position = pl.col(key).map_elements(seeded_hash, return_dtype=pl.Int64)
    drawn = items.select(key, by).with_columns(position=position).sort("position", key)
    drawn = drawn.join(_quotas(items, limit, by), on=by, nulls_equal=True, maintain_order="left")
    kept = drawn.filter(pl.int_range(pl.len()).over(by) < pl.col("quota"))
    return items.join(kept.select(key), on=key, how="semi", maintain_order="left")


def _quotas(items: pl.DataFrame, limit: int, by: str) -> pl.DataFrame:
    """How many rows each stratum gives: its share cut to whole rows, and what is left over by largest remainder."""
    share = pl.col("n") * limit
    lot = pl.col(by).cast(pl.String).fill_null("").map_elements(seeded_hash, return_dtype=pl.Int64)
    strata = (
        items.group_by(by)
        .agg(n=pl.len().cast(pl.Int64))
        .with_columns(whole=share // items.height, remainder=share % items.height, lot=lot)
        .sort("remainder", "lot", by, descending=[True, False, False])
    )
    left = limit - int(strata["whole"].sum())
    return strata.select(by, quota=pl.col("whole") + (pl.int_range(pl.len()) < left).cast(pl.Int64))
