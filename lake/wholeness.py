"""What a lake's tables say of one another: imported runs that lost rows, and scores of what is no longer there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import polars as pl

from lake.errors import Exit, GoldspanError
from lake.naming import FINAL, RANKING
from lake.parts import HINT, Part, parts_below
from lake.tables import TABLES
from lake.text import counted

_OF_SCORES = (
    ("benchmark", ("items", "gold_spans", "files")),
    ("run_id", ("runs", "run_items", "aggregates")),
)
"""Folders of `scores`, each with the tables that have a part of what it and those before it name."""


def lost_rows(parts: Mapping[str, Sequence[Part]]) -> dict[Path, str]:
    """The rows of imported runs whose other rows contradict them, and how: one plan over all of them.

    A run says how many items it has, and each item how many results came of it. What was made here is made again where
    a part is missing; of an imported run nobody else knows what it was.

    Args:
        parts: Table → its parts that are as they were written: `runs`, `run_items`, `hits` and `edits`.
    """
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
