"""The lake on disk: a folder of Parquet files per table; each part is written atomically."""

import io
import os
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path

import polars as pl

from lake.errors import Exit, GoldspanError
from lake.fingerprint import fingerprint
from lake.parts import FORMAT, TEMPORARY, PartCounts, check_part, mend, new_part, parts_below, remove_empty
from lake.parts import Part as Part
from lake.tables import TABLES, Table, table

EVERY = frozenset(table.made_by for table in TABLES.values())
"""All makers of parts, as named by the tables."""
LOCK = ".lock"
"""The file that a writer locks; every lake has it."""
_PARTS_AT_ONCE = 100  # that one query plan reads: polars would open thousands of files at once


class Lake:
    """Typed tables in a folder, which need not exist yet; `damage` lists the parts found damaged when it was locked."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.damage: list[str] = []
        self.tally = PartCounts()

    def __reduce__(self) -> tuple[type["Lake"], tuple[Path]]:
        """Sent to another process, it counts the parts of that process."""
        return Lake, (self.root.absolute(),)

    def scan(self, name: str, **folders: str) -> pl.LazyFrame:
        """The rows of a table as a lazy frame, with declared and folder columns; `folders` filters by folder values."""
        return self.scan_parts(self.parts(name, **folders), name)

    def read(self, name: str, **folders: str) -> pl.DataFrame:
        """The rows of a table in memory, sorted by key within each part."""
        return self.scan(name, **folders).collect()

    def scan_part(self, name: str, part: str, **folders: str) -> pl.LazyFrame:
        """The rows of one part; an empty frame if it is not stored."""
        return self.scan_parts(parts_below(self.root, name, folders, part), name)

    def scan_parts(self, parts: list[Part], name: str) -> pl.LazyFrame:
        """The rows of some parts of one table."""
        declared = table(name)
        hive = {folder: pl.String() for folder in declared.folders}
        columns = {**declared.columns, **hive}
        if not parts:
            return pl.LazyFrame(schema=columns)
        for part in parts:
            check_part(part)
        if hive and any("=" in folder for folder in self.root.parts):
            # polars would read the lake's own path (`/data/day=3/lake`) as Hive folders.
            values = [{name: pl.lit(value) for name, value in part.folders.items()} for part in parts]
            frames = [_scan([part]).with_columns(**own) for part, own in zip(parts, values, strict=True)]
            return pl.concat([frame.select(*columns) for frame in frames])
        return _scan(parts, hive).select(*columns)

    def parts(self, name: str, **folders: str) -> list[Part]:
        """The stored parts of a table, sorted by folder and name."""
        return parts_below(self.root, name, folders)

    def part(self, name: str, part: str, **folders: str) -> Part | None:
        """One part by its name, or None if it is not stored."""
        return next(iter(parts_below(self.root, name, folders, part)), None)

    def write(self, name: str, frame: pl.DataFrame, *, part: str, fingerprint: str, **folders: str) -> Part:
        """Check a frame, sort it by key and store it in place of an earlier part; `fingerprint` is of the inputs."""
        declared = table(name)
        return self.put(declared, ordered(declared, frame, folders), part, fingerprint, folders)

    def put(self, declared: Table, rows: pl.DataFrame, part: str, fingerprint: str, folders: Mapping[str, str]) -> Part:
        """Store rows that were checked and sorted by :func:`ordered`, replacing the earlier part."""
        buffer = io.BytesIO()
        rows.write_parquet(buffer, compression="zstd", metadata=FORMAT)
        data = buffer.getbuffer()
        stored = new_part(self.root, declared, part, folders, fingerprint, data)
        beside = stored.path.with_name(f".{stored.path.name}.{os.getpid()}{TEMPORARY}")
        try:
            stored.path.parent.mkdir(parents=True, exist_ok=True)
            beside.write_bytes(data)
            for earlier in parts_below(self.root, declared.name, folders, part):
                if earlier.path != stored.path:
                    earlier.path.unlink()
            beside.replace(stored.path)
        except OSError as error:
            raise self._refused(error, stored.path) from error
        finally:
            with suppress(OSError):
                beside.unlink()
        self.tally.made.add(stored.relative_path)
        return stored

    def remove(self, part: Part) -> None:
        """Remove a part, and the folders that this empties."""
        part.path.unlink(missing_ok=True)
        self.tally.removed.add(part.relative_path)
        remove_empty(part.path.parent, self.root)

    @contextmanager
    def locked(
        self,
        *,
        makes: Collection[str] = EVERY,
        say: Callable[[str], None] = lambda _: None,
        warn: Callable[[str], None] = lambda _: None,
    ) -> Iterator[None]:
        """Lock and mend the lake (:func:`lake.parts.mend`) for the makers that the caller acts for.

        `say` gets a message if another process holds the lock, `warn` one for each part set aside.
        """
        # Imported when needed: readers need no lock.
        from filelock import FileLock, Timeout

        try:
            self.root.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self.root / LOCK)
            try:
                lock.acquire(timeout=0)
            except Timeout:
                say("another command is writing to this lake; waiting for it to end")
                lock.acquire()
        except OSError as error:
            raise self._refused(error, self.root) from error
        try:
            for sentence in mend(self.root, makes):
                self.damage.append(sentence)
                warn(sentence)
            yield
        finally:
            lock.release()

    def state(self, *names: str) -> str:
        """A fingerprint of all parts of some tables: their paths and the fingerprints of their inputs."""
        parts = [part for name in names for part in self.parts(name)]
        return fingerprint([(part.relative_path, part.fingerprint) for part in parts])

    def lacks(self, what: str, stage: str = "ingest") -> GoldspanError:
        """An error that reports something missing from the lake and names the stage to run first."""
        return GoldspanError(what, where=str(self.root), hint=f"First: make {stage}", code=Exit.MISSING)

    def _refused(self, error: OSError, path: Path) -> GoldspanError:
        free = shutil.disk_usage(self.root).free if self.root.exists() else 0
        hint = f"No partial file is left; {free / 1e6:,.0f} MB are free. Fix this and run the same command again, "
        hint += "or use another folder with LAKE=…"
        return GoldspanError(f"the lake could not be written: {error.strerror or error}", where=str(path), hint=hint)


def ordered(declared: Table, frame: pl.DataFrame, folders: Mapping[str, str]) -> pl.DataFrame:
    """A frame checked against its table and sorted by key; rows with another value of a folder column are an error."""
    # A folder's column has one value.
    rows = declared.checked(frame).sort([name for name in declared.key if name not in folders])
    for folder, value in folders.items():
        if folder in declared.columns and rows.height and {rows[folder].min(), rows[folder].max()} != {value}:
            message = f"{declared.name}: rows of another {folder} in the part of {value!r}"
            raise GoldspanError(message, code=Exit.INVALID)
    return rows


def _scan(parts: list[Part], hive: dict[str, pl.String] | None = None) -> pl.LazyFrame:
    paths = [part.path for part in parts]
    return pl.scan_parquet(paths, hive_partitioning=bool(hive), hive_schema=hive or None, glob=False)


def parts_holding(lake: Lake, name: str, column: str, values: pl.Series, **folders: str) -> list[Part]:
    """The parts of a table in which a text column has at least one of `values`, in the order of the parts."""
    parts, places = _parts_with_values(lake, name, column, values, **folders)
    return [parts[number] for number in places.select(pl.col("part").unique().sort()).collect()["part"]]


def contents_of(lake: Lake, sha256: pl.Series, columns: Sequence[str] = ("text", "n_lines")) -> pl.DataFrame:
    """File contents by hash: sha256 and some columns of `blobs`, sorted by sha256; unknown hashes have no row."""
    names = ("sha256", *columns)
    parts, places = _parts_with_values(lake, "blobs", "sha256", sha256)
    # If several parts contain a content, the first is read.
    first = places.group_by("sha256").agg(pl.col("part").min()).group_by("part").agg("sha256")
    rows = [
        lake.scan_parts([parts[part]], "blobs").filter(pl.col("sha256").is_in(pl.Series([of_part]))).select(names)
        for part, of_part in first.collect().iter_rows()
    ]
    return pl.concat(rows or [lake.scan_parts([], "blobs").select(names)]).sort("sha256").collect()


def _parts_with_values(
    lake: Lake, name: str, column: str, values: pl.Series, **folders: str
) -> tuple[list[Part], pl.LazyFrame]:
    """A table's parts, and for each value the parts that contain it: the column, and `part`, an index into the list."""
    parts = lake.parts(name, **folders)
    known = _values_of_parts(lake.root, name, column, tuple(parts))
    return parts, known.lazy().join(pl.LazyFrame({column: values}), on=column, how="semi")


def numbered(lake: Lake, name: str, parts: list[Part], rows: Callable[[pl.LazyFrame], pl.LazyFrame]) -> pl.DataFrame:
    """The result of `rows` for each part of a table, concatenated, with `part`, the part's index in the list."""
    frames = []
    for first in range(0, max(1, len(parts)), _PARTS_AT_ONCE):
        some = parts[first : first + _PARTS_AT_ONCE]
        scans = [lake.scan_parts([part], name) for part in some] or [lake.scan_parts([], name)]
        taken = [rows(scan).with_columns(part=pl.lit(first + number, pl.Int32)) for number, scan in enumerate(scans)]
        frames.append(pl.concat(taken).collect())
    return pl.concat(frames)


@lru_cache(maxsize=16)
def _values_of_parts(root: Path, name: str, column: str, parts: tuple[Part, ...]) -> pl.DataFrame:
    return numbered(Lake(root), name, list(parts), lambda rows: rows.select(column).unique())
