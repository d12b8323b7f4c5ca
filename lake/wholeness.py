"""What of a lake is not as it was written: named, set aside, and left to the stage that makes it again.

A part is unfit where its bytes are not those that were written, and an imported run where its tables contradict one
another. Scores of what is no longer there are named too.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

import polars as pl

from lake.errors import Exit, GoldspanError
from lake.naming import FINAL, GOLD_RUN, RANKING
from lake.parts import HINT, MAX_NAME_BYTES, DamagedPartError, Part, check_part, part_at, parts_below
from lake.tables import TABLES, Table
from lake.text import counted

ASIDE = ".damaged"
"""The folder of a lake that holds what was set aside."""

TEMPORARY = ".tmp"
"""What a part's name ends in while it is being written."""

OF_IMPORTED = ("runs", "run_items", "hits", "edits")
"""The tables that say of an imported run whether it lost rows."""

_AGAIN = "it is made again"
_REMEDIES = {
    "vectors": f"{_AGAIN}, but vectors that were given are to be given again with --vectors",
    "chunks": f"{_AGAIN}, but chunks that were imported are to be imported again",
    "chunkers": f"{_AGAIN}, but chunks that were imported are to be imported again",
}

_OF_SCORES = (
    ("benchmark", ("items", "gold_spans", "files")),
    ("run_id", ("runs", "run_items", "aggregates")),
)
"""Folders of `scores`, each with the tables that have a part of what it and those before it name."""


class Fault(NamedTuple):
    """Something in a table's folder that does not fit, and why."""

    table: Table
    path: Path
    why: str


def survey(root: Path, tables: Collection[Table] = tuple(TABLES.values())) -> tuple[list[Part], list[Fault]]:
    """The parts of some tables that are as they were written, and what else is in the tables' folders.

    Raises:
        GoldspanError: The lake is of another format, or may not be read.
    """
    fit, faults = list[Part](), list[Fault]()
    for table in tables:
        for path in _entries(root, table):
            if path.is_symlink() and path.is_dir():
                faults.append(Fault(table, path, "it is a link to a folder"))
                continue
            try:
                check_part(path, path.relative_to(root).as_posix(), table.name)
            except DamagedPartError as error:
                faults.append(Fault(table, path, error.why))
            else:
                fit.append(part_at(table, path))
    if {table.name for table in tables}.issuperset(OF_IMPORTED):
        damaged = {fault.path.parent.name for fault in faults}
        lost = {path: why for path, why in lost_rows(fit).items() if path.parent.name not in damaged}
        faults += [Fault(TABLES["runs"], path, why) for path, why in lost.items()]
    return fit, faults


def remove_unfinished(root: Path) -> None:
    """Delete what killed processes have left half-written."""
    for table in TABLES:
        for path in (root / table).rglob(f".*{TEMPORARY}"):
            path.unlink(missing_ok=True)


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
    lost = {fault.path: run for fault in faults if (run := _imported_run(root, fault)) is not None}
    sentences = []
    for table, path, why in faults:
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
    for path in [top] if top.is_symlink() else [top, *sorted(top.rglob("*"))]:
        is_folder = path == top or "=" in path.name
        if path.suffix == ".parquet" or path.is_symlink() or (is_folder and path.is_file()):
            yield path


def _items_without_files(root: Path, faults: Sequence[Fault]) -> list[Fault]:
    lost = [fault.path.relative_to(root).parts for fault in faults if fault.table.name in ("files", "pools")]
    items = TABLES["items"]
    return [
        Fault(items, part.path, "files that it was read with are damaged")
        for part in parts_below(root, items, {})
        if any(len(inside) == 1 or inside[1] == part.path.parent.name for inside in lost)
    ]


def _imported_run(root: Path, fault: Fault) -> Path | None:
    """The folder of the row of the imported run that loses rows by a fault."""
    inside = fault.path.relative_to(root).parts
    if "run_id" not in fault.table.folders or fault.table.made_by == "evaluate" or len(inside) != 4:
        return None
    # Others than these are strays: a run has a part for its row, and one for each part of the items.
    is_expected = inside[3] == "part-all.parquet" or root.joinpath("items", inside[1], inside[3]).exists()
    if part_at(fault.table, fault.path).folders.get("run_id") == GOLD_RUN or not is_expected:
        return None
    row = root.joinpath("runs", *inside[1:3], "part-all.parquet")
    try:
        check_part(row, row.relative_to(root).as_posix(), "runs")
        is_imported = _scan([part_at(TABLES["runs"], row)]).collect()["origin"].to_list() == ["imported"]
    except DamagedPartError:
        # Measured costs are of runs that were made here.
        is_imported = not root.joinpath("costs", *inside[1:3]).is_dir()
    return row.parent if is_imported else None


