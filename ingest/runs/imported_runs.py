"""An imported run in the lake: written part by part, its own row last, in place of an earlier one."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import polars as pl

from lake.catalog.protocol import AnswerKind
from lake.make import BuildTarget, Slot
from lake.naming import IMPORT_REJECTS
from lake.rejects import Rejects
from lake.store import Lake
from lake.tables import TABLES, table

UNANSWERED = "missing"
"""The status of an item that was asked and that a file does not answer."""

Tables = Mapping[str, pl.DataFrame]
"""Table → rows."""


def count_rows(counts: Mapping[str, int]) -> list[dict[str, object]]:
    """Counts by name as a column has them, for one row."""
    return [{"name": name, "n": n} for name, n in sorted(counts.items())]


def run_items(run_id: str, rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of `run_items` of item_id, status, and what else is known; counts that are null, or not there, are 0."""
    columns = table("run_items").columns
    unsaid = [pl.lit(None, kind).alias(name) for name, kind in columns.items() if name not in rows.columns]
    whole = rows.with_columns(unsaid).with_columns(
        pl.col("n_returned", "n_nws").fill_null(0), pl.col("ties").fill_null([]), run_id=pl.lit(run_id)
    )
    return whole.select(list(columns))


def imported_hits(run_id: str, rows: pl.DataFrame, items: pl.DataFrame) -> pl.DataFrame:
    """Rows of `hits`, of as many of its columns as there are; `item` is the place of an item among some."""
    rows = rows.with_columns(run_id=pl.lit(run_id), item_id=pl.lit(items["item_id"]).gather(pl.col("item")))
    columns = table("hits").columns.items()
    given = ((pl.col(name) if name in rows.columns else pl.lit(None), name, kind) for name, kind in columns)
    return rows.select(column.cast(kind).alias(name) for column, name, kind in given)


def counts_in(row: pl.DataFrame, column: str) -> dict[str, int]:
    """The counts by name that a column of one row holds."""
    return dict(row.select(pl.col(column).explode()).drop_nulls().unnest(column).iter_rows())


STORED: Mapping[AnswerKind, tuple[str, ...]] = {
    "ranking": ("hits", "run_items"),
    "completion": ("run_items",),
    "trajectory": ("hits", "edits", "usage", "run_items"),
}
"""The tables of which a run has a part for every part of the items that it answers."""


@dataclass(frozen=True)
class ImportedRun:
    """One run's place in the lake; `made_from` is the fingerprint of what it is made from."""

    lake: Lake
    benchmark: str
    run_id: str
    made_from: str = ""

    @property
    def _folders(self) -> dict[str, str]:
        return {"benchmark": self.benchmark, "run_id": self.run_id}

    def _parts(self, part: str, *tables: str) -> BuildTarget:
        return BuildTarget(self.lake, [Slot(name, part, self._folders) for name in tables], self.made_from)

    @property
    def _whole(self) -> BuildTarget:
        """What was refused, and the run's own row, which says that all is there."""
        slots = [Slot("rejects", f"{IMPORT_REJECTS}{self.run_id}", {}), Slot("runs", "all", self._folders)]
        return BuildTarget(self.lake, slots, self.made_from)

    def row(self, kind: AnswerKind) -> pl.DataFrame | None:
        """Its row of `runs`, where all of it is there and was made from the same."""
        if not self._whole.is_current:
            return None
        row = self.lake.read("runs", **self._folders)
        n_items = self.lake.scan("run_items", **self._folders).select(pl.len()).collect().item()
        parts = [part.name for part in self.lake.parts("run_items", **self._folders)]
        is_there = n_items == row["n_items"].item()
        return row if is_there and all(self._parts(part, *STORED[kind]).is_current for part in parts) else None

    def write(self, part: str, tables: Tables) -> None:
        """Store the rows of one part of the items."""
        self._parts(part, *tables).write(*tables.values())

    def conclude(self, row: pl.DataFrame, parts: Collection[str], rejects: Rejects) -> None:
        """Store what was refused and the run's own row, and take away parts that it no longer has."""
        for name in ("hits", "run_items", "edits", "usage"):
            for part in self.lake.parts(name, **self._folders):
                if part.name not in parts:
                    self.lake.remove(part)
        self._whole.write(rejects.frame("ingest"), row)

    def replace(self, system: str, task: str) -> list[str]:
        """Take away other imports of the same system for the same task; their names."""
        runs = self.lake.scan("runs", benchmark=self.benchmark).filter(
            pl.col("system") == system, pl.col("task") == task, pl.col("origin") == "imported"
        )
        others = [run_id for run_id in runs.select("run_id").collect()["run_id"].sort() if run_id != self.run_id]
        for run_id in others:
            ImportedRun(self.lake, self.benchmark, run_id).remove()
        return others

    def remove(self) -> None:
        """Take away all there is of it, its own row first."""
        self._whole.remove()
        for name in [declared.name for declared in TABLES.values() if "run_id" in declared.folders]:
            for part in self.lake.parts(name, **self._folders):
                self.lake.remove(part)


def imported_runs(lake: Lake, **folders: str) -> list[str]:
    """The runs that were imported, of a benchmark or of all."""
    runs = lake.scan("runs", **folders).filter(pl.col("origin") == "imported").select("run_id")
    return runs.collect()["run_id"].sort().to_list()


def delete_imported_runs(lake: Lake, benchmark: str) -> list[str]:
    """Take away every imported run of a benchmark, whose items are no longer those that it answers; their names."""
    names = imported_runs(lake, benchmark=benchmark)
    for run_id in names:
        ImportedRun(lake, benchmark, run_id).remove()
    return names
