"""Pairs of systems on the items that both have a value for: differences by unit, and what chance would give.

The unit is the repository: items of one repository are alike. Where repositories are too few it is the item. The
difference of a pair is split into a part per unit, and both the interval and the test look at how these parts scatter.
All pairs are worked on at once, as matrices of pairs by units.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from lake.averages import AVERAGES, Aggregate
from lake.exact import Floats, Integers, Mask

MOST_ENUMERATED = 13
"""Up to so many repositories every way to flip their signs is tried."""

N_FLIPS = 10_000
"""How many are drawn where there are more."""

_SEED = 20_260_101
_BLOCK_NUMBERS = 1 << 20
"""Signs and differences that are drawn together: other blocks would be other draws."""
_AT_ONCE = 1 << 16
_PRIOR_DEGREES = 8
"""What weight the family's own scale has beside the variance of a pair, in degrees of freedom. Of 48 systems on eight
repositories as unequal as RepoEval's, one that is ten points better is told from 99 % of the others (21 % without)."""

ALL_BUT_NOTHING = 1 - 1e-6
"""A repository with a larger share of the data is as good as alone: there is nothing to tell how others differ."""

_TIE = 1e-9
"""Statistics nearer than this are equal: sums of floats differ in their last bits."""


@dataclass(frozen=True)
class Values:
    """One metric of some runs over some items: (runs, items), but for `repo`.

    A value is NaN, a numerator or denominator 0, where a run has none for an item. `repo` numbers the repository of
    each item, ascending from 0; `of_nothing` is the ratio of sums where the denominators sum to 0.
    """

    value: Floats
    repo: Integers
    numerator: Floats | None = None
    denominator: Floats | None = None
    of_nothing: float = 0.0


@dataclass(frozen=True)
class Differences:
    """The second's number less the first's, for every pair, over the items that both have.

    `parts` (pairs, units) is what each unit adds to `delta` were both alike elsewhere, and sums to it; `share` (pairs,
    units) is what share of the data each unit is, and sums to 1. `error` is NaN where there is but one unit; `wins` are
    items where the second's value is greater.
    """

    delta: Floats
    parts: Floats
    share: Floats
    error: Floats
    degrees: Floats
    n_items: Integers
    n_repos: Integers
    wins: Integers
    losses: Integers


def all_pairs(n: int) -> tuple[Integers, Integers]:
    """The first and the second of every pair of n things, the first being the earlier."""
    first, second = np.triu_indices(n, 1)
    return first.astype(np.int64), second.astype(np.int64)


def differences(
    values: Values, a: Integers, b: Integers, average: Aggregate, *, over_items: bool = False
) -> Differences:
    """How far the runs b lie above the runs a, a pair each, averaged as the metric is, over repositories or items."""
    has = ~np.isnan(values.value)
    kinds, kind = has[:1], np.zeros(len(has), np.int64)
    if (has != kinds).any():
        kinds, kind = np.unique(has, axis=0, return_inverse=True)
    n_units = len(values.repo) if over_items else int(values.repo[-1]) + 1 if len(values.repo) else 0
    counts = np.zeros((4, len(a)), np.int64)
    parts, share = np.zeros((2, len(a), n_units))
    out = Differences(np.zeros(len(a)), parts, share, np.zeros(len(a)), np.ones(len(a)), *counts)
    # Runs that have values for the same items are summed together: usually all of them.
    low, high = np.minimum(kind[a], kind[b]), np.maximum(kind[a], kind[b])
    for least, most in np.unique(np.stack([low, high], axis=1), axis=0):
        pairs = np.flatnonzero((low == least) & (high == most))
        items = np.flatnonzero(kinds[least] & kinds[most])
        if len(items):
            _add(out, values, items, a[pairs], b[pairs], average, pairs, over_items=over_items)
    return out


