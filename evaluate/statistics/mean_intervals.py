"""The intervals of the three averages that an aggregate has."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from evaluate.metrics import metrics
from evaluate.statistics.intervals import intervals, over_items, over_repositories
from lake.catalog.unit import ITEM, REPOSITORY
from lake.exact import from_steps, steps

_OF = ("measure", "slice", "slice_value")


def bounds_of(measures: pl.LazyFrame) -> pl.LazyFrame:
    """Of each measure the least and the greatest value that there can be: measure, lowest, highest."""
    of = {name: metric.bounds for name, metric in metrics().items()}
    ends = [pl.col("metric").replace_strict({k: v[end] for k, v in of.items()}, default=end) for end in (0, 1)]
    lowest, highest = (each.cast(pl.Float64) for each in ends)
    return measures.select("measure", lowest=lowest, highest=highest)


def ends_of(by_repo: pl.LazyFrame, means: pl.LazyFrame) -> Iterator[pl.LazyFrame]:
    """The intervals of the three averages, each with the columns that are named after it.

    `by_repo` has the sums of each repository of a measure and value of a slice, and `repo_mean`; `means` has measure,
    slice, slice_value, unit, n, n_repos, lowest, highest.
    """
    by_repo = by_repo.join(means.select(*_OF, "unit"), on=_OF)
    n, value, zero = pl.col("n"), pl.col("value"), pl.lit(0.0)
    # In a mean of repositories' means an item counts as much as its repository has few.
    weight = pl.when(n > 0).then(1 / n).otherwise(zero)
    of_weighted = (
        steps(from_steps(pl.col("squares")) * weight**2),
        steps(from_steps(value) * weight**2),
        steps(weight),
    )
    of_ratio = (pl.col("above_above"), pl.col("above_below"), pl.col("below_below"))
    for prefix, numerator, denominator, products in (
        ("", value, steps(n), (pl.col("squares"), value, steps(n))),
        ("micro_", pl.col("numerator"), pl.col("denominator"), of_ratio),
        ("by_repo_", steps(pl.col("repo_mean")), steps((n > 0).cast(pl.Float64)), of_weighted),
    ):
        names = dict(zip(("above_above", "above_below", "below_below"), products, strict=True))
        quotients = by_repo.select(*_OF, "unit", numerator=numerator, denominator=denominator, **names)
        parts = [
            over_repositories(quotients.filter(unit=REPOSITORY), _OF),
            over_items(quotients.filter(unit=ITEM), _OF),
        ]
        n_units = pl.when(pl.col("unit") == ITEM).then("n").otherwise("n_repos")
        estimates = pl.concat(parts).join(means.with_columns(n_units=n_units), on=_OF).collect()
        yield estimates.select(_OF).hstack(intervals(estimates).select(pl.all().name.prefix(prefix))).lazy()
