"""Table `characters`: how much one reads of each run, down to where its protocol's primary metric looks."""

from __future__ import annotations

import polars as pl

from evaluate.metrics import metric_named, metrics_of
from evaluate.score.contexts.gathering import RANKED_BUDGET
from evaluate.statistics.means import in_slice
from lake.catalog.protocol import Protocol
from lake.naming import FINAL, LINES, RANKING
from lake.store import Lake
from lake.tables import table

_SLICE = ["slice", "slice_value"]


def characters_of(protocol: Protocol, rows: pl.DataFrame, items: pl.LazyFrame, lake: Lake) -> pl.DataFrame:
    """Rows of table `characters`, of every run that has the primary metric in the slice that is shown first.

    Args:
        protocol: Under which they were scored.
        rows: Their aggregates, as `with_places` gives them.
        items: Rows of table `items`.
        lake: Where their hits are.
    """
    shown = rows.filter("is_primary", "is_headline").select("run_id", *_SLICE, "n_items").sort("run_id")
    ks = sorted({k for metric, k in metrics_of(protocol) if metric.name == protocol.primary.metric})
    declared = table("characters")
    found: list[dict[str, object]] = []
    for run_id, slice_, value, n_items in shown.iter_rows():
        hits = lake.scan("hits", benchmark=protocol.benchmark, run_id=run_id)
        of_slice = hits.join(in_slice(items.filter("scorable"), slice_, value), on="item_id", how="semi")
        read = _read(protocol, of_slice, ks)
        if read.is_empty():  # Completions, or nothing at all.
            continue
        mean = {name: read[name].sum() / n_items for name in read.columns}
        of_run = {"protocol": protocol.name, "slice": slice_, "slice_value": value, "run_id": run_id}
        of_run |= {"returned": mean["returned"], "n_items": n_items}
        found += [{**of_run, "k": k, "read": mean[str(k)]} for k in ks]
    return pl.DataFrame(found, schema=declared.columns).sort(declared.key)


def _read(protocol: Protocol, hits: pl.LazyFrame, ks: list[int]) -> pl.DataFrame:
    """Of each item of a run: the characters down to each cut-off, and `returned`, all of them."""
    is_budget = metric_named(protocol.primary.metric).cut == "budget"
    new, part = pl.col("n_new_nws").fill_null(0), pl.col("part")
    found = (
        hits.filter(part.is_in([RANKING, LINES, FINAL]))
        .group_by("item_id", "part")
        .agg(new.sum().alias("returned"), *(new.filter(pl.col("rank") <= k).sum().alias(f"first {k}") for k in ks))
        .collect()
    )
    # The order that is best for lines is read in place of the ranking, where a run has both.
    if (found["part"] == LINES).any():
        found = found.filter(part != (RANKING if is_budget else LINES))
    whole = pl.col("returned")
    if protocol.context is not None:
        whole = pl.when(part == FINAL).then(whole).otherwise(whole.clip(upper_bound=RANKED_BUDGET))

    def down_to(k: int) -> pl.Expr:
        if k == 0:
            return whole
        return pl.col("returned").clip(upper_bound=k) if is_budget else pl.col(f"first {k}")

    return found.select("returned", *(down_to(k).alias(str(k)) for k in ks))
