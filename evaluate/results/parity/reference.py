"""A reference from outside, and how the values of both sides are compared."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import polars as pl

from lake.commands import run_stage
from lake.store import Lake
from lake.tables import table

TOLERANCE = 1e-12
"""Values that differ by no more are equal, of values beyond 1 in proportion: sums of doubles in another order differ in
their last digits."""


class Values(NamedTuple):
    """The values of one quantity, computed by both sides.

    Attributes:
        quantity: What was computed.
        ours: The key's columns and `value`; null where we give none.
        theirs: The same columns. What one side alone has counts as a difference.
        explanation: Why some are known to differ.
    """

    quantity: str
    ours: pl.DataFrame
    theirs: pl.DataFrame
    explanation: str = ""


@dataclass(frozen=True)
class Work:
    """Where references are worked out: a lake of their own, filled by the commands that anyone would type.

    Attributes:
        source: The folder of benchmark data, with what others published of it.
        folder: For files on the way; it is deleted at the end.
        say: Told what is run.
    """

    source: Path
    folder: Path
    say: Callable[[str], None]

    @property
    def lake(self) -> Lake:
        """The lake."""
        return Lake(self.folder / "lake")

    def run(self, *arguments: str) -> None:
        """Run a stage's command on that lake, from the checkout.

        Raises:
            GoldspanError: It ended in an error.
        """
        run_stage(arguments, self.lake.root, self.say)


@dataclass(frozen=True)
class Reference:
    """Something outside this project that computed what we compute.

    Attributes:
        name: What it is called.
        benchmark: On whose data.
        kind: What sort of reference it is.
        needs: Files and folders below the source without which it cannot be worked out.
        packages: Python packages it runs.
        values: The values of both sides, quantity by quantity.
    """

    name: str
    benchmark: str
    kind: Literal["independent library", "published run", "recorded official output", "raw trajectory"]
    needs: tuple[str, ...]
    values: Callable[[Work], Iterator[Values]]
    packages: tuple[str, ...] = ()

    def why_not_run(self, source: Path) -> str:
        """What is missing to work it out; empty where nothing is."""
        if absent := [name for name in self.needs if not (source / name).exists()]:
            return f"not run: {absent[0]} is not in the source"
        if absent := [name for name in self.packages if importlib.util.find_spec(name) is None]:
            return f"not run: the package {absent[0]} is not installed (pip install -r requirements-bench.txt)"
        return ""


def compared(reference: Reference, work: Work) -> pl.DataFrame:
    """The rows of table `parity` that a reference gives: one per quantity, or one that says why it was not run."""
    rows: list[dict[str, object]] = []
    if why := reference.why_not_run(work.source):
        rows.append({"quantity": "all", "n_compared": 0, "n_equal": 0, "explanation": why})
    else:
        rows += [_row(values) for values in reference.values(work)]
    common = {"reference": reference.name, "benchmark": reference.benchmark, "kind": reference.kind}
    return pl.DataFrame([{**common, "largest_difference": None, **row} for row in rows], schema=table("parity").columns)


def _row(values: Values) -> dict[str, object]:
    key = [name for name in values.ours.columns if name != "value"]
    both = values.ours.with_columns(is_ours=True).join(
        values.theirs.with_columns(is_theirs=True),
        on=key,
        how="full",
        coalesce=True,
        suffix="_theirs",
        nulls_equal=True,
    )
    difference = (pl.col("value") - pl.col("value_theirs")).abs()
    size = pl.max_horizontal(pl.lit(1.0), pl.col("value_theirs").abs())
    is_equal = (pl.col("value").is_null() & pl.col("value_theirs").is_null()) | (difference <= TOLERANCE * size)
    in_both = pl.col("is_ours").fill_null(value=False) & pl.col("is_theirs").fill_null(value=False)
    counts = both.select(
        n_compared=pl.len(),
        n_equal=(is_equal.fill_null(value=False) & in_both).sum(),
        largest_difference=difference.max(),
    ).row(0, named=True)
    return {"quantity": values.quantity, "explanation": values.explanation, **counts}
