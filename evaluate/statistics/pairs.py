"""Pairs of systems on the items that both have a value for: differences by repository or item, and sign-flip tests."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from lake.averages import AVERAGES, Aggregate
from lake.exact import Floats, Integers, Mask

MOST_ENUMERATED, N_FLIPS = 13, 10_000
"""With up to this many units all sign flips are enumerated; with more, this many are drawn."""
_SEED = 20_260_101
_BLOCK_NUMBERS = 1 << 20
"""The size of a block of signs and differences drawn together: other sizes would give other draws."""
_AT_ONCE = 1 << 16
_PRIOR_DEGREES = 8
"""The weight of the family's scale against a pair's variance, in degrees of freedom. Of 48 systems on eight
repositories as unequal as RepoEval's, one ten points better differs significantly from 99 % of the others (21 %
without)."""
ALL_BUT_NOTHING = 1 - 1e-6
"""A repository with a larger share of the data counts as the only one: how repositories differ is then unknown."""
_TIE = 1e-9
"""Statistics closer than this are equal: sums of floats differ in their last bits."""


@dataclass(frozen=True)
class Values:
    """One metric of some runs over some items, as arrays (runs, items); `repo` is (items,).

    `sums` are the numerators and denominators of a ratio of sums, which is `of_nothing` if the denominators sum to 0. A
    run without a value for an item has NaN as value and 0 in both. `repo` numbers each item's repository, ascending.
    """

    value: Floats
    repo: Integers
    sums: tuple[Floats, Floats] | None = None
    of_nothing: float = 0.0


@dataclass(frozen=True)
class Differences:
    """The second run's number minus the first's, for every pair, over the items that both have.

    `parts` (pairs, units) sum to `delta`, `share` (pairs, units), each unit's share of the data, to 1. `error` is NaN
    with a single unit; `wins` counts items where the second's value is greater.
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


def differences(
    values: Values, a: Integers, b: Integers, average: Aggregate, *, over_items: bool = False
) -> Differences:
    """The differences b − a of pairs of runs, averaged as the metric is, with repositories or items as units."""
    has = ~np.isnan(values.value)
    kinds, kind = has[:1], np.zeros(len(has), np.int64)
    if (has != kinds).any():
        kinds, kind = np.unique(has, axis=0, return_inverse=True)
    unit_of = np.arange(len(values.repo)) if over_items else values.repo
    parts, share = np.zeros((2, len(a), int(unit_of.max(initial=-1)) + 1))
    out = Differences(
        np.zeros(len(a)), parts, share, np.zeros(len(a)), np.ones(len(a)), *np.zeros((4, len(a)), np.int64)
    )
    # Runs with values for the same items (usually all runs) are summed together.
    low, high = np.minimum(kind[a], kind[b]), np.maximum(kind[a], kind[b])
    for least, most in np.unique(np.stack([low, high], axis=1), axis=0):
        pairs = np.flatnonzero((low == least) & (high == most))
        items = np.flatnonzero(kinds[least] & kinds[most])
        if not len(items):
            continue
        repos, of_repo, n_of_repo = np.unique(values.repo[items], return_inverse=True, return_counts=True)
        units, starts, counts = np.unique(unit_of[items], return_index=True, return_counts=True)
        runs, position = np.unique(np.concatenate([a[pairs], b[pairs]]), return_inverse=True)
        first, second = np.split(position, 2)
        value = values.value[np.ix_(runs, items)]
        if average == "micro" and values.sums:
            above, below = (np.add.reduceat(sums[np.ix_(runs, items)], starts, axis=1) for sums in values.sums)
            parts, residuals, share, delta = _ratios(above, below, first, second, values.of_nothing)
        else:
            of_units = np.add.reduceat(value, starts, axis=1)
            weigh = AVERAGES[average].share or AVERAGES["macro"].share
            assert weigh is not None, "items weigh alike where no ratio says how much they do"
            share = weigh(counts, n_of_repo[of_repo[starts]], len(repos))[None, :]
            parts = (of_units[second] - of_units[first]) / counts * share
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
    return out


def standard_error(residuals: Floats, share: Floats) -> tuple[Floats, Floats]:
    """Standard errors and degrees of freedom of differences, with Bell and McCaffrey's correction (see `intervals`).

    `residuals` (pairs, units) sum to 0, `share` (pairs or 1, units) to 1.
    """
    several = share.max(axis=1, keepdims=True) < ALL_BUT_NOTHING
    rest = np.where(several, 1 - share, np.nan)
    weighted = share**2 / rest
    # If both ratios have nothing to divide by, no unit has a share, and nothing scatters.
    with np.errstate(divide="ignore"):
        degrees = 1 / ((share**2).sum(axis=1) + weighted.sum(axis=1) ** 2 - (weighted**2).sum(axis=1))
    error = np.sqrt((residuals**2 / rest).sum(axis=1))
    return error, np.broadcast_to(np.where(np.isnan(degrees), 1.0, degrees), error.shape)