def _move(root: Path, path: Path) -> None:
    to = root / ASIDE / path.relative_to(root)
    to.parent.mkdir(parents=True, exist_ok=True)
    name = os.fsdecode(os.fsencode(to.name)[:MAX_NAME_BYTES])
    # Numbered, so that no pattern of file names finds it among the parts.
    path.rename(next(free for n in count(1) if not os.path.lexists(free := to.with_name(f"{name}.{n}"))))
    remove_empty(path.parent, root)


def lost_rows(every: Sequence[Part]) -> dict[Path, str]:
    """The rows of imported runs whose other rows contradict them, and how: one plan over all of them.

    A run says how many items it has, and each item how many results came of it. What was made here is made again where
    a part is missing; of an imported run nobody else knows what it was.

    Args:
        every: The parts of `runs`, `run_items`, `hits` and `edits` that are as they were written, among others.
    """
    parts = {name: [part for part in every if part.table == name] for name in OF_IMPORTED}
    rows = {part.folders["run_id"]: part.path for part in parts["runs"]}
    stored = _scan(parts["runs"]).filter(origin="imported").select("run_id", "n_items").collect() if rows else None
    if stored is None or stored.is_empty():
        return {}
    mine = {
        name: [part for part in parts[name] if part.folders["run_id"] in set(stored["run_id"])]
        for name in ("run_items", "hits", "edits")
    }
    kept = {name: {(part.folders["run_id"], part.name) for part in each} for name, each in mine.items()}
    answers, results = (
        _scan(mine[name]) if mine[name] else pl.LazyFrame(schema=TABLES[name].columns) for name in ("run_items", "hits")
    )
    counted = (
        results.filter(pl.col("part").is_in([RANKING, FINAL]))
        .group_by("run_id", "item_id")
        .agg(n=pl.len().cast(pl.Int64))
    )
    is_other = pl.col("n_returned") != pl.col("n").fill_null(0)
    found = (
        answers.join(counted, on=["run_id", "item_id"], how="left")
        .group_by("run_id")
        .agg(n_other=is_other.sum(), n_asked=pl.len(), is_agent=pl.col("n_steps").is_not_null().any())
        .collect()
    )
    lost: dict[Path, str] = {}
    for run_id, n_items, n_other, n_asked, is_agent in stored.join(found, on="run_id", how="left").iter_rows():
        expected = {key for key in kept["run_items"] if key[0] == run_id}
        if (n_asked or 0) != n_items:
            lost[rows[run_id]] = f"run_items has {n_asked or 0:,} of its {n_items:,} items"
        elif n_other:
            lost[rows[run_id]] = (
                f"hits contradicts the number of results that run_items gives for {n_other:,} of {n_items:,} items"
            )
        elif is_agent and (expected - kept["hits"] or expected - kept["edits"]):
            lost[rows[run_id]] = "parts of its hits or edits are missing"
    return lost


def missing(root: Path) -> Iterator[str]:
    """What a lake has scores of and no rows: a sentence for each table and what it lacks, each once."""
    scored = [part.folders for part in parts_below(root, TABLES["scores"], {})]
    folders: list[str] = []
    for folder, names in _OF_SCORES:
        folders.append(folder)
        for name in names:
            own = [one for one in folders if one in TABLES[name].folders]
            there = {tuple(part.folders[one] for one in own) for part in parts_below(root, TABLES[name], {})}
            for lacking in sorted({tuple(one[of] for of in own) for one in scored} - there):
                yield f"{name} of {', '.join(lacking)}"


def check_whole(root: Path) -> None:
    """See that a lake has everything that its scores are of.

    Raises:
        GoldspanError: Parts of a table are missing.
    """
    if lacking := list(missing(root)):
        message = f"the lake has scores whose other tables are missing: {counted(len(lacking), 'part')}"
        raise GoldspanError(message, where=str(root), examples=lacking[:3], hint=HINT, code=Exit.INVALID)


def _scan(parts: Sequence[Part]) -> pl.LazyFrame:
    return pl.scan_parquet([part.path for part in parts], hive_partitioning=False, glob=False)
