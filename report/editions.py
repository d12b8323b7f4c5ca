"""Published results: what was measured on the real benchmarks, without their texts, in files that ship with the code.

An edition is a folder `lake/published/<benchmark>-<edition>/` with a Parquet file per table. Its rows have the columns
of the lake's tables and the edition's name in place of the benchmark's, and so stand beside a lake's own.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import polars as pl

from lake.errors import Exit, GoldspanError
from lake.fingerprint import fingerprint, sha256_of_file
from lake.parts import Part
from lake.store import Lake
from lake.tables import table

EDITIONS = Path(__file__).resolve().parents[1] / "lake" / "published"
"""The editions that ship."""

EDITION_TAG = "published"
"""The tag of a benchmark whose rows are an edition's."""

FOR_READERS = ("system", "system_a", "system_b", "kind", "is_headline")
"""Columns that an edition's file may have beyond those of its table: a site's downloads have them."""


@cache
def _schema_of(file: Path) -> Mapping[str, pl.DataType]:
    return pl.read_parquet_schema(file)


class LakeWithEditions(Lake):
    """A lake as those see it who only read: its own rows, then those of every edition in a folder, if there is one."""

    def __init__(self, root: Path, editions: Path = EDITIONS) -> None:
        super().__init__(root)
        self._parts: dict[str, list[Part]] = {}
        self._frames: dict[tuple[str, ...], pl.LazyFrame] = {}
        self.editions = sorted(path for path in editions.glob("*/") if any(path.glob("*.parquet")))

    def parts(self, name: str, **folders: str) -> list[Part]:
        """The stored parts of a table, as they were when it was first asked for since the last :meth:`state`."""
        if name not in self._parts:
            self._parts[name] = super().parts(name)
        return [part for part in self._parts[name] if folders.items() <= part.folders.items()]

    def scan(self, name: str, **folders: str) -> pl.LazyFrame:
        """A table's rows as :meth:`Lake.scan` gives them, those of the editions behind."""
        key = (name, *(text for pair in sorted(folders.items()) for text in pair))
        if key not in self._frames:
            self._frames[key] = self._with_editions(name, folders)
        return self._frames[key]

    def _with_editions(self, name: str, folders: Mapping[str, str]) -> pl.LazyFrame:
        own = super().scan(name, **folders)
        # An edition is a benchmark of its folder's name.
        editions = [edition for edition in self.editions if folders.get("benchmark") in (None, edition.name)]
        files = [file for edition in editions if (file := edition / f"{name}.parquet").is_file()]
        if not files:
            return own
        schema = own.collect_schema()
        for file in files:
            columns = _schema_of(file).items()
            kept = {column: kind for column, kind in columns if column in schema or column not in FOR_READERS}
            # A column that came later is null in it.
            later = schema.keys() - kept.keys()
            needed = [column for column in later if not table(name).schema.columns()[column].nullable]
            if needed or not kept.items() <= schema.items():
                message = f"a published edition has other columns than {name} has in this version of Goldspan"
                raise GoldspanError(message, where=str(file), hint="Make it again: make published.", code=Exit.INVALID)
        shipped = (pl.scan_parquet(file, glob=False) for file in files)
        known = (rows.drop(set(FOR_READERS) - set(schema), strict=False) for rows in shipped)
        rows = pl.concat([own, *known], how="diagonal")
        rows = rows.filter(**folders) if folders else rows
        # What is called by its name or its content alone may be in both.
        return rows if "benchmark" in schema else rows.unique(table(name).key, keep="first", maintain_order=True)

    def state(self, *names: str) -> str:
        """A fingerprint over the parts of some tables and the editions' files of them."""
        self._parts.clear()
        self._frames.clear()
        files = [file for edition in self.editions for name in names if (file := edition / f"{name}.parquet").is_file()]
        shipped = [(file.parent.name, file.name, sha256_of_file(file)) for file in files]
        return fingerprint(super().state(*names), shipped) if shipped else super().state(*names)