def _ratios(
    above: Floats, below: Floats, first: Integers, second: Integers, of_nothing: float
) -> tuple[Floats, Floats, Floats, Floats]:
    """The parts, residuals and shares (pairs, units) and the differences (pairs) of ratios of sums (runs, units)."""
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

    The adjusted p is Westfall and Young's step-down maximum over the same flips; it is at least p, NaN outside.
    """
    n_pairs, n_repos = diffs.parts.shape
    # Of length 1, so that the tolerance for ties is the same in all pairs.
    norm = np.sqrt((diffs.parts**2).sum(axis=1, keepdims=True))
    unit = np.divide(diffs.parts, norm, out=np.zeros_like(diffs.parts), where=norm > 0)
    # With few units many pairs have the same parts (equal runs have zeros): each distinct row is flipped once.
    numbers: dict[bytes, int] = {}
    distinct = np.array([numbers.setdefault(parts.tobytes(), len(numbers)) for parts in unit])
    unit = unit[np.unique(distinct, return_index=True)[1]]
    observed = np.abs(unit.sum(axis=1, keepdims=True)) - _TIE
    # Ascending: the running maximum at a pair is over all pairs that are no more extreme than it.
    pairs = np.flatnonzero(family)
    itself = np.ones((1, n_repos))
    order = pairs[np.argsort(Studentised(diffs, pairs).of(itself)[0], kind="stable")]
    studentised = Studentised(diffs, order)
    in_family = studentised.of(itself)[0] - _TIE
    n_plain, n_stepped, n_flips = np.zeros(len(unit), np.int64), np.zeros(len(order), np.int64), 0
    for block in flips(n_repos, max(1, _BLOCK_NUMBERS // max(n_pairs, n_repos, 1))):
        # Only as much at once as fits a core's cache: otherwise half of the time would go into memory access.
        for signs in np.array_split(block, -(-block.shape[1] * n_pairs // _AT_ONCE) or 1, axis=1):
            n_plain += np.count_nonzero(np.abs(unit @ signs) >= observed, axis=1)
            if len(order):
                statistics = np.maximum.accumulate(studentised.of(signs.T), axis=1)
                n_stepped += np.count_nonzero(statistics >= in_family, axis=0)
        n_flips += block.shape[1]
    # Drawn flips do not include the observed signs, which count as one more.
    more = int(n_repos > MOST_ENUMERATED)
    p, adjusted = ((n_plain + more) / (n_flips + more))[distinct], np.full(n_pairs, np.nan)
    stepped = np.maximum((n_stepped + more) / (n_flips + more), p[order])
    adjusted[order] = np.maximum.accumulate(stepped[::-1])[::-1]
    return p, adjusted


class Studentised:
    """Differences over their standard errors, for any signs of the units' parts: d² / (v + d²), between 0 and 1.

    The variance v of flipped parts s·x, with shares w and sum d, is Σ (s·x − d·w)² / (1 − w), multiplied out. With few
    units it is so uncertain that the smallest of many variances would decide; so it is moderated, like Smyth's t, by a
    value that no flip changes: the family's median of Σ x² / (1 − w).
    """

    def __init__(self, diffs: Differences, pairs: Integers) -> None:
        parts, share = diffs.parts[pairs], diffs.share[pairs]
        rest = np.maximum(1 - share, 1 - ALL_BUT_NOTHING)
        self._squares, self._shares = (parts**2 / rest).sum(axis=1), (share**2 / rest).sum(axis=1)
        scale = float(np.median(self._squares)) if len(pairs) else 0.0
        self._scale = scale or 1.0
        parts, self._squares = parts / np.sqrt(self._scale), self._squares / self._scale
        self._rows = np.concatenate([parts, parts * share / rest])
        self._weight = diffs.degrees[pairs] / (diffs.degrees[pairs] + _PRIOR_DEGREES)

    def of(self, signs: Floats) -> Floats:
        """The statistic, (flips, pairs), of signs (flips, units)."""
        total, crossed = np.split(signs @ self._rows.T, 2, axis=1)
        variance = self._squares - 2 * total * crossed + total**2 * self._shares
        statistic: Floats = total**2 / (self._moderated(variance) + total**2)
        return statistic

    def height(self, signs: Floats, residuals: Floats, share: Floats, bar: float, size: Floats) -> Floats:
        """(flips, pairs) the size of the difference whose statistic is at `bar`, for residuals of these sizes."""
        rest = np.maximum(1 - share, 1 - ALL_BUT_NOTHING)
        total = signs @ residuals.T
        squares, crossed = (residuals**2 / rest).sum(axis=1), residuals * share / rest
        variance = size**2 * (squares - 2 * total * (signs @ crossed.T) + total**2 * (share**2 / rest).sum(axis=1))
        height: Floats = np.sqrt(self._scale * self._moderated(variance / self._scale) * bar / max(1 - bar, 1e-12))
        return height

    def _moderated(self, variance: Floats) -> Floats:
        moderated: Floats = self._weight * np.maximum(variance, 0) + (1 - self._weight)
        return moderated


def flips(n_repos: int, n_flips: int) -> Iterator[Floats]:
    """Blocks of signs of the units, (units, flips): N_FLIPS random ones, or all with a positive last sign."""
    if n_repos <= MOST_ENUMERATED:
        bits = np.arange(1 << max(n_repos - 1, 0)) >> np.arange(n_repos)[:, None]
        yield np.where(bits & 1, -1.0, 1.0)
        return
    yield from (signs.astype(np.float64) for signs in _drawn_signs(n_repos, n_flips))


@lru_cache(maxsize=4)
def _drawn_signs(n_repos: int, n_flips: int) -> list[NDArray[np.int8]]:
    """Blocks of random signs, cached: every metric and slice is tested with the same ones."""
    generator = np.random.default_rng(_SEED)
    sizes = (min(n_flips, N_FLIPS - start) for start in range(0, N_FLIPS, n_flips))
    return [np.ascontiguousarray(1 - 2 * generator.integers(0, 2, (n, n_repos), np.int8).T) for n in sizes]
