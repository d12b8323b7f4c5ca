"""The smallest difference that the test of a family of pairs would find in four of five cases.

The test is simulated on each pair's own residuals: what its units add beyond the pair's difference keeps its size and
is given signs at random, and a difference is added to all units by their shares of the data. For every such draw the
least added difference that is found follows without trying any: the studentised difference has to pass what the maximum
over the family passes in one of twenty flips, and the pair's own sign-flip test has to find it too, as an adjusted p is
never below the plain one.
"""

import numpy as np

from evaluate.statistics.pairs import MOST_ENUMERATED, Differences, Studentised, flips
from lake.exact import Floats, Mask

LEVEL, POWER = 0.05, 0.8
N_DRAWS = 200
"""So many draws tell the share that is found to three points."""
_MOST_FLIPS = 256
"""So many of a pair's own flips are tried."""
_Z = 1.959963984540054
"""Beyond so many standard deviations a sum of many flipped parts lies in one of twenty flips."""
_SEED = 20_260_102


def smallest_detectable(diffs: Differences, family: Mask) -> Floats:
    """(pairs,) the difference that is found in four of five cases; NaN outside the family, and where none is."""
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
    # Each with its mirror image, so that which of two systems comes first changes nothing.
    signs = np.concatenate([signs, -signs])
    share = diffs.share[pairs]
    # A unit's own share of the difference was taken from it: what is left is too small by that.
    residuals = (diffs.parts[pairs] - diffs.delta[pairs, None] * share) / np.sqrt(np.maximum(1 - share, 1e-6))
    # How large the residuals truly are is as uncertain as their variance.
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
    """What a pair's studentised difference has to pass to be found, between 0 and 1.

    Stepping down, a pair is compared with the maximum over the flips of the pairs that are no more extreme than it, and
    is found only where all more extreme ones are. The pairs are in ascending order of what was observed of them.
    """
    # As many flips as memory holds the maxima over pairs of.
    n_rows = max(1, 4_000_000 // len(observed))
    signs = next(flips(n_units, n_rows))[:n_rows]
    passed = np.quantile(np.maximum.accumulate(studentised.of(signs), axis=1), 1 - LEVEL, axis=0, method="higher")
    missed = np.flatnonzero(observed < passed)
    first = int(missed[-1]) + 1 if len(missed) else 0
    # Above the last that is not found; between two observed ones the lower decides how many are no more extreme.
    edges = np.append(observed[first:], 1.0)
    below = observed[first - 1] if first else 0.0
    for position, edge in enumerate(edges):
        needed = max(below, float(passed[min(first + position, len(passed) - 1)]))
        if needed <= edge:
            return needed
        below = edge
    return float(passed[-1])


def _plain(flipped: Floats, drawn: Floats, share: Floats) -> Floats:
    """(draws,) the least added difference that the pair's own sign-flip test finds; infinite where it finds none.

    `flipped` are the residuals of each draw, (draws, units), `drawn` their sums; the difference is added by `share`.
    """
    is_used = share > 0
    flipped, share = flipped[:, is_used], share[is_used]
    if is_used.sum() > MOST_ENUMERATED:
        return _of_many(flipped, drawn, share)
    signs = next(flips(int(is_used.sum()), 1 << MOST_ENUMERATED))[1:]
    if len(signs) > _MOST_FLIPS:
        signs = signs[np.random.default_rng(_SEED).choice(len(signs), _MOST_FLIPS, replace=False)]
    n_allowed = int(np.ceil(LEVEL * (len(signs) + 1))) - 2
    if n_allowed < 0:
        return np.full(len(drawn), np.inf)
    sums, weights = flipped @ signs.T, signs @ share
    # A flip is no larger than what was observed where the difference is beyond both of these.
    above, below = np.maximum(1 - weights, 1e-12), np.maximum(1 + weights, 1e-12)
    beyond = np.maximum((sums - drawn[:, None]) / above, (-sums - drawn[:, None]) / below)
    if len(signs) <= n_allowed:
        return -drawn
    least: Floats = -np.partition(-beyond, n_allowed, axis=1)[:, n_allowed]
    return least


def _of_many(flipped: Floats, drawn: Floats, share: Floats) -> Floats:
    """The least difference that is found where parts are many: the sum of flipped ones is taken as normal."""
    squares, crossed, shares = (flipped**2).sum(axis=1), flipped @ share, float((share**2).sum())
    a, b, c = 1 - _Z**2 * shares, drawn - _Z**2 * crossed, drawn**2 - _Z**2 * squares
    if a <= 0:
        return np.full(len(drawn), np.inf)
    root = np.sqrt(np.maximum(b**2 - a * c, 0))
    least: Floats = (root - b) / a
    return least
