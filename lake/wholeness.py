"""What of a lake is not as it was written: set aside, named, and left to the stage that makes it again."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import polars as pl

from lake.errors import Exit, GoldspanError
from lake.naming import FINAL, IMPORT_REJECTS, RANKING
from lake.parts import DAMAGE_HINT, Part, check_part, fault_of, parts_below, remove_empty
from lake.tables import TABLES
from lake.text import counted

ASIDE = ".damaged"
"""The folder of a lake that holds what was set aside."""
TEMPORARY = ".tmp"
"""What a part's name ends in while it is being written."""
_REMEDIES = {"vectors": "it is made again, but vectors that were given are to be given again with --vectors"}

_OF_SCORES = {"benchmark": ("items", "gold_spans", "files"), "run_id": ("runs", "run_items", "aggregates")}
"""Folders of `scores`, each with the tables that have a part for each of its values."""


def mend(root: Path, makes: Collection[str]) -> Iterator[str]:
    """Delete what killed processes left half-written, set aside what does not fit; a sentence for each says so.

    `makes` says whose parts the caller makes; of those of `ingest` that it only reads, a damaged one is an error.
    """
    for declared in TABLES.values():
        for unfinished in (root / declared.name).rglob(f".*{TEMPORARY}"):
            unfinished.unlink(missing_ok=True)
        if declared.made_by not in makes:
            for part in _parts(root, declared.name) if declared.made_by == "ingest" else ():
                check_part(part)
            continue
        for part in _parts(root, declared.name):
            if why := fault_of(part):
                yield _set_aside(root, part, why)
    if "runs" in makes:
        for row, why in _contradicted(root):
            yield _set_aside(root, row, why)


def _set_aside(root: Path, part: Part, why: str) -> str:
    """Move a part out of what is read, and with it the row of an imported run; the sentence that says so."""
    then, lost = _REMEDIES.get(part.table, "it is made again"), {part.path}
    is_of_run = "run_id" in part.folders and TABLES[part.table].made_by != "evaluate" and bool(part.fingerprint)
    # No stray beside them, and of no run that was made here: every import has a part of rejects.
    if is_of_run and parts_below(root, TABLES["rejects"], {}, IMPORT_REJECTS + part.folders["run_id"]):
        then = f"import the run {part.folders['run_id']} again"
        lost |= {row.path for row in _parts(root, "runs", **part.folders)}
    if part.table in ("files", "pools"):
        # A part of items says that all it was read with is there.
        lost |= {items.path for items in _parts(root, "items", benchmark=part.folders["benchmark"])}
    for path in lost:
        # With another ending, so that no pattern of file names finds it among the parts.
        aside = root / ASIDE / f"{path.relative_to(root)}{ASIDE}"
        aside.parent.mkdir(parents=True, exist_ok=True)
        path.replace(aside)
        remove_empty(path.parent, root)
    return f"{part.path.relative_to(root).as_posix()}: {why}; set aside in {ASIDE}, {then}"


def _contradicted(root: Path) -> Iterator[tuple[Part, str]]:
    """The rows of imported runs that have other numbers of items or of results than they say, and how."""
    runs = _rows("runs", _parts(root, "runs")).filter(origin="imported").select("run_id", "n_items").collect()
    if runs.is_empty():
        return
    answers, results = (
        _rows(name, [part for part in _parts(root, name) if part.folders["run_id"] in {*runs["run_id"]}])
        for name in ("run_items", "hits")
    )
    answered = answers.group_by("run_id").agg(n_answered=pl.len(), n_expected=pl.col("n_returned").sum())
    returned = results.filter(pl.col("part").is_in([RANKING, FINAL])).group_by("run_id").agg(n_returned=pl.len())
    counts = runs.lazy().join(answered, on="run_id", how="left").join(returned, on="run_id", how="left").fill_null(0)
    for run_id, n_items, n_answered, n_expected, n_returned in counts.sort("run_id").collect().iter_rows():
        for row in _parts(root, "runs", run_id=run_id):
            if n_answered != n_items:
                yield row, f"run_items has {n_answered:,} of its {n_items:,} items"
            elif n_returned != n_expected:
                yield row, f"hits has {n_returned:,} of its {n_expected:,} results"


def _parts(root: Path, name: str, **folders: str) -> list[Part]:
    return parts_below(root, TABLES[name], folders)


def _rows(name: str, parts: Sequence[Part]) -> pl.LazyFrame:
    paths = [part.path for part in parts]
    columns = TABLES[name].columns
    return pl.scan_parquet(paths, hive_partitioning=False, glob=False) if paths else pl.LazyFrame(schema=columns)


def missing_tables(root: Path) -> list[str]:
    """What a lake has scores of and no rows: a table and what it lacks, each once."""
    scored = [part.folders for part in _parts(root, "scores")]
    return [
        f"{name} of {lacking}"
        for folder, names in _OF_SCORES.items()
        for name in names
        for lacking in sorted({of[folder] for of in scored} - {part.folders[folder] for part in _parts(root, name)})
    ]


def check_whole(root: Path) -> None:
    """See that a lake has everything that its scores are of."""
    if lacking := missing_tables(root):
        message = f"the lake has scores whose other tables are missing: {counted(len(lacking), 'part')}"
        raise GoldspanError(message, where=str(root), examples=lacking[:3], hint=DAMAGE_HINT, code=Exit.INVALID)
