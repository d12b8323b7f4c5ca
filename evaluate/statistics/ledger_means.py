"""The ledger over slices of the items: what share of the gold each class holds, and over how many items."""

from __future__ import annotations

import polars as pl

from evaluate.score.ledger import CLASSES
from evaluate.statistics.slices import in_slice_of
from lake.exact import exact_sum
from lake.tables import table

_N_GOLD = pl.col("n_gold")


def ledger_means(ledger: pl.LazyFrame, items: pl.LazyFrame, slices: pl.DataFrame) -> pl.LazyFrame:
    """Rows of table `ledger_means`: by class its macro (mean of the items' shares) and micro (share of all gold).

    `slices` has run_id, slice, slice_value: those that each run's scores are pooled over.
    """
    key = ["run_id", "protocol", "slice", "slice_value"]
    # One slice at a time: in each an item counts once more. The whole is among them also where nothing has a score.
    sliced = [
        ledger.join(in_slice_of(items, name), on="item_id").with_columns(slice=pl.lit(name))
        for name in sorted({"all", *slices["slice"]})
    ]
    rows = pl.concat(sliced).join(slices.lazy(), on=["run_id", "slice", "slice_value"], how="semi")
    sums = (
        rows.group_by(key)
        .agg(
            pl.len().cast(pl.Int64).alias("n"),
            exact_sum(_N_GOLD).alias("whole"),
            *(exact_sum(pl.col(name) / _N_GOLD).alias(f"{name}/shares") for name in CLASSES),
            *(exact_sum(pl.col(name)).alias(f"{name}/gold") for name in CLASSES),
            *((pl.col(name) > 0).sum().cast(pl.Int64).alias(f"{name}/items") for name in CLASSES),
        )
        .collect()
    )
    return pl.concat(
        sums.lazy().select(
            *key,
            pl.lit(name).alias("class"),
            macro=pl.col(f"{name}/shares") / pl.col("n"),
            micro=pl.col(f"{name}/gold") / pl.col("whole"),
            n="n",
            n_items=f"{name}/items",
            n_gold=f"{name}/gold",
        )
        for name in CLASSES
    ).select(*table("ledger_means").columns)
