"""How far two readings of one benchmark lie apart on the very same runs: each number under both, system by system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from report.entities import Protocol
from report.facts import Facts
from report.leaderboard.columns import columns_of
from report.parameters import WHOLE
from report.shown import score, signed

_MEASURE = ["granularity", "metric", "k"]


@dataclass(frozen=True)
class Apart:
    """One metric under two protocols.

    Attributes:
        title: The metric.
        average: How it is averaged under both.
        n: Over how many systems.
        medians: Of these systems, under either.
        largest: The largest difference of one system, second less first.
        system: Which system that is.
    """

    title: str
    average: str
    n: int
    medians: tuple[str, str]
    largest: str
    system: str


@dataclass(frozen=True)
class Between:
    """Two protocols of one task."""

    first: Protocol
    other: Protocol
    rows: Sequence[Apart]


def differences(facts: Facts, benchmark: str) -> list[Between]:
    """The benchmark's first protocol against each other one that scored the same runs; baselines are left out."""
    mine = [one for one in facts.protocols.values() if one.benchmark == benchmark]
    shown = facts.boards(benchmark)
    if not shown:
        return []
    first = facts.protocols[shown[0].name]
    pairs = ((other, _apart(facts, first, other)) for other in mine if other.name != first.name)
    return [Between(first, other, rows) for other, rows in pairs if rows]


def _apart(facts: Facts, first: Protocol, other: Protocol) -> list[Apart]:
    systems = {run.run_id: run.system for run in facts.runs if run.comparable and not run.baseline}
    whole = facts.aggregates.filter(slice=WHOLE).filter(pl.col("run_id").is_in(list(systems)))
    one, two = (whole.filter(protocol=name.name) for name in (first, other))
    both = one.join(two, on=[*_MEASURE, "run_id"], suffix="_other")
    columns = columns_of(facts, first, ("", "", 0), both)[1:]
    of = both.partition_by(_MEASURE, as_dict=True)
    rows = [_row(column.title, of[column.measure], systems) for column in columns if column.better != "neither"]
    return [row for row in rows if row is not None]


def _row(title: str, both: pl.DataFrame, systems: dict[str, str]) -> Apart | None:
    average = "micro" if both["micro"].count() and both["micro_other"].count() else "macro"
    known = both.select("run_id", one=average, two=f"{average}_other").drop_nulls().sort("run_id")
    if known.is_empty():
        return None
    known = known.with_columns(apart=pl.col("two") - pl.col("one"))
    most = known.row(int(known["apart"].abs().arg_max() or 0), named=True)
    medians = (score(_median(known["one"])), score(_median(known["two"])))
    largest = signed(most["apart"])
    return Apart(title, average, known.height, medians, largest, systems[most["run_id"]])


def _median(values: pl.Series) -> float | None:
    middle = values.median()
    return middle if isinstance(middle, float) else None
