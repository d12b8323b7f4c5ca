"""Means over items, ratios of sums and means over repositories, for every slice of the items."""

import math
from collections.abc import Sequence

import dataframely as dy
import polars as pl

from evaluate.metrics import metrics_of
from evaluate.statistics.intervals import item_intervals, with_intervals
from evaluate.statistics.slices import MEASURE, SLICE, WHOLE_SLICE, Slice, protocol_slices, slice_items
from lake.averages import AVERAGES, FEWEST_REPOS, ITEM, REPOSITORY
from lake.catalog.protocol import Protocol
from lake.exact import from_steps, steps
from lake.tables import DONE
from lake.tables.evaluated import Aggregates

_METRIC = ["run_id", "protocol", *MEASURE]
_OF = ["measure", *SLICE]
_SUMMED = ("value", "numerator", "denominator")
_PRODUCTS = {
    "squares": ("value", "value"),
    "above_above": ("numerator", "numerator"),
    "above_below": ("numerator", "denominator"),
    "below_below": ("denominator", "denominator"),
}
"""Products of an item's numbers; the intervals over items need their sums."""


def aggregate(
    protocol: Protocol,
    scores: pl.LazyFrame,
    items: pl.LazyFrame,
    run_items: pl.LazyFrame | None = None,
    *,
    slices: Sequence[Slice] = (),
) -> dy.LazyFrame[Aggregates]:
    """Average the scores of any number of runs over slices of the scorable items: rows of table `aggregates`, sorted.

    An item without any value has failed, as has one not done in `run_items`. `slices` replace the protocol's.
    """
    slices, strata = (slices, ()) if slices else protocol_slices(protocol)
    kinds, of_slices = slice_items(items, slices, strata)
    # Strings are compared once: below, a run's metric, a kind of items and a slice's repository are numbers.
    measures = scores.select(_METRIC).unique().with_row_index("measure").collect().lazy()
    # An item has failed that has no value by any metric.
    of_run = ["run_id", "protocol"]
    n_measures = measures.group_by(of_run).agg(n_measures=pl.len())
    valueless = scores.filter(pl.col("value").is_null()).group_by(*of_run, "item_id").agg(n_null=pl.len())
    empty = valueless.join(n_measures, on=of_run).filter(pl.col("n_null") == pl.col("n_measures"))
    is_empty = empty.select(*of_run, "item_id", failed=pl.lit(value=True))
    scored = scores.join(is_empty, on=[*of_run, "item_id"], how="left")
    scored = scored.with_columns(pl.col("failed").fill_null(value=False))
    if run_items is not None:
        answered = run_items.filter(pl.col("status") == DONE).select("run_id", "item_id", is_done=pl.lit(value=True))
        is_failed = pl.col("failed") | pl.col("is_done").is_null()
        scored = scored.join(answered, on=["run_id", "item_id"], how="left").with_columns(failed=is_failed)
    scored = (
        scored.join(measures, on=_METRIC)
        .join(kinds.lazy().explode("item_id"), on="item_id")
        .select("measure", "kind", "failed", *_SUMMED)
    )
    # Rows are summed per kind of items (equal in all columns), then kinds per slice.
    sums = scored.group_by("measure", "kind").agg(
        *(steps(pl.col(name)).sum() for name in _SUMMED),
        *(steps(pl.col(first) * pl.col(second)).sum().alias(name) for name, (first, second) in _PRODUCTS.items()),
        pl.col("value").count().alias("n"),
        pl.len().alias("n_items"),
        pl.col("failed").sum().alias("n_failed"),
        (pl.col("value").is_null() & ~pl.col("failed")).sum().alias("n_not_applicable"),
        pl.col("numerator").count().alias("n_sums"),
    )
    values = scored.drop_nulls("value").group_by("measure", "kind", "value").agg(count=pl.len())
    cells, distinct = pl.collect_all([sums, values])
    means = _means(cells.lazy(), pl.concat([of for of, _ in of_slices]), measures, over_items=protocol.over_items)
    # To resample is the costliest step: the slice that a board opens with and the whole, or all if it is not present.
    resampled = pl.concat([of for of, is_resampled in of_slices if is_resampled]).lazy()
    opening, whole = (
        (pl.col("slice") == name) & (pl.col("slice_value") == value)
        for name, value in (protocol.headline or WHOLE_SLICE, WHOLE_SLICE)
    )
    resampled = resampled.filter(~opening.any() | opening | whole)
    drawn = distinct.lazy().join(resampled, on="kind").group_by(*_OF, "value").agg(pl.col("count").sum().cast(pl.Int64))
    nothing = pl.col("metric").replace_strict(of_nothing(protocol), default=0.0, return_dtype=pl.Float64)
    averages = [pl.when(pl.col(name).is_nan()).then(nothing).otherwise(name).alias(name) for name in AVERAGES]
    rows = means.join(item_intervals(drawn, _OF), on=_OF, how="left").with_columns(averages)
    return Aggregates.cast(rows.sort(Aggregates.primary_key()))


def _means(cells: pl.LazyFrame, of_slices: pl.DataFrame, measures: pl.LazyFrame, *, over_items: bool) -> pl.LazyFrame:
    """The averages, intervals and counts of every measure and slice value, from sums over each kind of items."""
    groups = of_slices.lazy().group_by(*SLICE, "repo").agg("kind").with_row_index("group").collect().lazy()
    counts = ("n", "n_items", "n_failed", "n_not_applicable", "n_sums")
    by_repo = (
        cells.join(groups.select("group", "kind").explode("kind"), on="kind")
        .group_by("measure", "group")
        .agg(pl.col(*_SUMMED, *_PRODUCTS, *counts).sum())
        .join(groups.drop("kind"), on="group")
        .with_columns(repo_mean=pl.when(pl.col("n") > 0).then(from_steps(pl.col("value")) / pl.col("n")))
        .collect()
        .lazy()
    )
    # Sum over sum; NaN if the denominators sum to 0 or less (as reversed ranges may), null if there are no items.
    quotients = {}
    for name, average in AVERAGES.items():
        numerator, denominator = (from_steps(sums.sum()) for sums in (average.numerator, average.denominator))
        ratio = pl.when(denominator <= 0).then(math.nan).otherwise(numerator / denominator)
        quotients[name] = pl.when(pl.col(average.n).sum() > 0).then(ratio)
    means = by_repo.group_by(_OF).agg(
        *(pl.col(name).sum().cast(pl.Int64) for name in counts[:-1]),
        **quotients,
        n_repos=(pl.col("n") > 0).sum().cast(pl.Int64),
    )
    is_of_items = pl.lit(over_items) | (pl.col("n_repos") < FEWEST_REPOS)
    means = means.with_columns(unit=pl.when(is_of_items).then(pl.lit(ITEM)).otherwise(pl.lit(REPOSITORY)))
    means = means.with_columns(pl.when(pl.col("n") > 0).then(pl.col(pl.Float64))).collect().lazy()
    return with_intervals(means.join(measures, on="measure"), by_repo)


def of_nothing(protocol: Protocol) -> dict[str, float]:
    """Metric → its ratio of sums if the denominators sum to 0: the protocol's value for one such item, or no entry."""
    if protocol.context is None:
        return {}
    covered = 1.0 if protocol.context.empty_gold == "covered" else 0.0
    shares = {"precision": protocol.context.empty_prediction, "coverage": covered}
    names = {metric.name for metric, _ in metrics_of(protocol)}
    return {name: shares[what] for name in names if (what := name.rpartition("_")[2]) in shares}
