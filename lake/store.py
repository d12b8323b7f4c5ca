"""The lake on disk: a folder of Parquet files for each table, each part written whole or not at all."""

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
"""Everyone who makes parts, as tables name them."""
LOCK = ".lock"
"""The file of a lake that whoever writes to it holds; every lake has it."""
PARTS_AT_ONCE = 100
"""The number of parts that one plan reads: of thousands polars would open all at once."""


class Lake:
    """Typed tables in a folder, which need not exist yet; `damage` says what did not fit when it was locked."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.damage: list[str] = []
        self.tally = PartCounts()

    def scan(self, name: str, **folders: str) -> pl.LazyFrame:
        """A table's rows, lazily: the declared columns and those its folders add; of some values of these alone."""
        return self._frame(table(name), self.parts(name, **folders))

    def read(self, name: str, **folders: str) -> pl.DataFrame:
        """A table's rows, in memory, in the order of its key within each part."""
        return self.scan(name, **folders).collect()

    def scan_parts(self, parts: list[Part], name: str) -> pl.LazyFrame:
        """The rows of some parts of one table."""
        return self._frame(table(name), parts)

    def scan_part(self, name: str, part: str, **folders: str) -> pl.LazyFrame:
        """The rows of one part by its name; none where it is not stored."""
        stored = self.part(name, part, **folders)
        return self.scan_parts([stored] if stored else [], name)

    def parts(self, name: str, **folders: str) -> list[Part]:
        """The stored parts of a table, sorted by folder and name."""
        return parts_below(self.root, table(name), folders)

    def part(self, name: str, part: str, **folders: str) -> Part | None:
        """One part by its name, or None where it is not stored."""
        return next(iter(parts_below(self.root, table(name), folders, part)), None)

    def write(self, name: str, frame: pl.DataFrame, *, part: str, fingerprint: str, **folders: str) -> Part:
        """Check a frame, sort it by key, put it in place of the part of that name; `fingerprint` is of the inputs."""
        declared = table(name)
        return self.put(declared, ordered(declared, frame, folders), part, fingerprint, folders)

    def put(self, declared: Table, rows: pl.DataFrame, part: str, fingerprint: str, folders: Mapping[str, str]) -> Part:
        """Put rows that :func:`ordered` gave in place of a part."""
        buffer = io.BytesIO()
        rows.write_parquet(buffer, compression="zstd", metadata=FORMAT)
        data = buffer.getbuffer()
        stored = new_part(self.root, declared, part, folders, fingerprint, data)
        beside = stored.path.with_name(f".{stored.path.name}.{os.getpid()}{TEMPORARY}")
        try:
            stored.path.parent.mkdir(parents=True, exist_ok=True)
            beside.write_bytes(data)
            for earlier in parts_below(self.root, declared, folders, part):
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
        """Take a part away, and the folders it leaves empty."""
        part.path.unlink(missing_ok=True)
        self.tally.removed.add(part.relative_path)
        remove_empty(part.path.parent, self.root)

    @contextmanager
    def locked(
        self,
        waiting: Callable[[], None] = lambda: None,
        *,
        makes: Collection[str] = EVERY,
        warn: Callable[[str], None] = lambda _: None,
    ) -> Iterator[None]:
        """Hold the lake alone, mended (:func:`lake.parts.mend`); a second writer calls `waiting` once, then waits.

        `makes` says whose parts the caller makes, and `warn` is told of each that was set aside.
        """
        # Imported when needed: who only reads holds no lock.
        from filelock import FileLock, Timeout

        try:
            self.root.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self.root / LOCK)
            try:
                lock.acquire(timeout=0)
            except Timeout:
                waiting()
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
        """A fingerprint over the parts of some tables: their places and what each was made from."""
        parts = [part for name in names for part in self.parts(name)]
        return fingerprint([(part.relative_path, part.fingerprint) for part in parts])

    def _frame(self, declared: Table, parts: list[Part]) -> pl.LazyFrame:
        hive = {folder: pl.String() for folder in declared.folders}
        extra = {folder: kind for folder, kind in hive.items() if folder not in declared.columns}
        if not parts:
            return pl.LazyFrame(schema={**declared.columns, **extra})
        for part in parts:
            check_part(part)
        paths = [part.path for part in parts]
        if hive and any("=" in folder for folder in self.root.parts):
            # polars would take the lake's own place (`/data/day=3/lake`) for Hive folders.
            literals = [{name: pl.lit(value) for name, value in part.folders.items()} for part in parts]
            frames = [_scan([path]).with_columns(**own) for path, own in zip(paths, literals, strict=True)]
            return pl.concat([frame.select(*declared.columns, *extra) for frame in frames])
        return _scan(paths, hive).select(*declared.columns, *extra)

    def lacks(self, what: str, stage: str = "ingest") -> GoldspanError:
        """An error that says what is not in it before a stage has run."""
        return GoldspanError(what, where=str(self.root), hint=f"First: make {stage}", code=Exit.MISSING)

    def _refused(self, error: OSError, path: Path) -> GoldspanError:
        free = shutil.disk_usage(self.root).free if self.root.exists() else 0
        return GoldspanError(
            f"the lake could not be written: {error.strerror or error}",
            where=str(path),
            hint=f"Nothing half-written is left. {free / 1e6:,.0f} MB are free there; mend it and run the same again, "
            "or put the lake elsewhere with LAKE=…",
        )


