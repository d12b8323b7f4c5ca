"""What of a lake is not as it was written: named, set aside, and left to the stage that makes it again."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

import polars as pl

from lake.naming import GOLD_RUN
from lake.parts import MAX_NAME_BYTES, DamagedPartError, Part, check_part, part_at, parts_below
from lake.tables import TABLES, Table
from lake.wholeness import lost_rows

ASIDE = ".damaged"
"""The folder of a lake that holds what was set aside."""

TEMPORARY = ".tmp"
"""What a part's name ends in while it is being written."""

_AGAIN = "it is made again"
_REMEDIES = {
    "vectors": f"{_AGAIN}, but vectors that were given are to be given again with --vectors",
    "chunks": f"{_AGAIN}, but chunks that were imported are to be imported again",
    "chunkers": f"{_AGAIN}, but chunks that were imported are to be imported again",
}

OF_IMPORTED = {"runs", "run_items", "hits", "edits"}
"""The tables that say of an imported run whether it lost rows."""


class Fault(NamedTuple):
    """Something in a table's folder that is no part of the table.

    Attributes:
        table: The table.
        path: Where it is.
        why: What is wrong with it.
        is_as_written: Whether it is a part as it was written, which other tables contradict.
    """

    table: Table
    path: Path
    why: str
    is_as_written: bool = False


@dataclass
class Survey:
    """How many parts are as they were written, of how many bytes, and what is not."""

    n_parts: int = 0
    n_bytes: int = 0
    faults: list[Fault] = field(default_factory=list)


def survey(root: Path, tables: Collection[Table] = tuple(TABLES.values())) -> Survey:
    """Compare everything in some tables' folders with what was recorded when it was written.

    Raises:
        GoldspanError: The lake is of another format, or may not be read.
    """
    found, fit = Survey(), dict[str, list[Part]]()
    for table in tables:
        fit[table.name] = []
        for path in _entries(root, table):
            if path.is_symlink() and path.is_dir():
                found.faults.append(Fault(table, path, "it is a link to a folder"))
                continue
            try:
                check_part(path, path.relative_to(root).as_posix(), table.name)
            except DamagedPartError as error:
                found.faults.append(Fault(table, path, error.why))
            else:
                found.n_parts += 1
                found.n_bytes += path.stat().st_size
                fit[table.name].append(part_at(table, path))
    if fit.keys() >= OF_IMPORTED:
        damaged = {fault.path.parent.name for fault in found.faults}
        lost = {path: why for path, why in lost_rows(fit).items() if path.parent.name not in damaged}
        found.faults += [Fault(TABLES["runs"], path, why, is_as_written=True) for path, why in lost.items()]
    return found


def remove_unfinished(root: Path) -> None:
    """Delete what killed processes have left half-written."""
    for table in TABLES.values():
        for folder, _, names in _walk(root / table.name):
            for name in names:
                if name.startswith(".") and name.endswith(TEMPORARY):
                    (folder / name).unlink(missing_ok=True)


def remove_empty(folder: Path, root: Path) -> None:
    """Take away a folder below a lake's root, and those above it, as far as they are empty."""
    while folder != root and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent


def set_aside(root: Path, faults: Sequence[Fault]) -> list[str]:
    """Move what does not fit out of the tables; a sentence for each that says so.

    An imported run that loses rows goes as a whole: no stage here can make it again. So do a benchmark's items where
    files are lost: a part of items says that all it was read with is there.
    """
    unfit = {fault.path for fault in faults}
    faults = [*faults, *(one for one in _items_without_files(root, faults) if one.path not in unfit)]
    lost = {fault.path: run for fault in faults if (run := _imported_run(root, fault, unfit)) is not None}
    sentences = []
    for table, path, why, _ in faults:
        then = _REMEDIES.get(table.name, _AGAIN)
        if (run := lost.get(path)) is not None:
            then = f"import the run {unquote(run.name.partition('=')[2])} again"
        sentences.append(f"{path.relative_to(root).as_posix()}: {why}; set aside in {ASIDE}, {then}")
        _move(root, path)
    for row in {run / "part-all.parquet" for run in lost.values()} - unfit:
        if row.exists():
            _move(root, row)
    return sentences


def _entries(root: Path, table: Table) -> Iterator[Path]:
    """Everything below a table's folder that is called like Parquet, or is a file or a link where a folder belongs."""
    top = root / table.name
    if top.is_symlink() or (top.exists() and not top.is_dir()):
        yield top
    for folder, folders, names in _walk(top):
        yield from (folder / name for name in folders if name.endswith(".parquet") or (folder / name).is_symlink())
        yield from (folder / name for name in names if name.endswith(".parquet") or "=" in name)


def _walk(top: Path) -> Iterator[tuple[Path, list[str], list[str]]]:
    """Every folder from the top down, in order, with the names in it that are not hidden or are still written."""
    for folder, folders, names in os.walk(top) if not top.is_symlink() else ():
        shown = sorted(name for name in folders if not name.startswith("."))
        folders[:] = [name for name in shown if not name.endswith(".parquet")]
        yield (
            Path(folder),
            shown,
            sorted(name for name in names if not name.startswith(".") or name.endswith(TEMPORARY)),
        )


def _items_without_files(root: Path, faults: Sequence[Fault]) -> list[Fault]:
    lost = [fault.path.relative_to(root).parts for fault in faults if fault.table.name in ("files", "pools")]
    items = TABLES["items"]
    return [
        Fault(items, part.path, "files that it was read with are damaged")
        for part in parts_below(root, items, {})
        if any(len(inside) == 1 or inside[1] == part.path.parent.name for inside in lost)
    ]


def _imported_run(root: Path, fault: Fault, unfit: Collection[Path]) -> Path | None:
    """The folder of the row of the imported run that loses rows by a fault."""
    inside = fault.path.relative_to(root).parts
    if "run_id" not in fault.table.folders or fault.table.made_by == "evaluate" or len(inside) != 4:
        return None
    # Others than these are strays: a run has a part for its row, and one for each part of the items.
    is_expected = inside[3] == "part-all.parquet" or root.joinpath("items", inside[1], inside[3]).exists()
    if part_at(fault.table, fault.path).folders.get("run_id") == GOLD_RUN or not is_expected:
        return None
    row = root.joinpath("runs", *inside[1:3], "part-all.parquet")
    if (row in unfit and not fault.is_as_written) or not row.is_file():
        # Measured costs are of runs that were made here.
        is_imported = not root.joinpath("costs", *inside[1:3]).is_dir()
    else:
        origin = pl.read_parquet(row, columns=["origin"], hive_partitioning=False, glob=False)["origin"]
        is_imported = origin.to_list() == ["imported"]
    return row.parent if is_imported else None


def _move(root: Path, path: Path) -> None:
    to = root / ASIDE / path.relative_to(root)
    to.parent.mkdir(parents=True, exist_ok=True)
    name = os.fsdecode(os.fsencode(to.name)[:MAX_NAME_BYTES])
    # Numbered, so that no pattern of file names finds it among the parts.
    path.rename(next(free for n in count(1) if not os.path.lexists(free := to.with_name(f"{name}.{n}"))))
    remove_empty(path.parent, root)
