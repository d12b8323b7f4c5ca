"""Every reference on a folder of benchmark data, and the table of what came out."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from fnmatch import fnmatchcase
from pathlib import Path

import polars as pl

from evaluate.results import parity as package
from evaluate.results.parity.reference import Reference, Work, compared
from lake.declarations import discover
from lake.errors import unknown_name

WHOLE = "all"
"""What the one part of the table is called."""


def references() -> dict[str, Reference]:
    """Every reference there is, by name."""
    return discover(package, Reference)


def compare_all(
    source: Path, patterns: Sequence[str], say: Callable[[str], None], folder: Path | None = None
) -> pl.DataFrame:
    """The rows of table `parity`, worked out on a folder of benchmark data in a lake of their own.

    Args:
        source: The folder.
        patterns: Names of references, globs allowed; all of them where there is none.
        say: Told of every command that is run.
        folder: Where that lake and other files on the way are kept; deleted at the end without it.

    Raises:
        GoldspanError: A name means no reference, or a command ended in an error.
    """
    known = references()
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in known):
            raise unknown_name(pattern, "reference", known)
    chosen = [one for name, one in known.items() if not patterns or any(fnmatchcase(name, p) for p in patterns)]
    kept = nullcontext(folder) if folder else tempfile.TemporaryDirectory(prefix="goldspan-parity-")
    with kept as place:
        work = Work(source.resolve(), Path(place).resolve(), say)
        return pl.concat([compared(one, work) for one in chosen])


def lines(rows: pl.DataFrame) -> Iterator[str]:
    """The table as text, a line per quantity."""
    width = max((len(f"{row['reference']}: {row['quantity']}") for row in rows.iter_rows(named=True)), default=0)
    yield f"{'reference: quantity':{width}}{'compared':>12}{'equal':>12}{'largest difference':>20}"
    for row in rows.iter_rows(named=True):
        named = f"{row['reference']}: {row['quantity']}"
        largest = "–" if row["largest_difference"] is None else f"{row['largest_difference']:.1e}"
        because = f"  {row['explanation']}" if row["explanation"] else ""
        yield f"{named:{width}}{row['n_compared']:12,}{row['n_equal']:12,}{largest:>20}{because}"


def differing(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with a difference that nothing explains."""
    return rows.filter(pl.col("n_equal") < pl.col("n_compared"), pl.col("explanation") == "")
