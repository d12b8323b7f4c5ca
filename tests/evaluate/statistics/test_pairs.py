import itertools

import numpy as np
import pytest
from scipy import stats

from evaluate.statistics.detectable import smallest_detectable
from evaluate.statistics.pairs import Values, differences, flip_tests
from lake.averages import Aggregate
from lake.exact import Floats, Integers

UNEQUAL = (150, 107, 65, 44, 35, 27, 16, 11)
"""Items of eight repositories, as unequal as RepoEval's."""


def correlated(random: np.random.Generator, sizes: tuple[int, ...], n_systems: int) -> tuple[Floats, Integers]:
    """Values of systems that are alike, on items that are alike within a repository."""
    repo = np.repeat(np.arange(len(sizes)), sizes)
    at_repo = random.normal(0, 0.1, (n_systems, len(sizes)))[:, repo]
    return 0.5 + at_repo + random.normal(0, 0.15, len(repo)) + random.normal(0, 0.2, (n_systems, len(repo))), repo


def adjudged(values: Floats, repo: Integers) -> tuple[Floats, Floats, Floats]:
    """Delta, p and adjusted p of all pairs."""
    pairs = differences(Values(values, repo), *np.triu_indices(len(values), 1), "macro")
    return pairs.delta, *flip_tests(pairs, np.ones(len(pairs.delta), bool))


def test_ratios_of_nothing_differ_by_nothing_and_warn_of_nothing() -> None:
    nothing, repo = np.zeros((2, 6)), np.repeat(np.arange(3), 2)
    pairs = differences(Values(nothing, repo, (nothing, nothing), 1.0), *np.triu_indices(2, 1), "micro")
    assert (pairs.delta.item(), pairs.error.item()) == (0, 0)


@pytest.mark.parametrize("n_repos", [8, 20])
def test_p_is_that_of_scipys_permutation_test(n_repos: int) -> None:
    rng = np.random.default_rng(1)
    for shift in (0.0, 0.03, 0.1):
        values, repo = correlated(rng, (12,) * n_repos, 2)
        values[1] += shift
        sums = np.add.reduceat(values, np.arange(0, len(repo), 12), axis=1)
        theirs = stats.permutation_test(
            (sums[1], sums[0]),
            lambda x, y, axis: np.mean(x - y, axis=axis),
            permutation_type="samples",
            vectorized=True,
            n_resamples=40_000,
            rng=np.random.default_rng(2),
        ).pvalue
        _, p, _ = adjudged(values, repo)
        # Up to 13 repositories both try all flips; beyond, each draws its own.
        assert p[0] == pytest.approx(theirs, abs=1e-12 if n_repos <= 13 else 0.02)


def test_the_interval_between_repositories_of_one_size_is_that_of_scipys_paired_t_test() -> None:
    values, repo = correlated(np.random.default_rng(3), (20,) * 9, 2)
    means = values.reshape(2, 9, 20).mean(axis=2)
    theirs = stats.ttest_rel(means[1], means[0])
    pairs = differences(Values(values, repo), *np.triu_indices(2, 1), "macro")
    half = stats.t.ppf(0.975, pairs.degrees) * pairs.error
    assert pairs.degrees == pytest.approx(8)
    assert pairs.delta / pairs.error == pytest.approx(theirs.statistic)
    low, high = theirs.confidence_interval(0.95)
    assert [*(pairs.delta - half), *(pairs.delta + half)] == pytest.approx([low, high])


@pytest.mark.parametrize("average", ["macro", "by_repo", "micro"])
def test_differences_are_over_the_items_that_both_have(average: Aggregate) -> None:
    rng = np.random.default_rng(5)
    values, repo = correlated(rng, (9, 4, 6, 1), 4)
    values[rng.random(values.shape) < 0.3] = np.nan
    below = rng.integers(1, 9, values.shape).astype(float)
    above = np.where(np.isnan(values), 0.0, values * below)
    a, b = np.triu_indices(4, 1)
    pairs = differences(Values(values, repo, (above, below)), a, b, average)
    for pair, (first, other) in enumerate(zip(a, b, strict=True)):
        shared = np.flatnonzero(~np.isnan(values[first]) & ~np.isnan(values[other]))
        numbers = []
        for run in (first, other):
            of_repo = [values[run, shared[repo[shared] == name]].mean() for name in np.unique(repo[shared])]
            numbers.append(
                {
                    "macro": values[run, shared].mean(),
                    "by_repo": np.mean(of_repo),
                    "micro": above[run, shared].sum() / below[run, shared].sum(),
                }[average]
            )
        assert pairs.delta[pair] == pytest.approx(numbers[1] - numbers[0])
        assert pairs.parts[pair].sum() == pytest.approx(pairs.delta[pair])
        assert pairs.n_items[pair] == len(shared)
        assert pairs.n_repos[pair] == len(np.unique(repo[shared]))
        assert pairs.wins[pair] == (values[other, shared] > values[first, shared]).sum()
        assert pairs.losses[pair] == (values[other, shared] < values[first, shared]).sum()


