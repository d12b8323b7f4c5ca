"""95 % intervals of means and ratios whose items come in repositories, and bootstrap intervals of means over items.

A mean over items, a ratio of sums and a mean of repository means are all one sum divided by another. Over repositories,
its variance is cluster-robust with the correction of Bell and McCaffrey ("Bias reduction in standard errors for linear
regression with multi-stage samples", Survey Methodology 28, 2002; CR2 in Imbens and Kolesár 2016), with Satterthwaite's
degrees for independent items. `python -m tests.coverage_simulation` simulates how often they hold the truth.
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

    See Korn and Graubard, "Confidence intervals for proportions with small expected number of positive counts estimated
    from survey data", Survey Methodology 24, 1998. If the variance is 0, the size is the number of units.
    """
    at_most = mean * (1 - mean)
    with np.errstate(divide="ignore", invalid="ignore"):
        size = at_most / variance * (scipy.special.stdtrit(n - 1, _UPPER) / scipy.special.stdtrit(degrees, _UPPER)) ** 2
    effective = np.where(variance > 0, np.minimum(size, n), n_units)
    above, below = mean * effective, (1 - mean) * effective
    low = np.where(above > 0, scipy.special.betaincinv(above, below + 1, _LOWER), 0.0)
    high = np.where(below > 0, scipy.special.betaincinv(above + 1, below, _UPPER), 1.0)
    # Rounded, so that another machine's last bit changes no number.
    return low.round(12), high.round(12)


def intervals(estimates: pl.DataFrame) -> tuple[pl.Expr, pl.Expr]:
    """The ends of the 95 % intervals of estimates; null where one is outside its bounds, `lowest` and `highest`.

    They are Korn and Graubard's for a metric between 0 and 1, else those of a t interval clipped to the bounds.
    """
    names = ("mean", "variance", "degrees", "n", "n_units", "lowest", "highest")
    of = [estimates[name].to_numpy().astype(np.float64) for name in names]
    mean, variance, degrees, _, _, lowest, highest = of
    half = scipy.special.stdtrit(degrees, _UPPER).round(10) * np.sqrt(variance)
    # Equal values leave rounding errors.
    half[half <= 1e-12 * np.abs(mean)] = 0
    low, high = np.maximum(mean - half, lowest), np.minimum(mean + half, highest)
    shares = (lowest == 0) & (highest == 1) & (mean >= 0) & (mean <= 1)
    low[shares], high[shares] = korn_graubard(*(each[shares] for each in of[:5]))
    is_within = pl.lit(pl.Series((lowest <= mean) & (mean <= highest)))
    return pl.when(is_within).then(pl.Series(low)), pl.when(is_within).then(pl.Series(high))


def over_repositories(quotients: pl.LazyFrame, of: Sequence[str]) -> pl.LazyFrame:
    """Quotients of two sums, in steps of `lake.exact`, with repositories as units: `of`, mean, variance, degrees.

    Quotients of one repository, and those with a negative denominator (reversed ranges), are left out.
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
    # Satterthwaite's degrees of freedom are (trace M)² / trace M² for M, the covariance of the weighted residuals of
    # independent items: for shares w of the repositories, w_i on the diagonal, ± w_i w_j / √((1 - w_i)(1 - w_j)) else.
    share = pl.col("share")
    weighted = share**2 / (1 - share)
    degrees = 1 / (exact_sum(share**2) + exact_sum(weighted) ** 2 - exact_sum(weighted**2))
    # Relative to the largest residual, so that the sum of squares keeps every digit.
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
            degrees.alias("degrees"),
        )
    )


def over_items(quotients: pl.LazyFrame, of: Sequence[str]) -> pl.LazyFrame:
    """Quotients of two sums with items as units: `of`, mean, variance, degrees; no row for one item or a sum of 0."""
    names = ("numerator", "denominator", "above_above", "above_below", "below_below")
    mean, total = pl.col("numerator") / pl.col("denominator"), pl.col("denominator")
    squares = pl.col("above_above") - 2 * mean * pl.col("above_below") + mean**2 * pl.col("below_below")
    # Squares that cancel out leave rounding errors.
    squares = pl.when(squares > 1e-13 * pl.col("above_above")).then(squares).otherwise(0.0)
    # The sum of the items' squared shares of the data: 1/n if all have the same weight.
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


def with_intervals(means: pl.LazyFrame, by_repo: pl.LazyFrame) -> pl.LazyFrame:
    """The means with the ends of the interval of each average; `by_repo` has each repository's sums and `repo_mean`."""
    by_repo = by_repo.join(means.select(*_OF, "unit"), on=_OF)
    least, most = ({name: float(metric.bounds[end]) for name, metric in metrics().items()} for end in (0, 1))
    of_means = means.with_columns(
        n_units=pl.when(pl.col("unit") == ITEM).then("n").otherwise("n_repos"),
        lowest=pl.col("metric").replace_strict(least, default=0.0),
        highest=pl.col("metric").replace_strict(most, default=1.0),
    )
    every = list[pl.LazyFrame]()
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
        means = means.join(estimates.lazy().select(*_OF, **of_average), on=_OF, how="left")
    return means


