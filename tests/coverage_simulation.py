"""Simulate how often 95 % intervals cover the truth, and keep the table: `python -m tests.coverage_simulation`."""

import sys
from collections.abc import Iterator
from itertools import product

from report.methods.interval_coverage import ALIKE, KINDS, MEANS, N_SETS, REPOSITORIES, TABLE
from tests.evaluate.statistics.simulated import coverage


def table() -> Iterator[str]:
    yield ",".join(["scores", "repositories", "alike", *map(str, MEANS)]) + "\n"
    for kind, n_repos, alike in product(KINDS, REPOSITORIES, ALIKE):
        shares = [round(coverage(kind, mean, n_repos, alike, N_SETS), 1) for mean in MEANS]
        yield ",".join(map(str, (kind, n_repos, alike, *shares))) + "\n"


if __name__ == "__main__":
    TABLE.write_text("".join(table()), encoding="utf-8")
    sys.stdout.write(f"{TABLE}\n")
