"""Types of numpy arrays for signatures; and sums of fractions that are the same to the last bit in every order.

Adding floats depends on their order, and a query engine is free to change it. Whole numbers do not: each value is
taken in steps of 2^-60, the steps are added as 128-bit integers, and one rounding ends it.
"""

import numpy as np
import numpy.typing as npt
import polars as pl

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

_STEPS_IN_ONE = 2.0**60


def steps(value: pl.Expr) -> pl.Expr:
    """A value in whole steps of 2^-60, as Int128; exact for a float of 2^-7 and above."""
    return (value * _STEPS_IN_ONE).round().cast(pl.Int128)


def from_steps(total: pl.Expr) -> pl.Expr:
    """The value that a number of steps stands for, as Float64."""
    return total.cast(pl.Float64) / _STEPS_IN_ONE


def exact_sum(value: pl.Expr) -> pl.Expr:
    """The sum of some values, independent of their order; nulls are left out, and no values are 0."""
    return from_steps(steps(value).sum())