def _add(
    out: Differences, values: Values, items: Integers, a: Integers, b: Integers, average: Aggregate, pairs: Integers,
    *, over_items: bool,
) -> None:  # fmt: skip
    """Fill in the pairs that share the same items."""
    repos, of_repo, n_of_repo = np.unique(values.repo[items], return_inverse=True, return_counts=True)
    unit_of = items if over_items else values.repo[items]
    units, starts, counts = np.unique(unit_of, return_index=True, return_counts=True)
    runs, position = np.unique(np.concatenate([a, b]), return_inverse=True)
    first, second = position[: len(a)], position[len(a) :]
    value = values.value[np.ix_(runs, items)]
    if average == "micro" and values.numerator is not None and values.denominator is not None:
        above, below = (
            np.add.reduceat(sums[np.ix_(runs, items)], starts, axis=1)
            for sums in (values.numerator, values.denominator)
        )
        parts, residuals, share, delta = _ratios(above, below, first, second, values.of_nothing)
    else:
        sums = np.add.reduceat(value, starts, axis=1)
        weigh = AVERAGES[average].share or AVERAGES["macro"].share
        assert weigh is not None, "items weigh alike where no ratio says how much they do"
        share = weigh(counts, n_of_repo[of_repo[starts]], len(repos))[None, :]
        parts = (sums[second] - sums[first]) / counts * share
        delta = parts.sum(axis=1)
        residuals = parts - delta[:, None] * share
    out.delta[pairs], out.parts[np.ix_(pairs, units)], out.share[np.ix_(pairs, units)] = delta, parts, share
    out.error[pairs], out.degrees[pairs] = standard_error(residuals, share)
    out.n_items[pairs], out.n_repos[pairs] = len(items), len(repos)
    for run in np.unique(first):
        mine = first == run
        others = value[second[mine]]
        out.wins[pairs[mine]] = (others > value[run]).sum(axis=1)
        out.losses[pairs[mine]] = (others < value[run]).sum(axis=1)


def standard_error(residuals: Floats, share: Floats) -> tuple[Floats, Floats]:
    """Standard errors and degrees of freedom of differences, with Bell and McCaffrey's correction as for one system.

    `residuals` (pairs, units) sum to 0, the units' shares of the data (pairs or 1, units) to 1.
    """
    several = share.max(axis=1, keepdims=True) < ALL_BUT_NOTHING
    rest = np.where(several, 1 - share, np.nan)
    weighted = share**2 / rest
    # Where neither ratio has anything to divide by no unit has a share: nothing scatters.
    with np.errstate(divide="ignore"):
        degrees = 1 / ((share**2).sum(axis=1) + weighted.sum(axis=1) ** 2 - (weighted**2).sum(axis=1))
    error = np.sqrt((residuals**2 / rest).sum(axis=1))
    return error, np.broadcast_to(np.where(np.isnan(degrees), 1.0, degrees), error.shape)


def _ratios(
    above: Floats, below: Floats, first: Integers, second: Integers, of_nothing: float
) -> tuple[Floats, Floats, Floats, Floats]:
    """Parts, residuals and shares (pairs, units) and differences (pairs) of ratios of sums (runs, units)."""
    tops, bottoms = above.sum(axis=1), below.sum(axis=1)
    usable = np.where(bottoms > 0, bottoms, np.inf)
    ratio = np.where(bottoms > 0, tops / usable, of_nothing)
    delta = ratio[second] - ratio[first]
    both = bottoms[first] + bottoms[second]
    common = np.where(both > 0, (tops[first] + tops[second]) / np.where(both > 0, both, 1), 0.0)[:, None]

    def apart(run: Integers, rate: Floats) -> Floats:
        return (above[run] - rate * below[run]) / usable[run][:, None]

    parts = apart(second, common) - apart(first, common)
    residuals = apart(second, ratio[second][:, None]) - apart(first, ratio[first][:, None])
    share = (below[first] / usable[first][:, None] + below[second] / usable[second][:, None]) / 2
    return parts, residuals, share, delta


