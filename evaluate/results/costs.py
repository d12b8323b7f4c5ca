"""What `python -m evaluate table --costs` prints: what the runs of a board cost, and which of them none beats."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from evaluate.metrics import Metric
from evaluate.results.board import MISSING, called, is_any, number_of, over_all_items_first, primary_of, slice_rows
from evaluate.statistics.headline import average_of
from lake.catalog.protocol import Protocol
from lake.catalog.task import Task
from lake.costs import on_frontier, run_costs
from lake.printed_table import PrintedTable
from lake.store import Lake

RULE = (
    "frontier: no other system has at least its {metric} for no more of the cost and is better in one of the two; "
    "baselines, and means over fewer items, are left out; by characters at every cut-off of {metric}"
)


def cost_table(lake: Lake, task: Task, protocol: Protocol, systems: Sequence[str] = ()) -> PrintedTable | None:
    """Runs in the slice that a protocol shows first, best first, with what they cost; None where none cost anything.

    Systems are named, globs allowed; without names they are all.
    """
    metric, k = primary_of(protocol)
    found = slice_rows(lake, task, protocol)
    if found is None:
        return None
    slice_, value = found.select("slice", "slice_value").row(0)
    numbers = found.filter(metric=metric.name).with_columns(value=pl.col(average_of(protocol, metric)))
    ordered = over_all_items_first(numbers, "value", metric).lazy()
    known = lake.scan("characters", protocol=protocol.name).filter(slice=slice_, slice_value=value)
    costs = run_costs(lake).drop("benchmark")
    rows = (
        ordered.join(
            known.select("run_id", "k", "read", "returned"), on=["run_id", "k"], how="left", maintain_order="left"
        )
        .join(costs, on="run_id", how="left", maintain_order="left")
        .filter(pl.col("read").is_not_null() | pl.col("hardware").is_not_null())
        .collect()
    )
    if systems:
        rows = rows.filter(pl.col("system").map_elements(lambda name: is_any(name, systems), pl.Boolean))
    shown = rows.filter(k=k)
    if shown.is_empty():
        return None
    frontiers = {"characters": _on_frontier(rows, "read", metric), "time": _on_frontier(shown, "query_p50", metric)}
    cells = []
    for row in shown.iter_rows(named=True):
        on = [name for name, run_ids in frontiers.items() if row["run_id"] in run_ids]
        cells.append([
            row["system"], number_of(row["value"]), *(_whole(row[name]) for name in ("read", "returned")),
            _scaled(row["index_seconds"]), _scaled(row["index_bytes"], 1e-6), _scaled(row["query_p50"], 1e3),
            _scaled(row["query_p95"], 1e3), ", ".join(on),
        ])  # fmt: skip
    hardware = shown["hardware"].drop_nulls().unique().sort()
    return PrintedTable(
        f"{protocol.name}, {slice_} {value}: cost",
        ["system", called(metric, k), "read", "returned", "index s", "index MB", "p50 ms", "p95 ms", "frontier"],
        cells,
        [RULE.format(metric=metric.name), *(f"measured on {one}" for one in hardware)],
    )


def _on_frontier(rows: pl.DataFrame, cost: str, metric: Metric) -> set[str]:
    """The runs on the frontier."""
    compared = rows.filter("is_whole", ~pl.col("is_baseline"), pl.col(cost) > 0, pl.col("value").is_not_null())
    lower = metric.direction == "lower"
    kept = on_frontier(compared[cost].to_list(), compared["value"].to_list(), lower_is_better=lower)
    return set(compared["run_id"].filter(pl.Series(kept, dtype=pl.Boolean)))


def _whole(value: float | None) -> str:
    return MISSING if value is None else f"{value:.0f}"


def _scaled(value: float | None, scale: float = 1.0) -> str:
    return MISSING if value is None else f"{value * scale:.4g}"
