"""Simulate how often 95 % intervals cover the truth, and keep the table: `python -m tests.coverage_simulation`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path

from lake.catalog.interval_coverage import ALIKE, KINDS, MEANS, REPOSITORIES
from tests.evaluate.statistics.simulated import coverage

N_SETS = 4_000
"""Data sets of each cell: 95 % is then known to within 0.7 points."""

TABLE = Path(__file__).parents[1] / "lake" / "catalog" / "simulated_coverage.py"

_HEAD = f'''"""How often simulated 95 % intervals cover the truth; written by `python -m tests.coverage_simulation`."""

from __future__ import annotations

from collections.abc import Mapping

N_SETS = {N_SETS}
"""Data sets of each cell."""

COVERAGE: Mapping[tuple[str, int, float], tuple[float, ...]] = {{
'''
_TAIL = '''}
"""What scores are like, repositories, how alike the items of one are → per cent of the data sets, for each mean."""
'''


def table() -> Iterator[str]:
    """The lines of the table."""
    yield _HEAD
    for kind, n_repos, alike in product(KINDS, REPOSITORIES, ALIKE):
        shares = tuple(round(coverage(kind, mean, n_repos, alike, N_SETS), 1) for mean in MEANS)
        yield f'    ("{kind}", {n_repos}, {alike}): {shares},\n'
    yield _TAIL


if __name__ == "__main__":
    TABLE.write_text("".join(table()), encoding="utf-8")
    sys.stdout.write(f"{TABLE}\n")
