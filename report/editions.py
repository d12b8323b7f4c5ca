"""Published results: editions `lake/published/<benchmark>-<edition>/`, with the lake's tables but no texts."""

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
"""The folder of the editions shipped with the code."""

EDITION_TAG = "published"  # of benchmarks that are editions

FOR_READERS = ("system", "system_a", "system_b", "kind", "is_headline", "share_of_oracle")
"""Columns an edition's file may have in addition to its table's: downloads contain them, or did (the last)."""


_schema_of = cache(pl.read_parquet_schema)


class LakeWithEditions(Lake):
    """A read-only view of a lake: its own rows, followed by those of every edition in the folder `editions`."""

    def __init__(self, root: Path, editions: Path = EDITIONS) -> None:
        super().__init__(root)
        self._parts: dict[str, list[Part]] = {}
        self._frames: dict[tuple[str, ...], pl.LazyFrame] = {}
        self._folder = editions.absolute()
        self.editions = sorted(path for path in editions.glob("*/") if any(path.glob("*.parquet")))

    def __reduce__(self) -> tuple[type[Lake], tuple[Path, Path]]:  # type: ignore[override]  # two arguments
        """Sent to another process, it reads anew."""
        return LakeWithEditions, (self.root.absolute(), self._folder)

    def parts(self, name: str, **folders: str) -> list[Part]:
        """The stored parts of a table; the list is cached until :meth:`state` is called."""
        if name not in self._parts:
            self._parts[name] = super().parts(name)
        return [part for part in self._parts[name] if folders.items() <= part.folders.items()]

    def scan(self, name: str, **folders: str) -> pl.LazyFrame:
        """A table's rows as from :meth:`Lake.scan`, followed by those of the editions."""
        key = (name, *(text for pair in sorted(folders.items()) for text in pair))
        if key not in self._frames:
            self._frames[key] = self._with_editions(name, folders)
        return self._frames[key]

    def _with_editions(self, name: str, folders: Mapping[str, str]) -> pl.LazyFrame:
        own = super().scan(name, **folders)
        # An edition's folder name is its benchmark's name.
        editions = [edition for edition in self.editions if folders.get("benchmark") in (None, edition.name)]
        files = [file for edition in editions if (file := edition / f"{name}.parquet").is_file()]
        if not files:
            return own
        schema = own.collect_schema()
        for file in files:
            columns = _schema_of(file).items()
            kept = {column: kind for column, kind in columns if column in schema or column not in FOR_READERS}
            # A nullable column added since the edition was published is null.
            later = schema.keys() - kept.keys()
            needed = [column for column in later if not table(name).schema.columns()[column].nullable]
            if needed or not kept.items() <= schema.items():
                message = f"a published edition has other columns than {name} has in this version of Goldspan"
                raise GoldspanError(message, where=str(file), hint="Make it again: make published.", code=Exit.INVALID)
        shipped = (pl.scan_parquet(file, glob=False) for file in files)
        known = (rows.drop(set(FOR_READERS) - set(schema), strict=False) for rows in shipped)
        rows = pl.concat([own, *known], how="diagonal")
        rows = rows.filter(**folders) if folders else rows
        # Rows keyed without a benchmark (by name or content) may be in both.
        return rows if "benchmark" in schema else rows.unique(table(name).key, keep="first", maintain_order=True)

    def state(self, *names: str) -> str:
        """A fingerprint of some tables' parts and of the editions' files; clears the caches."""
        self._parts.clear()
        self._frames.clear()
        shipped = self.shipped(*names)
        return fingerprint(super().state(*names), shipped) if shipped else super().state(*names)

    def shipped(self, *names: str) -> list[tuple[str, str, str]]:
        """The editions' files of some tables: edition, file name and sha256."""
        files = [file for edition in self.editions for name in names if (file := edition / f"{name}.parquet").is_file()]
        return [(file.parent.name, file.name, sha256_of_file(file)) for file in files]
