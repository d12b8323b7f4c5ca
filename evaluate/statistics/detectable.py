"""The smallest difference that the test of a family of pairs would detect in four of five cases.

The test is simulated on each pair's own residuals with random signs; a difference is added to all units in proportion
to their shares of the data. It is detected if the studentised difference exceeds the 95 % quantile of the maximum over
the family's flips, and the pair's own sign-flip test is significant too.
"""

import numpy as np

from evaluate.statistics.pairs import MOST_ENUMERATED, Differences, Studentised, flips
from lake.exact import Floats, Mask

LEVEL, POWER = 0.05, 0.8
N_DRAWS = 200
"""Enough draws to estimate the share of detected differences to three percentage points."""
_MOST_FLIPS = 256
"""The maximum number of a pair's own flips to try."""
_Z = 1.959963984540054
"""The sum of many flipped parts is beyond this many standard deviations, on either side, in one of twenty flips."""
_SEED = 20_260_102


def smallest_detectable(diffs: Differences, family: Mask) -> Floats:
    """(pairs,) the difference detected in four of five cases; NaN outside the family, and where none is detected."""
    least = np.full(len(diffs.delta), np.nan)
    pairs = np.flatnonzero(family)
    n_units = diffs.parts.shape[1]
    if not len(pairs) or n_units < 2:
        return least
    studentised = Studentised(diffs, pairs)
    itself = studentised.of(np.ones((1, n_units)))[0]
    order = np.argsort(itself, kind="stable")
    bar = _bar(Studentised(diffs, pairs[order]), itself[order], n_units)
    generator = np.random.default_rng(_SEED)
    signs = np.where(generator.integers(0, 2, (N_DRAWS // 2, n_units)), 1.0, -1.0)
    # Each draw has its mirror image, so that the order of the two systems changes nothing.
    signs = np.concatenate([signs, -signs])
    share = diffs.share[pairs]
    # A unit's residual is too small by its own contribution to the difference that was subtracted.
    residuals = (diffs.parts[pairs] - diffs.delta[pairs, None] * share) / np.sqrt(np.maximum(1 - share, 1e-6))
    # The true size of the residuals is as uncertain as their variance.
    degrees = diffs.degrees[pairs]
    size = np.tile(np.sqrt(degrees / generator.chisquare(degrees, (N_DRAWS // 2, len(pairs)))), (2, 1))
    drawn = size * (signs @ residuals.T)
    by_family = studentised.height(signs, residuals, share, bar, size) - drawn
    for number, pair in enumerate(pairs):
        plain = _plain(size[:, [number]] * signs * residuals[number], drawn[:, number], share[number])
        needed = np.maximum(by_family[:, number], plain)
        reached = np.quantile(needed, POWER, method="inverted_cdf")
        least[pair] = reached if np.isfinite(reached) else np.nan
    return least


def _bar(studentised: Studentised, observed: Floats, n_units: int) -> float:
    """The threshold, between 0 and 1, of a detected studentised difference; `observed` ones are ascending."""
    # As many flips as fit in memory, with a maximum for every pair; as rows, so that sums keep their last bits.
    n_flips = max(1, 4_000_000 // len(observed))
    signs = next(flips(n_units, n_flips)).T.copy()[:n_flips]
    passed = np.quantile(np.maximum.accumulate(studentised.of(signs), axis=1), 1 - LEVEL, axis=0, method="higher")
    missed = np.flatnonzero(observed < passed)
    first = int(missed[-1]) + 1 if len(missed) else 0
    # Search above the last undetected pair; of two observed values, the lower decides which pairs are compared.
    needed = np.maximum(np.append(0.0, observed), np.append(passed, passed[-1]))[first:]
    return float(needed[needed <= np.append(observed, 1.0)[first:]][0])


def _plain(flipped: Floats, drawn: Floats, share: Floats) -> Floats:
    """The smallest added difference that the pair's own sign-flip test detects, for each draw; infinite if none."""
    is_used = share > 0
    flipped, share = flipped[:, is_used], share[is_used]
    if is_used.sum() > MOST_ENUMERATED:
        # The sum of many flipped parts is approximated as normal.
        squares, crossed, shares = (flipped**2).sum(axis=1), flipped @ share, float((share**2).sum())
        a, b, c = 1 - _Z**2 * shares, drawn - _Z**2 * crossed, drawn**2 - _Z**2 * squares
        root = np.sqrt(np.maximum(b**2 - a * c, 0))
        return (root - b) / a if a > 0 else np.full(len(drawn), np.inf)
    signs = next(flips(int(is_used.sum()), 1 << MOST_ENUMERATED)).T.copy()[1:]
    if len(signs) > _MOST_FLIPS:
        signs = signs[np.random.default_rng(_SEED).choice(len(signs), _MOST_FLIPS, replace=False)]
    n_allowed = int(np.ceil(LEVEL * (len(signs) + 1))) - 2
    if n_allowed < 0:
        return np.full(len(drawn), np.inf)
    sums, weights = flipped @ signs.T, signs @ share
    # A flipped sum is no larger than the observed one if the added difference exceeds both of these.
    above, below = np.maximum(1 - weights, 1e-12), np.maximum(1 + weights, 1e-12)
    beyond = np.maximum((sums - drawn[:, None]) / above, (-sums - drawn[:, None]) / below)
    least: Floats = -np.partition(-beyond, n_allowed, axis=1)[:, n_allowed]
    return least
