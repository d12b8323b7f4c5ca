"""95 % intervals of means and ratios whose items come in repositories.

A mean over items, a ratio of sums and a mean of repositories' means are all one sum divided by another. Items of one
repository are alike, so the unit is the repository; where these are too few to decide anything it is the item.

Over repositories the variance of the quotient is cluster-robust. The plain form (residual sums of the repositories, G-1
degrees of freedom) is too small where repositories are few and of unequal size. So it is corrected as Bell and
McCaffrey do ("Bias reduction in standard errors for linear regression with multi-stage samples", Survey Methodology 28,
2002; CR2 in Imbens and Kolesár 2016): each residual is weighted by the share of the data that its repository is, and
the degrees of freedom are Satterthwaite's for independent items, here in closed form. Between repositories of one size
both corrections vanish: what is left has G-1. Over items the residuals are the items' own.

Of a metric within 0 and 1 the interval is Korn and Graubard's, of another a t interval cut at the metric's bounds. How
often it covers the truth is simulated by `python -m tests.coverage_simulation`.

Beside them stands what other items of the same repositories might have shown: the percentile bootstrap of a mean over
items. Resamples are matrices of weights, a row per resample and a column per item, which times the values give the
means. All means over as many items share them. Of many items a column is a value, drawn as often as its items together;
where the values are many too, neighbouring ones share a column. Values are taken in whole steps, so small that sums
stay whole numbers in a float: they are the same to the last bit, in whatever order they are added, on however many
threads.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
import polars as pl
import scipy
from numpy.typing import NDArray

from evaluate.metrics import metrics
from evaluate.statistics.pairs import ALL_BUT_NOTHING
from lake.averages import AVERAGES, ITEM, REPOSITORY, average_columns
from lake.exact import Floats, Integers, exact_sum, from_steps

_LOWER, _UPPER = 0.025, 0.975
_OF = ("measure", "slice", "slice_value")


def korn_graubard(mean: Floats, variance: Floats, degrees: Floats, n: Floats, n_units: Floats) -> tuple[Floats, Floats]:
    """The ends of 95 % intervals of means of values within 0 and 1: Clopper and Pearson's on an effective sample size.

    That is the size of a simple random sample with the mean's variance, less what is lost because the variance is known
    from few parts only, and at most as many items as there are; with no variance at all, the number of units. See Korn
    and Graubard, "Confidence intervals for proportions with small expected number of positive counts estimated from
    survey data", Survey Methodology 24, 1998. Ends are rounded, so that another machine's last bit changes no number.
    """
    at_most = mean * (1 - mean)
    with np.errstate(divide="ignore", invalid="ignore"):
        size = at_most / variance * (scipy.special.stdtrit(n - 1, _UPPER) / scipy.special.stdtrit(degrees, _UPPER)) ** 2
    effective = np.where(variance > 0, np.minimum(size, n), n_units)
    above, below = mean * effective, (1 - mean) * effective
    low = np.where(above > 0, scipy.special.betaincinv(above, below + 1, _LOWER), 0.0)
    high = np.where(below > 0, scipy.special.betaincinv(above + 1, below, _UPPER), 1.0)
    return low.round(12), high.round(12)


def intervals(estimates: pl.DataFrame) -> tuple[pl.Expr, pl.Expr]:
    """The lower and the upper ends of 95 % intervals of some estimates; null where an estimate is out of its bounds.

    An estimate has mean, variance, degrees, n, n_units, as `korn_graubard` has them; lowest and highest: the bounds.
    """
    names = ("mean", "variance", "degrees", "n", "n_units", "lowest", "highest")
    of = [estimates[name].to_numpy().astype(np.float64) for name in names]
    mean, variance, degrees, _, _, lowest, highest = of
    half = scipy.special.stdtrit(degrees, _UPPER).round(10) * np.sqrt(variance)
    # What rounding leaves of equal values is 0.
    half[half <= 1e-12 * np.abs(mean)] = 0
    low, high = np.maximum(mean - half, lowest), np.minimum(mean + half, highest)
    shares = (lowest == 0) & (highest == 1) & (mean >= 0) & (mean <= 1)
    low[shares], high[shares] = korn_graubard(*(each[shares] for each in of[:5]))
    is_within = pl.lit(pl.Series((lowest <= mean) & (mean <= highest)))
    return pl.when(is_within).then(pl.Series(low)), pl.when(is_within).then(pl.Series(high))


def over_repositories(quotients: pl.LazyFrame, of: Sequence[str]) -> pl.LazyFrame:
    """Quotients of two sums whose units are repositories: `of`, mean, variance, degrees.

    `quotients` has one row per repository and quotient: `of`, numerator and denominator in steps of `lake.exact`. Those
    of one repository, of nothing, and of parts below 0 (published sizes of reversed ranges may give such) are left out.
    """
    below = pl.col("denominator")
    total = from_steps(below.sum())
    totals = quotients.group_by(of).agg(
        total.alias("total"),
        (from_steps(pl.col("numerator").sum()) / total).alias("mean"),
        (from_steps(below.max()) / total).alias("largest"),
        below.min().alias("least"),
    )
    known = totals.filter(pl.col("total") > 0, pl.col("largest") < ALL_BUT_NOTHING, pl.col("least") >= 0)
    numerator, denominator = from_steps(pl.col("numerator")), from_steps(below)
    share = pl.col("share")
    # Relative to the largest, so that the sum of squares keeps every digit.
    residual = (pl.col("residual") / pl.col("residual").abs().max()).fill_nan(0)
    return (
        quotients.join(known.select(*of, "total", "mean"), on=of)
        .with_columns(
            share=denominator / pl.col("total"), residual=(numerator - pl.col("mean") * denominator) / pl.col("total")
        )
        .group_by(of)
        .agg(
            pl.col("mean").first(),
            (exact_sum(residual**2 / (1 - share)) * pl.col("residual").abs().max() ** 2).alias("variance"),
            _degrees(share).alias("degrees"),
        )
    )


def over_items(quotients: pl.LazyFrame, of: Sequence[str]) -> pl.LazyFrame:
    """Quotients of two sums whose units are items: `of`, mean, variance, degrees; none of a single item or of nothing.

    `quotients` has one row per part of the items and quotient: `of`, numerator and denominator, and the sums of their
    items' squares and products: above_above, above_below, below_below; all in steps of `lake.exact`.
    """
    names = ("numerator", "denominator", "above_above", "above_below", "below_below")
    mean, total = pl.col("numerator") / pl.col("denominator"), pl.col("denominator")
    squares = pl.col("above_above") - 2 * mean * pl.col("above_below") + mean**2 * pl.col("below_below")
    # What is left where squares cancel out is 0.
    squares = pl.when(squares > 1e-13 * pl.col("above_above")).then(squares).otherwise(0.0)
    # The sum of the squares of the items' shares of the data: 1/n where all count alike.
    alone = pl.col("below_below") / total**2
    return (
        quotients.group_by(of)
        .agg(from_steps(pl.col(name).sum()) for name in names)
        .filter(total > 0, alone < ALL_BUT_NOTHING)
        .select(
            *of,
            mean=mean,
            variance=squares / total**2 / (1 - alone),
            degrees=pl.max_horizontal(1 / alone - 1, 1.0),
        )
    )


def _degrees(share: pl.Expr) -> pl.Expr:
    """Satterthwaite's degrees of freedom of the variance: (trace M)² / trace M², where trace M is 1.

    M is the covariance of the weighted residuals of independent items: a repository's share on the diagonal, and
    elsewhere the product of two shares, each over the root of what it leaves.
    """
    weighted = share**2 / (1 - share)
    return 1 / (exact_sum(share**2) + exact_sum(weighted) ** 2 - exact_sum(weighted**2))


def bounds_of(measures: pl.LazyFrame) -> pl.LazyFrame:
    """Of each measure the least and the greatest value that there can be: measure, lowest, highest."""
    of = {name: metric.bounds for name, metric in metrics().items()}
    ends = [pl.col("metric").replace_strict({k: v[end] for k, v in of.items()}, default=end) for end in (0, 1)]
    lowest, highest = (each.cast(pl.Float64) for each in ends)
    return measures.select("measure", lowest=lowest, highest=highest)


def ends_of(by_repo: pl.LazyFrame, means: pl.LazyFrame) -> Iterator[pl.LazyFrame]:
    """The intervals of the averages, each with the columns that are named after it.

    `by_repo` has the sums of each repository of a measure and value of a slice, and `repo_mean`; `means` has measure,
    slice, slice_value, unit, n, n_repos, lowest, highest.
    """
    by_repo = by_repo.join(means.select(*_OF, "unit"), on=_OF)
    n_units = pl.when(pl.col("unit") == ITEM).then("n").otherwise("n_repos")
    of_means, every = means.with_columns(n_units=n_units), list[pl.LazyFrame]()
    for average in AVERAGES.values():
        products = dict(zip(("above_above", "above_below", "below_below"), average.products, strict=True))
        quotients = by_repo.select(
            *_OF, "unit", numerator=average.numerator, denominator=average.denominator, **products
        )
        parts = [
            over_repositories(quotients.filter(unit=REPOSITORY), _OF),
            over_items(quotients.filter(unit=ITEM), _OF),
        ]
        every.append(pl.concat(parts).join(of_means, on=_OF))
    for name, estimates in zip(AVERAGES, pl.collect_all(every), strict=True):
        _, *ends = average_columns(name)
        of_average = dict(zip(ends, intervals(estimates), strict=True))
        yield estimates.lazy().select(*_OF, **of_average)


RESAMPLES = 10_000
_SEED = 12
_AT_ONCE = 200_000
"""Weights held together, about what a core's own memory holds; of many items at least so many resamples."""
_ROWS = 16
_MANY = 4_000
"""Of more items, values are drawn in their place."""
_KEPT = 1_000
"""The resamples of so many items at most are kept for the next means of as many."""
_KEPT_AT_ONCE = 32
"""So many of them: repositories are of many sizes, and every slice and metric asks for them again."""
_COLUMNS = 100
"""So many columns at most are drawn of them."""
_MEANS_AT_ONCE = 32
"""So many means over as many items are resampled together: few enough for memory to be used again."""


