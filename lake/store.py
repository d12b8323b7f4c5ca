"""The lake on disk: a folder of Parquet files for each table, each part written whole or not at all."""

import io
import os
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
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
