"""What of this project's numbers somebody outside it computed too: how many of the values are equal.

`python -m tests.parity` writes the table; the tests compare it with what they find.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple

PARITY_TABLE = Path(__file__).with_suffix(".csv")


class Parity(NamedTuple):
    """One quantity that somebody outside this project, the `reference`, computed too.

    `n_equal` of the `n_compared` values are equal: to 1e-12, of values beyond 1 in proportion. `explanation` is why
    some are known to differ.
    """

    reference: str
    quantity: str
    benchmark: str
    kind: str
    n_compared: int
    n_equal: int
    largest_difference: float | None
    explanation: str


def parity_rows() -> list[Parity]:
    """Every quantity that was compared."""
    with PARITY_TABLE.open(encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file)
    return [
        Parity(
            reference,
            quantity,
            benchmark,
            kind,
            int(n),
            int(n_equal),
            float(difference) if difference else None,
            explanation,
        )
        for reference, quantity, benchmark, kind, n, n_equal, difference, explanation in rows
    ]