RESAMPLES = 10_000
_SEED = 12
_AT_ONCE = 200_000
"""The number of weights in memory at once, about what fits a core's cache; but at least 16 resamples."""
_MANY = 4_000
"""With more items than this, resamples draw distinct values, with their counts, instead of items."""
_KEPT = 1_000
"""The resamples of up to this many items are cached: repositories differ in size, every slice and metric needs them."""
_COLUMNS = 100
"""The maximum number of columns into which distinct values are grouped."""
_MEANS_AT_ONCE = 32
"""The number of means over equally many items to resample together: few enough for memory to be reused."""


def item_intervals(values: pl.LazyFrame, of: Sequence[str]) -> pl.LazyFrame:
    """The 95 % bootstrap intervals of means over items (`of`, value, count): item_low, item_high; none of one item."""
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
        # Many metrics have the same values: these are resampled once.
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
    """Values (rows, 1) and counts; neighbouring values are merged if there are more than _COLUMNS."""
    if len(values) > _COLUMNS:
        middle = np.cumsum(counts) - counts // 2
        _, begins = np.unique(middle * _COLUMNS // (counts.sum() + 1), return_index=True)
        totals = np.add.reduceat(values * counts, begins)
        counts = np.add.reduceat(counts, begins)
        values = totals / counts
    return values[:, None], counts


def _interval(values: Floats, counts: Integers) -> Floats:
    """The 95 % quantiles (2, means) of resampled means of `values` (rows, means), whose rows occur `counts` times."""
    n = int(counts.sum())
    largest = np.abs(values).max(axis=0)
    # Of multiples of so small a step, all sums are whole numbers that a float holds exactly, in any order of addition.
    n_steps = 2.0 ** (52 - n.bit_length())
    steps = np.rint(values / np.where(largest > 0, largest, 1) * n_steps)
    # A mean's sums are contiguous in memory, which makes quantiles several times faster than over a column.
    drawn = _of_items(n) if len(counts) == n <= _KEPT else _drawn(counts, n)
    sums: Floats = np.concatenate([(weights.astype(np.float64) @ steps).T for weights in drawn], axis=1)
    quantiles: Floats = np.quantile(sums, (_LOWER, _UPPER), axis=1, overwrite_input=True) / (n * n_steps) * largest
    return quantiles


@lru_cache(maxsize=32)
def _of_items(n: int) -> list[NDArray[np.uint8]]:
    """The weights of `n` items, in blocks of resamples; cached, as all runs are resampled with the same weights."""
    # A byte is enough: of a thousand items none is drawn more than a dozen times.
    return [weights.astype(np.uint8) for weights in _drawn(np.ones(n, np.int64), n)]


def _drawn(counts: Integers, n: int) -> Iterator[Integers]:
    """Blocks of resamples, RESAMPLES rows in all: how often each resample draws each of the values behind `counts`."""
    random, width = np.random.default_rng(_SEED), len(counts)
    n_rows = max(16, _AT_ONCE // width)
    for begin in range(0, RESAMPLES, n_rows):
        shape = (min(n_rows, RESAMPLES - begin), width)
        if width < n:
            yield random.multinomial(n, counts / n, shape[0])
        else:
            drawn = random.integers(n, size=shape)
            # In place, as allocating memory costs more than the sum.
            drawn += np.arange(shape[0])[:, None] * n
            yield np.bincount(drawn.ravel(), minlength=drawn.size).reshape(shape)