def item_intervals(values: pl.LazyFrame, of: Sequence[str]) -> pl.LazyFrame:
    """The 95 % intervals of means over items: `of`, item_low, item_high; none of a mean over a single item.

    `values` has one row per distinct value of a mean: `of`, value, count.
    """
    means = (
        values.sort(*of, "value")
        .group_by(of, maintain_order=True)
        .agg("value", "count", n=pl.col("count").sum())
        .filter(pl.col("n") > 1)
        .collect()
    )
    ends = np.cumsum(means["value"].list.len().to_numpy())[:-1]
    values_of, counts_of = (np.split(means[name].explode().to_numpy(), ends) for name in ("value", "count"))
    n_of, intervals = means["n"].to_numpy(), np.zeros((2, means.height))
    for n in np.unique(n_of).tolist():
        rows = np.flatnonzero(n_of == n)
        if n > _MANY:
            several = [_interval(*_grouped(values_of[row], counts_of[row])) for row in rows]
            intervals[:, rows] = np.concatenate(several, axis=1)
            continue
        # Many metrics come to the same: equal values are resampled once.
        keys = [values_of[row].tobytes() + counts_of[row].tobytes() for row in rows]
        distinct = dict(zip(keys, rows.tolist(), strict=True))
        several = [
            _interval(
                np.stack([np.repeat(values_of[row], counts_of[row]) for row in some], axis=1), np.ones(n, np.int64)
            )
            for some in np.array_split([*distinct.values()], -(-len(distinct) // _MEANS_AT_ONCE))
        ]
        column_of = {key: number for number, key in enumerate(distinct)}
        intervals[:, rows] = np.concatenate(several, axis=1)[:, [column_of[key] for key in keys]]
    low, high = intervals
    return means.lazy().select(*of, item_low=pl.Series(low), item_high=pl.Series(high))


def _grouped(values: Floats, counts: Integers) -> tuple[Floats, Integers]:
    """Values (rows, 1) and counts, neighbouring values taken together where there are too many."""
    if len(values) > _COLUMNS:
        middle = np.cumsum(counts) - counts // 2
        _, begins = np.unique(middle * _COLUMNS // (counts.sum() + 1), return_index=True)
        totals = np.add.reduceat(values * counts, begins)
        counts = np.add.reduceat(counts, begins)
        values = totals / counts
    return values[:, None], counts


def _interval(values: Floats, counts: Integers) -> Floats:
    """The quantiles (2, means) of resampled means of values (rows, means) that occur so often."""
    n = int(counts.sum())
    largest = np.abs(values).max(axis=0)
    n_steps = 2.0 ** (52 - n.bit_length())
    steps = np.rint(values / np.where(largest > 0, largest, 1) * n_steps)
    # A mean's sums side by side in memory: they are looked through several times faster than a column is.
    drawn = _of_items(n) if len(counts) == n <= _KEPT else _drawn(counts, n)
    sums: Floats = np.concatenate([(weights.astype(np.float64) @ steps).T for weights in drawn], axis=1)
    quantiles: Floats = np.quantile(sums, (_LOWER, _UPPER), axis=1, overwrite_input=True) / (n * n_steps) * largest
    return quantiles


@lru_cache(_KEPT_AT_ONCE)
def _of_items(n: int) -> list[NDArray[np.uint8]]:
    """The weights of so many items, each a row: run after run of a lake is resampled by the same."""
    # Of a thousand items none is drawn more than a dozen times.
    return [weights.astype(np.uint8) for weights in _drawn(np.ones(n, np.int64), n)]


def _drawn(counts: Integers, n: int) -> Iterator[Integers]:
    """Matrices of how often each row is drawn, in all as many rows as there are resamples."""
    random, width = np.random.default_rng(_SEED), len(counts)
    n_rows = max(_ROWS, _AT_ONCE // width)
    for begin in range(0, RESAMPLES, n_rows):
        shape = (min(n_rows, RESAMPLES - begin), width)
        if width < n:
            yield random.multinomial(n, counts / n, shape[0])
        else:
            drawn = random.integers(n, size=shape)
            # In place, as fresh memory costs more than the sum.
            drawn += np.arange(shape[0])[:, None] * n
            yield np.bincount(drawn.ravel(), minlength=drawn.size).reshape(shape)
