"""How far two readings of one benchmark lie apart on the very same runs: each number under both, system by system."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from report.entities import WHOLE, Protocol
from report.facts import Facts
from report.leaderboard.columns import columns_of

_MEASURE = ["granularity", "metric", "k"]


def differences(facts: Facts, benchmark: str) -> list[dict[str, object]]:
    """The benchmark's first protocol against each other one that scored the same runs, without baselines.

    `rows` has one entry per shared metric; `largest` is the largest difference of one `system`, second less first.
    """
    mine = [one for one in facts.protocols.values() if one.benchmark == benchmark]
    shown = facts.boards(benchmark)
    if not shown:
        return []
    first = facts.protocols[shown[0].name]
    pairs = ((other, list(_apart(facts, first, other))) for other in mine if other.name != first.name)
    return [{"first": first, "other": other, "rows": rows} for other, rows in pairs if rows]


def _apart(facts: Facts, first: Protocol, other: Protocol) -> Iterator[dict[str, object]]:
    systems = {run.run_id: run.system for run in facts.runs if run.comparable and not run.baseline}
    whole = facts.aggregates.filter(pl.col("run_id").is_in(list(systems)), slice=WHOLE)
    one, two = (whole.filter(protocol=name.name) for name in (first, other))
    both = one.join(two, on=[*_MEASURE, "run_id"], suffix="_other")
    for column in columns_of(facts, first, ("", "", 0), both)[1:]:
        mine = both.filter(**column.where)
        average = "micro" if mine["micro"].count() and mine["micro_other"].count() else "macro"
        known = mine.select("run_id", one=average, two=f"{average}_other").drop_nulls().sort("run_id")
        if column.better == "neither" or known.is_empty():
            continue
        apart = known["two"] - known["one"]
        most = int(apart.abs().arg_max() or 0)
        yield {
            "title": column.title,
            "average": average,
            "n": known.height,
            "medians": (known["one"].median(), known["two"].median()),
            "largest": apart[most],
            "system": systems[known["run_id"][most]],
        }
