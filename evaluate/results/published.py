"""Scores that lie outside this lake: another lake's, or published ones with what is published beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import polars as pl

from lake.errors import Exit, GoldspanError
from lake.store import Lake
from lake.tables import TABLES, table
from lake.text import listed


class Source(Protocol):
    """What a lake and a folder of published tables have in common."""

    def scan(self, name: str, **folders: str) -> pl.LazyFrame:
        """A table's rows, of some of its folders alone; no rows where the table is not there."""


class Published:
    """Published tables: `scores.parquet` and, where they lie beside it, what else a report publishes.

    Args:
        path: A file of scores, or the folder that holds it.

    Raises:
        GoldspanError: There is no such file, or what it holds are no scores.
    """

    def __init__(self, path: Path) -> None:
        # What lies beside a file of another name may be of another time.
        beside = path.parent if path.name.startswith("scores") else None
        self._folder = path if path.is_dir() else beside
        self._scores = _files(path, "scores") if path.is_dir() else [path]
        if not self._scores or not all(file.is_file() for file in self._scores):
            message = f"--against {path}: there is no lake and no file of scores"
            hint = "Name a lake's folder, or the scores.parquet that a report publishes."
            raise GoldspanError(message, hint=hint, code=Exit.MISSING)
        try:
            found = pl.scan_parquet(self._scores).collect_schema().names()
        except (pl.exceptions.PolarsError, OSError) as error:
            message = f"--against {path}: no Parquet that can be read"
            raise GoldspanError(message, hint="Download or export it again.", code=Exit.INVALID) from error
        if missing := [name for name in ("benchmark", "system", *table("scores").columns) if name not in found]:
            message = f"--against {path}: no scores, as columns are missing: {listed(missing)}"
            hint = "A report publishes such a file, data/scores.parquet; `report export RUN --table scores` makes one."
            raise GoldspanError(message, hint=hint, code=Exit.INVALID)

    def scan(self, name: str, **folders: str) -> pl.LazyFrame:
        """A table's rows, of some of its folders alone; no rows where the table is not there."""
        declared = table(name)
        columns = {**declared.columns, **{one: pl.String() for one in declared.folders}}
        if files := self._scores if name == "scores" else _files(self._folder, name):
            frame = pl.scan_parquet(files)
            frame = frame.select(one for one in frame.collect_schema() if one in columns or one == "system")
        elif name == "runs":
            named = self.scan("scores").select("run_id", "system", "benchmark").unique()
            frame = named.with_columns(task=pl.lit(None, pl.String), status=pl.lit("complete"))
        else:
            frame = pl.LazyFrame(schema=columns)
        return frame.filter(**folders) if folders else frame


def source_at(path: Path) -> Source:
    """What lies at a path: a lake, or published scores.

    Raises:
        GoldspanError: Neither does.
    """
    is_lake = path.is_dir() and any((path / name).is_dir() for name in TABLES)
    return Lake(path) if is_lake else Published(path)


def _files(folder: Path | None, name: str) -> list[Path]:
    """The file of a published table, or the parts that it was split into."""
    return [] if folder is None else sorted([*folder.glob(f"{name}.parquet"), *folder.glob(f"{name}-[0-9]*.parquet")])
