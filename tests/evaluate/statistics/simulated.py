"""Simulated data sets whose true mean is known, and how often the interval of their mean covers it."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from evaluate.statistics.intervals import intervals, over_items, over_repositories
from lake.averages import FEWEST_REPOS
from lake.exact import steps
from report.methods.interval_coverage import HIT_OR_MISS, SPREAD

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

REPOEVAL = np.array([146, 67, 64, 46, 42, 36, 32, 22])
"""Items per repository of RepoEval's function level."""

_CONCENTRATION = 4
_N_AT_ONCE = 2_000_000


def coverage(
    kind: str, mean: float, n_repos: int, alike: float, n_sets: int, *, seed: int = 1, within: bool = True
) -> float:
    """The per cent of `n_sets` simulated data sets whose interval covers the truth.

    The truth is the mean that repositories are drawn from (`mean`) or, if items are the unit, that of the repositories
    drawn. `kind` is one of `report.methods.interval_coverage.KINDS`; `alike` is the intraclass correlation of items in
    a repository; without `within` [0, 1] the interval is t without bounds.
    """
    sizes: Counts = np.interp(np.linspace(0, 7, n_repos), np.arange(8), REPOEVAL).round().astype(np.int64)
    random = np.random.default_rng([seed, round(1_000 * mean), n_repos, round(1_000 * alike)])
    n_at_once = max(1, _N_AT_ONCE // int(sizes.sum()))
    covered = [
        _covered(random, sizes, kind, mean, alike, min(n_at_once, n_sets - begin), within=within)
        for begin in range(0, n_sets, n_at_once)
    ]
    return 100 * float(np.concatenate(covered).mean())


def _covered(
    random: np.random.Generator, sizes: Counts, kind: str, mean: float, alike: float, n: int, *, within: bool
) -> NDArray[np.bool_]:
    means, values = _drawn(random, sizes, kind, mean, alike, n)
    starts, of = np.cumsum(sizes) - sizes, ["data"]
    totals, squares = (np.add.reduceat(each, starts, axis=1).ravel() for each in (values, values**2))
    data, counts = np.repeat(np.arange(n), len(sizes)), np.tile(sizes.astype(np.float64), n)
    quotients = pl.LazyFrame(
        {
            "data": data, "numerator": totals, "denominator": counts,
            "above_above": squares, "above_below": totals, "below_below": counts,
        }
    ).with_columns(steps(pl.all().exclude("data")))  # fmt: skip
    is_of_items = len(sizes) < FEWEST_REPOS
    estimates = (over_items if is_of_items else over_repositories)(quotients, of).sort(of).collect()
    assert estimates.height == n
    low, high = (0.0, 1.0) if within else (-np.inf, np.inf)
    n_items = int(sizes.sum())
    n_units = n_items if is_of_items else len(sizes)
    known = {"n": n_items, "n_units": n_units, "lowest": low, "highest": high}
    ends = intervals(estimates.with_columns(**{name: pl.lit(value) for name, value in known.items()}))
    truth = means @ sizes / n_items if is_of_items else np.full(n, mean)
    lower, upper = pl.select(low=ends[0], high=ends[1]).to_numpy().T
    covered: NDArray[np.bool_] = (lower <= truth) & (truth <= upper)
    return covered


def _drawn(
    random: np.random.Generator, sizes: Counts, kind: str, mean: float, alike: float, n: int
) -> tuple[Floats, Floats]:
    """The repositories' means (data sets, repositories) and the items' values (data sets, items)."""
    # Means from a beta distribution, whose variance is `alike` of the largest possible.
    weight = (1 - alike) / alike if alike else 1e9
    means = random.beta(mean * weight, (1 - mean) * weight, (n, len(sizes))).clip(1e-4, 1 - 1e-4)
    each = np.repeat(means, sizes, axis=1)
    if kind == HIT_OR_MISS:
        return means, (random.random(each.shape) < each).astype(np.float64)
    concentration = _CONCENTRATION if kind == SPREAD else 1
    return means, random.beta(concentration * each, concentration * (1 - each))
