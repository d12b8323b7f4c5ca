"""An imported run in the lake: written part by part, its own row last, in place of an earlier one."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import polars as pl

from lake.fingerprint import fingerprint
from lake.rejects import Rejects
from lake.store import Lake, Part
from lake.tables import TABLES, table

Tables = Mapping[str, pl.DataFrame]
"""Table → rows."""


def count_rows(counts: Mapping[str, int]) -> list[dict[str, object]]:
    """Counts by name as a column has them, for one row."""
    return [{"name": name, "n": n} for name, n in sorted(counts.items())]


def counts_in(row: pl.DataFrame, column: str) -> dict[str, int]:
    """The counts by name that a column of one row holds."""
    return dict(row.select(pl.col(column).explode()).drop_nulls().unnest(column).iter_rows())


@dataclass(frozen=True)
class ImportedRun:
    """One run's place in the lake.

    Attributes:
        lake: Where it is.
        benchmark: Whose items it answers.
        run_id: Its name.
        made_of: What it is made from.
    """

    lake: Lake
    benchmark: str
    run_id: str
    made_of: str

    @property
    def _folders(self) -> dict[str, str]:
        return {"benchmark": self.benchmark, "run_id": self.run_id}

    @property
    def _rejects(self) -> str:
        return f"import-{self.run_id}"

    def row(self) -> pl.DataFrame | None:
        """Its row of `runs`, where it is there and was made from the same."""
        if not self.lake.is_current("runs", "all", self.made_of, **self._folders):
            return None
        return self.lake.read("runs", **self._folders)

    def write(self, part: str, tables: Tables) -> None:
        """Store the rows of one part of the items."""
        made_of = fingerprint(self.made_of, part)
        for name, rows in tables.items():
            self.lake.write(name, rows, part=part, fingerprint=made_of, **self._folders)

    def write_cost(self, cost: Mapping[str, object]) -> None:
        """Store what it cost to make, as columns of `costs`."""
        row = pl.DataFrame([{"run_id": self.run_id, "part": "all", **cost}], schema=table("costs").columns)
        self.lake.write("costs", row, part="all", fingerprint=self.made_of, **self._folders)

    def conclude(self, row: pl.DataFrame, parts: Collection[str], rejects: Rejects) -> None:
        """Store what was refused and the run's own row, and take away parts that it no longer has."""
        if len(rejects):
            self.lake.write("rejects", rejects.frame("ingest"), part=self._rejects, fingerprint=self.made_of)
        elif (stale := self.lake.part("rejects", self._rejects)) is not None:
            self.lake.remove(stale)
        for name in ("hits", "run_items", "edits"):
            for part in self.lake.parts(name, **self._folders):
                if part.name not in parts:
                    self.lake.remove(part)
        self.lake.write("runs", row, part="all", fingerprint=self.made_of, **self._folders)

    def replace(self, system: str, task: str) -> list[str]:
        """Take away other imports of the same system for the same task; their names."""
        runs = self.lake.scan("runs", benchmark=self.benchmark).filter(
            pl.col("system") == system, pl.col("task") == task, pl.col("origin") == "imported"
        )
        others = [run_id for run_id in runs.select("run_id").collect()["run_id"].sort() if run_id != self.run_id]
        for run_id in others:
            ImportedRun(self.lake, self.benchmark, run_id, "").remove()
        return others

    def remove(self) -> None:
        """Take away all there is of it, its own row first."""
        tables = sorted((one for one in TABLES.values() if "run_id" in one.folders), key=lambda one: one.name != "runs")
        parts: list[Part | None] = [part for one in tables for part in self.lake.parts(one.name, **self._folders)]
        for part in [*parts, self.lake.part("rejects", self._rejects)]:
            if part is not None:
                self.lake.remove(part)
