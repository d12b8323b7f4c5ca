import numpy as np
import pytest

from evaluate.statistics.detectable import smallest_detectable
from evaluate.statistics.pairs import Values, all_pairs, differences, flip_tests

N_SYSTEMS, N_FAMILIES, N_AGAIN = 10, 40, 5
UNEQUAL = (96, 87, 46, 37, 33, 20, 8, 3)
"""Items of repositories that are as unequal as RepoEval's."""


def _values(rng: np.random.Generator, sizes: tuple[int, ...], shift: float = 0.0) -> Values:
    """Ten systems that are alike, but for the second, which is better by `shift`."""
    repo = np.repeat(np.arange(len(sizes)), sizes)
    of_repo = rng.normal(0, 0.05, (N_SYSTEMS, len(sizes)))[:, repo]
    value = 0.5 + rng.normal(0, 0.2, len(repo)) + of_repo + rng.normal(0, 0.2, (N_SYSTEMS, len(repo)))
    value[1] += shift
    return Values(value, repo)


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [UNEQUAL, (6,) * 60], ids=["unequal", "sixty"])
def test_the_stated_difference_is_found_in_four_of_five_cases(sizes: tuple[int, ...]) -> None:
    rng = np.random.default_rng(5)
    first, second = all_pairs(N_SYSTEMS)
    family, pair = np.ones(len(first), np.bool_), np.flatnonzero((first == 0) & (second == 1))[0]
    n_found = 0
    for _ in range(N_FAMILIES):
        least = smallest_detectable(differences(_values(rng, sizes), first, second, "macro"), family)[pair]
        for _ in range(N_AGAIN):
            _, adjusted = flip_tests(differences(_values(rng, sizes, least), first, second, "macro"), family)
            n_found += int(adjusted[pair] < 0.05)
    # An unadjusted t test of the pair gives 27 to 49 % here.
    assert 0.7 <= n_found / (N_FAMILIES * N_AGAIN) <= 0.9


def test_outside_the_family_and_where_nothing_decides_it_is_not_known() -> None:
    first, second = all_pairs(3)
    values = Values(np.random.default_rng(1).normal(0.5, 0.1, (3, 12)), np.repeat(np.arange(4), 3))
    found = differences(values, first, second, "macro")
    # Four units have eight flips: no p is below 0.125.
    assert np.isnan(smallest_detectable(found, np.array([True, True, True]))).all()
    assert np.isnan(smallest_detectable(found, np.array([False, False, False]))).all()
