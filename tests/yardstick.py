"""Hold a lake's numbers beside those that an earlier state of the code gave, row by row and bit by bit.

    python -m tests.yardstick take LAKE FOLDER       # the numbers of today's code, once
    python -m tests.yardstick compare FOLDER LAKE    # exit code 1 where any differs

Rows are named by what they are about. A run's id has the digest of the code in it, so a run is named by its system,
its task and, for an oracle, its protocol; a pair of runs is turned so that its first name sorts first.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from lake.store import Lake
from lake.tables import TABLES
from lake.verdict import both_ways

COMPARED = (
    *("hits", "run_items", "edits", "relevance", "scores", "step_scores", "ledger"),
    *("aggregates", "ledger_means", "effects", "repairs", "comparisons", "ranks", "boards"),
)
"""The tables that hold results. Costs are measured and differ; the rest is what ingest has read."""

_RUN_COLUMNS = ("run_id", "run_a", "run_b")
_N_EXAMPLES = 3


def named_rows(lake: Lake, table: str) -> pl.LazyFrame:
    """A table's rows with names in place of run ids."""
    rows = lake.scan(table)
    runs = lake.scan("runs").select(
        "run_id", name=pl.concat_str("system", "task", pl.col("protocol").fill_null(""), separator=" ")
    )
    for column in _RUN_COLUMNS:
        if column in TABLES[table].columns:
            rows = rows.join(runs.rename({"run_id": column}), on=column, how="left")
            # The edits of the gold patches stand under a name of their own.
            rows = rows.with_columns(pl.coalesce("name", column).alias(column)).drop("name")
    if table == "comparisons":
        rows = both_ways(rows.select(*TABLES[table].columns)).filter(pl.col("run_a") <= pl.col("run_b"))
    return rows


def differences(before: pl.LazyFrame, after: pl.LazyFrame, key: list[str]) -> Iterator[tuple[str, pl.DataFrame]]:
    """The differences between two states of a table with key columns `key`: a kind, and the keys of its rows."""
    shared = [name for name in before.collect_schema() if name in after.collect_schema() and name not in key]
    yield "only before", before.join(after, on=key, how="anti", nulls_equal=True).select(key).collect()
    yield "only after", after.join(before, on=key, how="anti", nulls_equal=True).select(key).collect()
    both = before.select(*key, *shared).join(after.select(*key, *shared), on=key, nulls_equal=True).collect()
    for name in shared:
        yield f"other {name}", both.filter(_bits(both[name]).ne_missing(_bits(both[f"{name}_right"]))).select(key)


def _bits(values: pl.Series) -> pl.Series:
    """Floats as the whole numbers that their bits are; 0 has no sign."""
    return values.replace(0.0, 0.0).reinterpret(signed=True) if values.dtype == pl.Float64 else values


def take(lake: Lake, folder: Path) -> None:
    """Store the named rows of every table that holds results."""
    folder.mkdir(parents=True, exist_ok=True)
    for table in COMPARED:
        named_rows(lake, table).sort(TABLES[table].key).collect().write_parquet(folder / f"{table}.parquet")


def compare(folder: Path, lake: Lake) -> int:
    """Print what differs between stored rows and a lake's, table by table; how many rows do."""
    n_different = 0
    for table in COMPARED:
        before, after, key = pl.scan_parquet(folder / f"{table}.parquet"), named_rows(lake, table), TABLES[table].key
        differing = {what: rows for what, rows in differences(before, after, list(key)) if rows.height}
        n_rows, n_table = before.select(pl.len()).collect().item(), sum(rows.height for rows in differing.values())
        print(f"{table}: {n_rows:,} rows, {n_table:,} differences")
        for what, rows in differing.items():
            print(f"  {what}: {rows.height:,}")
            for row in rows.sort(key).head(_N_EXAMPLES).iter_rows():
                print(f"    {' | '.join(map(str, row))}")
        n_different += n_table
    print(f"{n_different:,} differences in all")
    return n_different


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    for verb, names in (("take", ("lake", "folder")), ("compare", ("folder", "lake"))):
        command = verbs.add_parser(verb)
        for name in names:
            command.add_argument(name, type=Path)
    given = parser.parse_args()
    if given.verb == "take":
        take(Lake(given.lake), given.folder)
    elif compare(given.folder, Lake(given.lake)):
        sys.exit(1)


if __name__ == "__main__":
    main()
