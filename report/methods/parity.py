"""What of this project's numbers somebody outside it computed too: how many of the values are equal.

`python -m tests.parity` writes the table; the tests compare it with what they find.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import polars as pl

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
    kinds = {"n_compared": pl.Int64, "n_equal": pl.Int64, "largest_difference": pl.Float64}
    rows = pl.read_csv(PARITY_TABLE, schema={name: kinds.get(name, pl.String()) for name in Parity._fields})
    texts = pl.col(pl.String).fill_null("")
    return [Parity(*row) for row in rows.with_columns(texts).iter_rows()]