def ordered(declared: Table, frame: pl.DataFrame, folders: Mapping[str, str]) -> pl.DataFrame:
    """A frame checked and sorted by key."""
    rows = declared.checked(frame).sort(declared.key)
    for folder, value in folders.items():
        if folder in declared.columns and rows.height and {rows[folder].min(), rows[folder].max()} != {value}:
            message = f"{declared.name}: rows of another {folder} in the part of {value!r}"
            raise GoldspanError(message, code=Exit.INVALID)
    return rows


def _scan(paths: list[Path], hive: dict[str, pl.String] | None = None) -> pl.LazyFrame:
    return pl.scan_parquet(
        paths, hive_partitioning=bool(hive), hive_schema=hive or None, glob=False, missing_columns="raise"
    )


def parts_holding(lake: Lake, name: str, column: str, values: pl.Series, **folders: str) -> list[Part]:
    """The parts of a table in which a column of text has one of the values, in their own order."""
    parts, places = _parts_with_values(lake, name, column, values, **folders)
    return [parts[number] for number in places.select(pl.col("part").unique().sort()).collect()["part"]]


def contents_of(lake: Lake, sha256: pl.Series, columns: Sequence[str] = ("text", "n_lines")) -> pl.DataFrame:
    """Some contents: sha256 and some columns of `blobs`, sorted by sha256; what the lake does not hold is missing."""
    names = ("sha256", *columns)
    parts, places = _parts_with_values(lake, "blobs", "sha256", sha256)
    # Where several parts hold one content, the first.
    first = places.group_by("sha256").agg(pl.col("part").min()).group_by("part").agg("sha256")
    rows = [
        lake.scan_parts([parts[part]], "blobs").filter(pl.col("sha256").is_in(pl.Series([of_part]))).select(names)
        for part, of_part in first.collect().iter_rows()
    ]
    return pl.concat(rows or [lake.scan_parts([], "blobs").select(names)]).sort("sha256").collect()


def _parts_with_values(
    lake: Lake, name: str, column: str, values: pl.Series, **folders: str
) -> tuple[list[Part], pl.LazyFrame]:
    """A table's parts, and which of the values each holds: the column, and `part`, the part's place in the list."""
    parts = lake.parts(name, **folders)
    known = _values_of_parts(lake.root, name, column, tuple(parts))
    return parts, known.lazy().join(pl.LazyFrame({column: values}), on=column, how="semi")


def numbered(lake: Lake, name: str, parts: list[Part], rows: Callable[[pl.LazyFrame], pl.LazyFrame]) -> pl.DataFrame:
    """The rows that `rows` takes of each of some parts of a table, with `part`, the part's place in the list."""
    frames = []
    for first in range(0, max(1, len(parts)), PARTS_AT_ONCE):
        some = parts[first : first + PARTS_AT_ONCE]
        scans = [lake.scan_parts([part], name) for part in some] or [lake.scan_parts([], name)]
        taken = [rows(scan).with_columns(part=pl.lit(first + number, pl.Int32)) for number, scan in enumerate(scans)]
        frames.append(pl.concat(taken).collect())
    return pl.concat(frames)


@lru_cache(maxsize=16)
def _values_of_parts(root: Path, name: str, column: str, parts: tuple[Part, ...]) -> pl.DataFrame:
    return numbered(Lake(root), name, list(parts), lambda rows: rows.select(column).unique())