def flip_tests(diffs: Differences, family: Mask) -> tuple[Floats, Floats]:
    """Two-sided sign-flip tests over units: p of every pair, and p adjusted for the pairs of a family.

    Were two systems alike, a unit's part could as well have the other sign. p is how often flips give a
    difference as large. Adjusted it is by Westfall and Young's step-down maximum over the same flips, of the difference
    over its standard error, so that it is of one scale in all pairs, and no less than p; NaN outside the family.
    """
    n_pairs, n_repos = diffs.parts.shape
    # Of length 1, so that what is a tie is of one size in all pairs.
    norm = np.sqrt((diffs.parts**2).sum(axis=1, keepdims=True))
    unit = np.divide(diffs.parts, norm, out=np.zeros_like(diffs.parts), where=norm > 0)
    # Small sets of units give many pairs the same parts, and none at all to what is alike: each is flipped once.
    unit, distinct = np.unique(unit, axis=0, return_inverse=True)
    itself = np.ones((1, n_repos))
    observed = np.abs(itself @ unit.T)[0] - _TIE
    # Ascending: the running maximum at a pair is over all pairs that are no more extreme than it.
    pairs = np.flatnonzero(family)
    order = pairs[np.argsort(Studentised(diffs, pairs).of(itself)[0], kind="stable")]
    studentised = Studentised(diffs, order)
    in_family = studentised.of(itself)[0] - _TIE
    n_plain, n_stepped, n_flips = np.zeros(len(unit), np.int64), np.zeros(len(order), np.int64), 0
    for block in flips(n_repos, max(1, _BLOCK_NUMBERS // max(n_pairs, n_repos, 1))):
        # Not more at once than a core's own memory holds: half of the time would go into the rest.
        for signs in np.array_split(block, -(-len(block) * n_pairs // _AT_ONCE) or 1):
            totals = signs @ unit.T
            n_plain += (np.abs(totals, out=totals) >= observed).sum(axis=0)
            if len(order):
                n_stepped += (np.maximum.accumulate(studentised.of(signs), axis=1) >= in_family).sum(axis=0)
        n_flips += len(block)
    # Of drawn flips the one that was observed is another one.
    more = int(n_repos > MOST_ENUMERATED)
    p, adjusted = ((n_plain + more) / (n_flips + more))[distinct], np.full(n_pairs, np.nan)
    stepped = np.maximum((n_stepped + more) / (n_flips + more), p[order])
    adjusted[order] = np.maximum.accumulate(stepped[::-1])[::-1]
    return p, adjusted


class Studentised:
    """Differences over their standard errors, for any signs of the repositories' parts: between 0 and 1.

    The statistic is d² / (v + d²), which grows with |d| / √v and needs no division by a variance of 0. The variance of
    flipped parts s·x, shares w and sum d is Σ (s·x − d·w)² / (1 − w), multiplied out. From few repositories it is so
    uncertain that the least of many variances would decide; so it is moderated, as Smyth's t is, by what no flip
    changes: the family's median of Σ x² / (1 − w).
    """

    def __init__(self, diffs: Differences, pairs: Integers) -> None:
        parts, share = diffs.parts[pairs], diffs.share[pairs]
        rest = np.maximum(1 - share, 1 - ALL_BUT_NOTHING)
        self._squares, self._shares = (parts**2 / rest).sum(axis=1), (share**2 / rest).sum(axis=1)
        scale = float(np.median(self._squares)) if len(pairs) else 0.0
        self._scale = scale or 1.0
        parts, self._squares = parts / np.sqrt(self._scale), self._squares / self._scale
        self._parts, self._crossed = parts, parts * share / rest
        self._weight = diffs.degrees[pairs] / (diffs.degrees[pairs] + _PRIOR_DEGREES)

    def of(self, signs: Floats) -> Floats:
        """(flips, pairs) the statistic."""
        total = signs @ self._parts.T
        variance = self._squares - 2 * total * (signs @ self._crossed.T) + total**2 * self._shares
        moderated = self._moderated(variance)
        statistic: Floats = total**2 / (moderated + total**2)
        return statistic

    def height(self, signs: Floats, residuals: Floats, share: Floats, bar: float, size: Floats) -> Floats:
        """(flips, pairs) how large a difference is whose statistic is at a bar, where the residuals have other signs.

        The residuals, (pairs, units), are larger by `size`, (flips, pairs).
        """
        rest = np.maximum(1 - share, 1 - ALL_BUT_NOTHING)
        total = signs @ residuals.T
        squares, crossed = (residuals**2 / rest).sum(axis=1), residuals * share / rest
        variance = size**2 * (squares - 2 * total * (signs @ crossed.T) + total**2 * (share**2 / rest).sum(axis=1))
        height: Floats = np.sqrt(self._scale * self._moderated(variance / self._scale) * bar / max(1 - bar, 1e-12))
        return height

    def _moderated(self, variance: Floats) -> Floats:
        moderated: Floats = self._weight * np.maximum(variance, 0) + (1 - self._weight)
        return moderated


def flips(n_repos: int, n_rows: int) -> Iterator[Floats]:
    """Signs of repositories, some flips at a time: (flips, repositories).

    Of all flips those that keep the first sign are enough: the others mirror them.
    """
    if n_repos <= MOST_ENUMERATED:
        n = 1 << max(n_repos - 1, 0)
        bits = np.arange(n)[:, None] >> np.arange(n_repos)
        yield np.where(bits & 1, -1.0, 1.0)
        return
    yield from (signs.astype(np.float64) for signs in _drawn_signs(n_repos, n_rows))


@lru_cache(maxsize=4)
def _drawn_signs(n_repos: int, n_rows: int) -> list[NDArray[np.int8]]:
    """The signs, a block after the other: metric after metric and slice after slice is tested by the same."""
    generator = np.random.default_rng(_SEED)
    rows = (min(n_rows, N_FLIPS - start) for start in range(0, N_FLIPS, n_rows))
    return [1 - 2 * generator.integers(0, 2, (n, n_repos), np.int8) for n in rows]