def statistic(parts: Floats, share: Floats, degrees: float, scale: float) -> float:
    """A difference over its standard error, moderated by a scale that weighs as eight degrees of freedom."""
    delta = parts.sum()
    variance = ((parts - delta * share) ** 2 / (1 - share)).sum()
    return float(abs(delta) / np.sqrt((degrees * variance + 8 * scale) / (degrees + 8)))


def test_the_adjusted_p_is_westfall_and_youngs_step_down_maximum() -> None:
    values, repo = correlated(np.random.default_rng(6), (8, 3, 12, 5, 9, 4), 5)
    values[4] += 0.1
    pairs = differences(Values(values, repo), *np.triu_indices(5, 1), "macro")
    scale = float(np.median((pairs.parts**2 / (1 - pairs.share)).sum(axis=1)))
    rows = list(zip(pairs.parts, pairs.share, pairs.degrees, strict=True))
    observed = [statistic(parts, share, degrees, scale) for parts, share, degrees in rows]
    order = sorted(range(len(observed)), key=lambda pair: -observed[pair])
    exceeded = dict.fromkeys(order, 0)
    flips = list(itertools.product((1, -1), repeat=6))
    for signs in flips:
        flipped = [statistic(parts * signs, share, degrees, scale) for parts, share, degrees in rows]
        for position, pair in enumerate(order):
            exceeded[pair] += max(flipped[other] for other in order[position:]) >= observed[pair] - 1e-9
    _, p, adjusted = adjudged(values, repo)
    wanted, highest = {}, 0.0
    for pair in order:
        wanted[pair] = highest = max(highest, p[pair], exceeded[pair] / len(flips))
    assert adjusted == pytest.approx([wanted[pair] for pair in range(len(observed))])
    assert len(set(adjusted)) > 3


def test_what_is_outside_the_family_changes_no_adjusted_p_and_has_none() -> None:
    values, repo = correlated(np.random.default_rng(7), UNEQUAL, 5)
    a, b = np.triu_indices(5, 1)
    inside = (a < 4) & (b < 4)
    _, whole = flip_tests(differences(Values(values, repo), a, b, "macro"), inside)
    assert whole[inside] == pytest.approx(adjudged(values[:4], repo)[2])
    assert np.isnan(whole[~inside]).all()


def test_swapping_the_two_mirrors_everything() -> None:
    values, repo = correlated(np.random.default_rng(8), UNEQUAL, 6)
    values[2, ::7] = np.nan
    a, b = np.triu_indices(6, 1)
    there, back = (differences(Values(values, repo), *pair, "macro") for pair in ((a, b), (b, a)))
    assert (there.delta == -back.delta).all()
    assert (there.error == back.error).all()
    assert (there.wins == back.losses).all()
    family = np.ones(len(a), bool)
    for here, other in zip(flip_tests(there, family), flip_tests(back, family), strict=True):
        assert (here == other).all()


@pytest.mark.slow
def test_of_48_systems_that_are_alike_some_are_told_apart_in_one_of_twenty_data_sets() -> None:
    rng, n_sets = np.random.default_rng(10), 60
    n_wrong = sum((adjudged(*correlated(rng, UNEQUAL, 48))[2] < 0.05).any() for _ in range(n_sets))
    # More than 8 of 60 come of 5 % in one of 200 trials.
    assert n_wrong <= 8


N_SYSTEMS, N_FAMILIES, N_AGAIN = 10, 40, 5


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [UNEQUAL, (6,) * 60], ids=["unequal", "sixty"])
def test_the_stated_difference_is_found_in_four_of_five_cases(sizes: tuple[int, ...]) -> None:
    rng = np.random.default_rng(5)
    first, second = np.triu_indices(N_SYSTEMS, 1)
    family, pair = np.ones(len(first), np.bool_), np.flatnonzero((first == 0) & (second == 1))[0]
    n_found = 0
    for _ in range(N_FAMILIES):
        alike = Values(*correlated(rng, sizes, N_SYSTEMS))
        least = smallest_detectable(differences(alike, first, second, "macro"), family)[pair]
        for _ in range(N_AGAIN):
            values, repo = correlated(rng, sizes, N_SYSTEMS)
            values[1] += least
            _, adjusted = flip_tests(differences(Values(values, repo), first, second, "macro"), family)
            n_found += int(adjusted[pair] < 0.05)
    # An unadjusted t test of the pair gives 36 to 45 % here.
    assert 0.7 <= n_found / (N_FAMILIES * N_AGAIN) <= 0.9


def test_outside_the_family_and_where_nothing_decides_it_is_not_known() -> None:
    first, second = np.triu_indices(3, 1)
    values = Values(np.random.default_rng(1).normal(0.5, 0.1, (3, 12)), np.repeat(np.arange(4), 3))
    pairs = differences(values, first, second, "macro")
    # Four units have eight flips: no p is below 0.125.
    assert np.isnan(smallest_detectable(pairs, np.array([True, True, True]))).all()
    assert np.isnan(smallest_detectable(pairs, np.array([False, False, False]))).all()
