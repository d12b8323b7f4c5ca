"""How often the 95 % intervals of `evaluate.statistics.intervals` cover the true mean in simulations."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from statistics import median

import polars as pl

from lake.averages import FEWEST_REPOS

HIT_OR_MISS, SPREAD, EXTREME = KINDS = ("hit or miss", "spread between 0 and 1", "mostly near 0 or 1")
"""The simulated distributions of items' scores."""

MEANS = (0.02, 0.1, 0.35, 0.65, 0.9, 0.98)  # the true means
REPOSITORIES = (2, 4, 6, 8, 15, 40)
"""The simulated numbers of repositories; if too few to be the unit, the truth is the mean of these repositories."""

ALIKE = (0.0, 0.05, 0.2, 0.4)  # the simulated intraclass correlations of the items of a repository
N_SETS = 4_000  # simulated data sets per cell: enough to estimate 95 % within 0.7 points
TABLE = Path(__file__).with_name("simulated_coverage.csv")  # written by `python -m tests.coverage_simulation`


@cache
def simulated_coverage() -> Mapping[tuple[str, int, float], tuple[float, ...]]:
    """(distribution, repositories, correlation) → per cent of intervals that cover the truth, for each of MEANS."""
    return {row[:3]: row[3:] for row in pl.read_csv(TABLE).iter_rows()}


def coverage_note(numbers: Sequence[float], n_repos: int, *, is_hit_or_miss: bool) -> str:
    """A sentence: how often intervals cover the truth in the simulations nearest to a board with these scores."""
    mean = min(MEANS, key=lambda simulated: abs(simulated - median(numbers)))
    known = [number for number in REPOSITORIES if (number < FEWEST_REPOS) == (n_repos < FEWEST_REPOS)]
    repositories = min(known, key=lambda number: abs(number - n_repos))
    kinds = (HIT_OR_MISS,) if is_hit_or_miss else (SPREAD, EXTREME)

    def shares(alike: Sequence[float]) -> str:
        cells = [
            simulated_coverage()[kind, repositories, share][MEANS.index(mean)] for kind in kinds for share in alike
        ]
        least, most = min(cells), max(cells)
        return f"{least} %" if least == most else f"{least} to {most} %"

    scores = "of 0 or 1" if is_hit_or_miss else "between 0 and 1"
    return (
        f"In the simulations most like this board (scores {scores}, a mean of {mean}, {repositories} repositories "
        f"of unequal size), 95 % intervals cover the true mean in {shares(ALIKE[:-1])} of cases at correlations of up "
        f"to {ALIKE[-2]} within repositories, and in {shares(ALIKE[-1:])} at {ALIKE[-1]}."
    )
