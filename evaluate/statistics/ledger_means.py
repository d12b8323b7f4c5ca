"""The ledger over slices of the items: what share of the gold each class holds, and over how many items."""

from __future__ import annotations

import polars as pl

from evaluate.score.ledger import CLASSES
from evaluate.statistics.means import in_slice_of
from lake.exact import exact_sum
from lake.tables import table

_N_GOLD = pl.col("n_gold")


def ledger_means(ledger: pl.LazyFrame, items: pl.LazyFrame, slices: pl.DataFrame) -> pl.LazyFrame:
    """Rows of table `ledger_means`: by class its macro (mean of the items' shares) and micro (share of all gold).

    Args:
        ledger: Rows of table `ledger`.
        items: The items, with the columns that slices name.
        slices: slice, slice_value: those that the scores are pooled over.
    """
    key = ["run_id", "protocol", "slice", "slice_value"]
    # One slice at a time: in each an item counts once more.
    sliced = [
        ledger.join(in_slice_of(items, name), on="item_id").with_columns(slice=pl.lit(name))
        for name in slices["slice"].unique().sort()
    ]
    frames = []
    rows = pl.concat(sliced).join(slices.lazy(), on=["slice", "slice_value"], how="semi")
    for name in CLASSES:
        part = pl.col(name)
        frames.append(
            rows.group_by(key).agg(
                pl.lit(name).alias("class"),
                (exact_sum(part / _N_GOLD) / pl.len()).alias("macro"),
                (exact_sum(part) / exact_sum(_N_GOLD)).alias("micro"),
                n=pl.len().cast(pl.Int64),
                n_items=(part > 0).sum().cast(pl.Int64),
                n_gold=exact_sum(part),
            )
        )
    return pl.concat(frames).select(*table("ledger_means").columns)
