"""Means over items, ratios of sums and means of repositories' means, for every slice that may be pooled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from evaluate.exact import exact_sum, from_steps, steps
from lake.tables import table

DONE = "done"
"""The status of an item that a run answered; any other is counted as failed."""

STRATA = ("context",)
"""Columns whose values are never pooled into one mean: the same target is asked about once in each."""

_METRIC = ["run_id", "protocol", "granularity", "metric", "k"]
_SLICE = ["slice", "slice_value"]
_SUMMED = ("value", "numerator", "denominator")
_LATER = ("low", "high", "item_low", "item_high", "rank", "rank_low", "rank_high", "tie_group", "share_of_oracle")
"""Intervals, ranks and the oracle's share are found by comparing runs, not here."""


@dataclass(frozen=True)
class Slice:
    """A part of the items: those alike in some columns; the value joins theirs with `/`.

    Args:
        name: The slice's name.
        columns: What its items have in common; none for the whole.
        pools: Whether it would mix strata; such a slice exists only where the items lie in one stratum.
    """

    name: str
    columns: tuple[str, ...]
    pools: bool


SLICES = (
    Slice("all", (), pools=True),
    Slice("subset", ("subset",), pools=False),
    Slice("level", ("level",), pools=True),
    Slice("repo", ("repo",), pools=True),
    Slice("context", ("context",), pools=False),
    Slice("context/level", ("context", "level"), pools=False),
    Slice("context/repo", ("context", "repo"), pools=False),
)
"""Every slice there is; those of a stratum stand in for the pooled ones where there are several strata."""


def aggregate(
    scores: pl.LazyFrame,
    items: pl.LazyFrame,
    run_items: pl.LazyFrame | None = None,
    *,
    slices: Sequence[Slice] = SLICES,
) -> pl.LazyFrame:
    """Scores over slices of the items: the rows of table `aggregates`, sorted by its key.

    - macro: mean over items; a null value is not applicable and left out.
    - micro: sum of numerators over sum of denominators, 0 where both are 0, null for a metric that keeps none.
    - by_repo: mean of the repositories' macro means.

    Args:
        scores: Rows of table `scores`, of any number of runs and protocols.
        items: The scorable items: item_id, repo and every column that some slice or stratum names.
        run_items: Rows of table `run_items`, for counting failed items; without it none is counted.
        slices: Which slices.
    """
    known = sorted({column for slice_ in slices for column in slice_.columns} | {"repo", *STRATA})
    described = items.select("item_id", *known)
    # Rows are summed once per cell of items alike in everything; the few cells are then summed per slice.
    cells = (
        _with_failures(scores, run_items)
        .join(described, on="item_id")
        .group_by(*_METRIC, *known)
        .agg(
            *(steps(pl.col(name)).sum() for name in _SUMMED),
            pl.col("value").count().alias("n"),
            pl.len().alias("n_items"),
            pl.col("failed").sum().alias("n_failed"),
            pl.col("numerator").count().alias("n_sums"),
        )
    )
    sliced = pl.concat(_slice(_unmixed(described, slice_), slice_) for slice_ in slices).unique()
    counts = ("n", "n_items", "n_failed", "n_sums")
    by_repo = (
        cells.join(sliced, on=known, nulls_equal=True)
        .group_by(*_METRIC, *_SLICE, "repo")
        .agg(pl.col(*_SUMMED, *counts).sum())
    )
    repo_mean = (from_steps(pl.col("value")) / pl.col("n")).filter(pl.col("n") > 0)
    whole = (
        by_repo.group_by(*_METRIC, *_SLICE)
        .agg(
            (from_steps(pl.col("value").sum()) / pl.col("n").sum()).alias("macro"),
            (exact_sum(repo_mean) / repo_mean.count()).alias("by_repo"),
            _micro(),
            *(pl.col(name).sum().cast(pl.Int64) for name in ("n", "n_items", "n_failed")),
            pl.col("repo").n_unique().cast(pl.Int64).alias("n_repos"),
        )
        .with_columns(
            pl.when(pl.col("n") > 0).then(pl.col("macro", "by_repo")),
            (pl.col("n_items") - pl.col("n")).alias("n_not_applicable"),
        )
    )
    declared = table("aggregates")
    later = [pl.lit(None, declared.columns[name]).alias(name) for name in _LATER]
    return whole.with_columns(later).select(*declared.columns).sort(declared.key)


def _with_failures(scores: pl.LazyFrame, run_items: pl.LazyFrame | None) -> pl.LazyFrame:
    if run_items is None:
        return scores.with_columns(pl.lit(value=False).alias("failed"))
    answered = run_items.filter(pl.col("status") == DONE).select(
        "run_id", "item_id", pl.lit(value=False).alias("failed")
    )
    return scores.join(answered, on=["run_id", "item_id"], how="left").with_columns(
        pl.col("failed").fill_null(value=True)
    )


def _unmixed(items: pl.LazyFrame, slice_: Slice) -> pl.LazyFrame:
    """The items, or none where the slice would mix strata; compound slices in turn need several strata."""
    one_stratum = pl.all_horizontal(pl.col(column).n_unique() == 1 for column in STRATA)
    if slice_.pools:
        return items.filter(one_stratum)
    return items.filter(~one_stratum) if set(slice_.columns) & set(STRATA) else items


def _slice(items: pl.LazyFrame, slice_: Slice) -> pl.LazyFrame:
    """Which of the items' kinds a slice holds: the items' columns, slice and slice_value."""
    value = pl.concat_str(slice_.columns, separator="/") if slice_.columns else pl.lit("all")
    return (
        items.drop("item_id")
        .with_columns(pl.lit(slice_.name).alias("slice"), value.alias("slice_value"))
        .filter(pl.col("slice_value").is_not_null())
    )


def _micro() -> pl.Expr:
    numerator, denominator = (from_steps(pl.col(name).sum()) for name in _SUMMED[1:])
    ratio = pl.when(denominator == 0).then(0.0).otherwise(numerator / denominator)
    return pl.when(pl.col("n_sums").sum() > 0).then(ratio).alias("micro")
