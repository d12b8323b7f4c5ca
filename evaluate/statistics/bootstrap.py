"""What other items of the same repositories might have shown: the percentile bootstrap of a mean over items.

Resamples are matrices of weights, a row per resample and a column per item, which times the values give the means. All
means over as many items share them. Of many items a column is a value, drawn as often as its items together; where the
values are many too, neighbouring ones share a column. Values are taken in whole steps, so small that sums stay whole
numbers in a float: they are the same to the last bit, in whatever order they are added, on however many threads.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lake.exact import Floats, Integers

RESAMPLES = 10_000
_SEED = 12
_QUANTILES = (0.025, 0.975)
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
    sums: Floats = np.concatenate([(weights @ steps).T for weights in _weights(counts, n)], axis=1)
    quantiles: Floats = np.quantile(sums, _QUANTILES, axis=1, overwrite_input=True) / (n * n_steps) * largest
    return quantiles


def _weights(counts: Integers, n: int) -> Iterator[Floats]:
    """Matrices of how often each row is drawn, in all as many rows as there are resamples."""
    drawn = _of_items(n) if len(counts) == n <= _KEPT else _drawn(counts, n)
    yield from (weights.astype(np.float64) for weights in drawn)


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
