"""What of a lake is not as it was written: set aside, named, and left to the stage that makes it again."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

import polars as pl

from lake.errors import Exit, GoldspanError
from lake.naming import FINAL, IMPORT_REJECTS, RANKING
from lake.parts import HINT, Part, check_part, fault_of, remove_empty
from lake.tables import TABLES
from lake.text import counted

if TYPE_CHECKING:
    from lake.store import Lake

ASIDE = ".damaged"
"""The folder of a lake that holds what was set aside."""

TEMPORARY = ".tmp"
"""What a part's name ends in while it is being written."""

_REMEDIES = {"vectors": "it is made again, but vectors that were given are to be given again with --vectors"}

_OF_SCORES = {"benchmark": ("items", "gold_spans", "files"), "run_id": ("runs", "run_items", "aggregates")}
"""Folders of `scores`, each with the tables that have a part for each of its values."""


def mend(lake: Lake, makes: Collection[str]) -> Iterator[str]:
    """Delete what killed processes left half-written, set aside what does not fit; a sentence for each says so.

    An imported run that loses rows goes as a whole: no stage here can make it again.

    Args:
        lake: Held by the caller alone.
        makes: Whose parts the caller makes, and those of `ingest` it reads.

    Raises:
        DamagedPartError: A part does not fit that the caller reads and does not make.
    """
    for declared in TABLES.values():
        for unfinished in (lake.root / declared.name).rglob(f".*{TEMPORARY}"):
            unfinished.unlink(missing_ok=True)
        if declared.made_by not in makes:
            for part in lake.parts(declared.name) if declared.made_by == "ingest" else ():
                check_part(part)
            continue
        for part in lake.parts(declared.name):
            if why := fault_of(part):
                yield _set_aside(lake, part, why)
    if "runs" in makes:
        for row, why in _contradicted(lake):
            yield _set_aside(lake, row, why)


def _set_aside(lake: Lake, part: Part, why: str) -> str:
    """Move a part out of what is read, and with it the row of an imported run; the sentence that says so."""
    then, lost = _REMEDIES.get(part.table, "it is made again"), {part.path}
    if _is_imported(lake, part):
        then = f"import the run {part.folders['run_id']} again"
        lost |= {row.path for row in lake.parts("runs", **part.folders)}
    if part.table in ("files", "pools"):
        # A part of items says that all it was read with is there.
        lost |= {items.path for items in lake.parts("items", benchmark=part.folders["benchmark"])}
    for path in lost:
        # With another ending, so that no pattern of file names finds it among the parts.
        aside = lake.root / ASIDE / f"{path.relative_to(lake.root)}{ASIDE}"
        aside.parent.mkdir(parents=True, exist_ok=True)
        path.replace(aside)
        remove_empty(path.parent, lake.root)
    return f"{part.path.relative_to(lake.root).as_posix()}: {why}; set aside in {ASIDE}, {then}"


def _is_imported(lake: Lake, part: Part) -> bool:
    """Whether a part is of an imported run, and no stray beside it."""
    is_of_run = "run_id" in part.folders and TABLES[part.table].made_by != "evaluate" and bool(part.fingerprint)
    return is_of_run and lake.part("rejects", IMPORT_REJECTS + part.folders["run_id"]) is not None


def _contradicted(lake: Lake) -> Iterator[tuple[Part, str]]:
    """The rows of imported runs that have other numbers of items or of results than they say, and how."""
    runs = lake.scan("runs").filter(origin="imported").select("run_id", "n_items").collect()
    if runs.is_empty():
        return
    answers, results = (
        lake.scan_parts([part for part in lake.parts(name) if part.folders["run_id"] in {*runs["run_id"]}], name)
        for name in ("run_items", "hits")
    )
    answered = answers.group_by("run_id").agg(n_answered=pl.len(), n_expected=pl.col("n_returned").sum())
    returned = results.filter(pl.col("part").is_in([RANKING, FINAL])).group_by("run_id").agg(n_returned=pl.len())
    found = runs.lazy().join(answered, on="run_id", how="left").join(returned, on="run_id", how="left").fill_null(0)
    for run_id, n_items, n_answered, n_expected, n_returned in found.sort("run_id").collect().iter_rows():
        for row in lake.parts("runs", run_id=run_id):
            if n_answered != n_items:
                yield row, f"run_items has {n_answered:,} of its {n_items:,} items"
            elif n_returned != n_expected:
                yield row, f"hits has {n_returned:,} of its {n_expected:,} results"


def missing(lake: Lake) -> list[str]:
    """What a lake has scores of and no rows: a table and what it lacks, each once."""
    scored = [part.folders for part in lake.parts("scores")]
    return [
        f"{name} of {lacking}"
        for folder, names in _OF_SCORES.items()
        for name in names
        for lacking in sorted({of[folder] for of in scored} - {part.folders[folder] for part in lake.parts(name)})
    ]


def check_whole(lake: Lake) -> None:
    """See that a lake has everything that its scores are of.

    Raises:
        GoldspanError: Parts of a table are missing.
    """
    if lacking := missing(lake):
        message = f"the lake has scores whose other tables are missing: {counted(len(lacking), 'part')}"
        raise GoldspanError(message, where=str(lake.root), examples=lacking[:3], hint=HINT, code=Exit.INVALID)
