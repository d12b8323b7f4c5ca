import pytest

from report.methods.interval_coverage import ALIKE, KINDS, MEANS, coverage_note, simulated_coverage


@pytest.mark.parametrize(
    ("numbers", "n_repos", "cell", "mean"),
    [([0.09], 9, 8, "0.1"), ([0.9, 0.01, 0.0], 300, 40, "0.02"), ([0.4], 5, 4, "0.35"), ([0.4], 1, 2, "0.35")],
)
def test_a_board_quotes_the_cell_nearest_to_it(numbers: list[float], n_repos: int, cell: int, mean: str) -> None:
    said = coverage_note(numbers, n_repos, is_hit_or_miss=True)
    assert f"(scores of 0 or 1, a mean of {mean}, {cell} repositories of unequal size)" in said
    cells = [simulated_coverage()["hit or miss", cell, alike][MEANS.index(float(mean))] for alike in ALIKE]
    assert f"in {min(cells[:3])} to {max(cells[:3])} % of cases up to a correlation of 0.2" in said
    assert f"in {cells[3]} % at 0.4" in said


def test_scores_between_0_and_1_have_the_range_of_both_kinds() -> None:
    cells = [simulated_coverage()[kind, 8, 0.4][2] for kind in KINDS[1:]]
    assert f"in {min(cells)} to {max(cells)} % at 0.4" in coverage_note([0.3], 8, is_hit_or_miss=False)
