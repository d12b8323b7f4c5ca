"""Simulated data sets whose true mean is known, and how often the interval over repositories covers it."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from evaluate.statistics.intervals import repository_intervals
from lake.exact import steps

Floats = NDArray[np.float64]

REPOEVAL = np.array([146, 67, 64, 46, 42, 36, 32, 22])
"""Items per repository of RepoEval's function level."""

REPOBENCH = np.minimum(np.random.default_rng(7).geometric(0.08, 400), 60)
"""Items per repository where there are hundreds, most of them small."""

KINDS = ("normal", "hit or miss", "near 0 or 1")
ALIKE = (0.0, 0.05, 0.2, 0.4)
"""Intraclass correlations: how alike the items of a repository are."""

_MEAN = 0.35


def coverage(sizes: NDArray[np.int64], kind: str, alike: float, n_sets: int, seed: int = 1) -> float:
    """In which share of some simulated data sets the interval covers the mean that they were drawn from."""
    random = np.random.default_rng(seed)
    starts = np.cumsum(sizes) - sizes
    n_at_once = max(1, 4_000_000 // int(sizes.sum()))
    blocks = [
        np.add.reduceat(_values(random, sizes, kind, alike, min(n_at_once, n_sets - begin)), starts, axis=1)
        for begin in range(0, n_sets, n_at_once)
    ]
    sums = np.concatenate(blocks)
    repositories = pl.LazyFrame(
        {
            "data": np.repeat(np.arange(n_sets), len(sizes)),
            "numerator": sums.ravel(),
            "denominator": np.tile(sizes.astype(np.float64), n_sets),
        }
    ).with_columns(steps(pl.col("numerator", "denominator")))
    ends = repository_intervals(repositories, ["data"]).collect()
    # A data set of equal values has an interval of no width, which covers nothing.
    assert ends.height == n_sets
    return float(ends.select(pl.lit(_MEAN).is_between("low", "high").sum()).item() / n_sets)


def _values(random: np.random.Generator, sizes: NDArray[np.int64], kind: str, alike: float, n: int) -> Floats:
    """Values of the items (data sets, items), whose repositories' means differ."""
    if kind == "normal":
        means = np.repeat(random.normal(_MEAN, np.sqrt(alike), (n, len(sizes))), sizes, axis=1)
        return means + random.normal(0, np.sqrt(1 - alike), means.shape)
    # Means from a beta distribution, whose variance is `alike` of the largest possible.
    weight = (1 - alike) / alike if alike else 1e9
    means = random.beta(_MEAN * weight, (1 - _MEAN) * weight, (n, len(sizes)))
    means = np.repeat(means.clip(1e-3, 1 - 1e-3), sizes, axis=1)
    if kind == "hit or miss":
        return (random.random(means.shape) < means).astype(np.float64)
    return random.beta(means, 1 - means)
