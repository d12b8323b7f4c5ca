"""What `python -m evaluate effects` prints: does the chunker or the retriever matter more?"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from evaluate.results.board import called, number_of, primary_of
from evaluate.statistics.comparisons import FEWEST_ITEMS, FEWEST_REPOS
from lake.catalog.protocol import Protocol
from lake.catalog.task import Task
from lake.printed_table import PrintedTable
from lake.store import Lake
from lake.text import counted, listed
from lake.verdict import which_matters_more


def effects_table(lake: Lake, task: Task, protocol: Protocol) -> PrintedTable | None:
    """The grid of a task's systems with its margins, and the answer; None where there is no grid."""
    rows = lake.scan("effects", benchmark=task.benchmark, protocol=protocol.name).filter(task=task.name, repo="")
    found = rows.collect()
    if found.is_empty():
        return None
    by_level = {
        (row["chunker"], row["retriever"]): row
        for row in found.filter(pl.col("mean").is_not_null()).sort("chunker", "retriever").iter_rows(named=True)
    }
    factors = found.filter(pl.col("mean").is_null()).select("factor", "share", "low", "high")
    shares = {factor: (share, low, high) for factor, share, low, high in factors.iter_rows()}
    chunkers, retrievers = (
        [name for name in found[column].unique().sort() if name] for column in ("chunker", "retriever")
    )
    whole = by_level["", ""]
    n_items, n_repos, left_out = whole["n_items"], whole["n_repos"], whole["left_out"]
    too_few = n_repos < FEWEST_REPOS or n_items < FEWEST_ITEMS
    notes = [which_matters_more(shares, len(chunkers) * len(retrievers), too_few=too_few)]
    notes += [f"left out, as not every chunker is there with every retriever: {listed(left_out)}"] if left_out else []
    name = called(*primary_of(protocol))
    over = f"{counted(n_items, 'item')}, {counted(n_repos, 'repository')}"
    where = f"{whole['slice']} {whole['slice_value']}"
    means = {one: [number_of(by_level[one, other]["mean"]) for other in ["", *retrievers]] for one in [*chunkers, ""]}
    lines = [[one, *means[one], *_interval(by_level[one, ""])] for one in chunkers]
    lines += [["mean", *means[""], "", "", ""]]
    margins = zip(*(_interval(by_level["", other]) for other in retrievers), strict=True)
    lines += [[head, "", *cells, "", "", ""] for head, cells in zip(_ENDS, margins, strict=True)]
    return PrintedTable(
        f"{protocol.name} of {task.name}, {where}: {name} by chunker and retriever; {over}",
        ["chunker", "mean", *retrievers, *_ENDS],
        lines,
        notes,
    )


_ENDS = ("effect", "low", "high")


def _interval(row: Mapping[str, float]) -> list[str]:
    return [f"{row[name]:+.3f}" for name in _ENDS]
