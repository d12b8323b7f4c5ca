"""References from outside on a folder of benchmark data: the values of both sides, and how many are equal."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import polars as pl

from lake.declarations import discover
from lake.errors import Exit, GoldspanError
from lake.store import Lake
from report.methods.parity import Parity
from tests.parity import references as package
from tests.tiny import command

TOLERANCE = 1e-12
"""Values that differ by no more are equal, of values beyond 1 in proportion: sums of doubles in another order differ in
their last digits."""


class Values(NamedTuple):
    """The values of one quantity by both sides: key columns and `value`, null if not given.

    `explanation` says why some are known to differ; a row that only one side has is a difference.
    """

    quantity: str
    ours: pl.DataFrame
    theirs: pl.DataFrame
    explanation: str = ""


@dataclass(frozen=True)
class Work:
    """A lake of its own, filled by commands from the data in `source`; `folder` is for files on the way."""

    source: Path
    folder: Path
    say: Callable[[str], None]

    @property
    def lake(self) -> Lake:
        """The lake."""
        return Lake(self.folder / "lake")

    def run(self, *arguments: str) -> None:
        """Run a stage's command on that lake; raises GoldspanError if it fails."""
        self.say(f"python -m {' '.join(arguments)}")
        result = command(*arguments, "--lake", self.lake.root)
        if result.code not in {Exit.DONE, Exit.INCOMPLETE}:
            message = f"python -m {arguments[0]} ended with {result.code}"
            raise GoldspanError(message, where=" ".join(arguments), examples=result.err.strip().splitlines()[-3:])

    def rows(self, name: str, benchmark: str, system: str, task: str | None = None, **folders: str) -> pl.LazyFrame:
        """The rows of a table that the runs of a system have; under one task alone where it is named."""
        runs = self.lake.scan("runs", benchmark=benchmark).filter(system=system)
        runs = runs.filter(task=task) if task else runs
        return self.lake.scan(name, benchmark=benchmark).filter(**folders).join(runs, on="run_id", how="semi")


@dataclass(frozen=True)
class Reference:
    """A published evaluator of a benchmark, whose `values` are compared with ours."""

    name: str
    benchmark: str
    kind: Literal["independent library", "published run", "recorded official output", "raw trajectory"]
    values: Callable[[Work], Iterator[Values]]


def compared(reference: Reference, work: Work) -> list[Parity]:
    """The rows that a reference gives, one per quantity."""
    return [_row(reference, values) for values in reference.values(work)]


def _row(reference: Reference, values: Values) -> Parity:
    key = [name for name in values.ours.columns if name != "value"]
    ours, theirs = values.ours.with_columns(is_ours=True), values.theirs.with_columns(is_theirs=True)
    both = ours.join(theirs, on=key, how="full", coalesce=True, suffix="_theirs", nulls_equal=True)
    difference = (pl.col("value") - pl.col("value_theirs")).abs()
    is_near = difference <= TOLERANCE * pl.max_horizontal(pl.lit(1.0), pl.col("value_theirs").abs())
    is_equal = is_near | pl.all_horizontal(pl.col("value", "value_theirs").is_null())
    counts = both.select(
        n_compared=pl.len(),
        # Null where one of the two is not there, which is no count.
        n_equal=(is_equal & pl.col("is_ours") & pl.col("is_theirs")).sum(),
        largest_difference=difference.max(),
    )
    n_compared, n_equal, largest = counts.row(0)
    of = (reference.name, values.quantity, reference.benchmark, reference.kind)
    return Parity(*of, n_compared, n_equal, largest, values.explanation)


def references() -> dict[str, Reference]:
    """Every reference there is, by name."""
    return discover(package, Reference)


def compare_all(source: Path, say: Callable[[str], None], folder: Path | None = None) -> list[Parity]:
    """The rows of every reference by name and quantity; the lake is kept in `folder`, or deleted without one."""
    kept = nullcontext(folder) if folder else tempfile.TemporaryDirectory(prefix="goldspan-parity-")
    with kept as kept_in:
        work = Work(source.resolve(), Path(kept_in).resolve(), say)
        return sorted(row for reference in references().values() for row in compared(reference, work))
