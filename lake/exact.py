"""Types of numpy arrays for signatures, and sums of floats that are bit-identical in any order.

The sum of floats depends on their order, which a query engine may change. Sums of integers do not: each value is
rounded to steps of 2^-60, the steps are added as 128-bit integers, and the total is rounded once.
"""

import numpy as np
import numpy.typing as npt
import polars as pl

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

_STEPS_IN_ONE = 2.0**60


def steps(value: pl.Expr) -> pl.Expr:
    """A value as a number of steps of 2^-60 (Int128); exact for floats of 2^-7 and above."""
    return (value * _STEPS_IN_ONE).round().cast(pl.Int128)


def from_steps(total: pl.Expr) -> pl.Expr:
    """The Float64 value of a number of steps."""
    return total.cast(pl.Float64) / _STEPS_IN_ONE


def exact_sum(value: pl.Expr) -> pl.Expr:
    """The sum of a column, independent of row order; nulls are ignored, and the sum of no values is 0."""
    return from_steps(steps(value).sum())


def exact_mean(value: pl.Expr) -> pl.Expr:
    """The mean of a column, independent of row order; nulls are ignored, and the mean of no values is null."""
    return pl.when(value.count() > 0).then(exact_sum(value) / value.count())
