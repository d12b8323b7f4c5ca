"""The comparisons and ranks of a task's runs under a protocol: made once all of them are scored, one part for each."""

from __future__ import annotations

import polars as pl

from evaluate.retrievers import BASELINE, retrievers
from evaluate.statistics.characters import characters_of
from evaluate.statistics.comparisons import compare_runs, with_places
from evaluate.statistics.effects import effects_of
from evaluate.statistics.ranks import rank_runs
from lake.catalog.protocol import Protocol
from lake.catalog.protocols import protocols_of
from lake.catalog.task import Task
from lake.catalog.unit import FEWEST_ITEMS
from lake.make import product_of
from lake.store import Lake


def systems_of(lake: Lake, task: Task) -> pl.DataFrame:
    """A task's runs, and what may be said of each.

    The columns are run_id, chunker, retriever, is_complete, is_baseline and is_expected.
    """
    tagged = {name for name, one in retrievers().items() if BASELINE in one.tags}
    chance = {name for name, one in retrievers().items() if one.is_chance}
    built_in = pl.col("origin") == "built-in"
    runs = lake.scan("runs", benchmark=task.benchmark).filter(pl.col("task") == task.name)
    return (
        runs.select(
            "run_id",
            "chunker",
            "retriever",
            is_complete=(pl.col("status") == "complete") & pl.col("limit").is_null(),
            is_baseline=built_in & pl.col("retriever").is_in(list(tagged)),
            is_expected=built_in & pl.col("retriever").is_in(list(chance)),
        )
        .sort("run_id")
        .collect()
    )


def _can_be_tested() -> pl.Expr:
    """Of the many slices of one repository, those of too few items are compared only when that is asked for."""
    return (pl.col("n_repos") > 1) | (pl.col("n") >= FEWEST_ITEMS)


def compare_task(lake: Lake, task: Task) -> None:
    """Write the task's parts of what systems are compared by, as far as they are not current, under the lake's lock."""
    systems = systems_of(lake, task)
    for protocol in protocols_of(task):
        _compare(lake, task, protocol, systems)


def _compare(lake: Lake, task: Task, protocol: Protocol, systems: pl.DataFrame) -> None:
    folders = {"benchmark": task.benchmark, "protocol": protocol.name}
    mine = set(systems["run_id"])
    aggregated, scored = (
        [part for part in lake.parts(name, **folders) if part.folders["run_id"] in mine]
        for name in ("aggregates", "scores")
    )
    items = lake.parts("items", benchmark=task.benchmark)
    systems = systems.filter(pl.col("run_id").is_in([part.folders["run_id"] for part in aggregated]))
    product = product_of(
        lake,
        "characters",
        "effects",
        "comparisons",
        "ranks",
        part=task.name.replace("/", "."),
        inputs=[*aggregated, *scored, *items],
        parameters=systems.rows(),
        code=[characters_of, effects_of, compare_runs, rank_runs],
        **folders,
    )
    if not aggregated:
        product.remove()
        return

    def make() -> list[pl.DataFrame]:
        rows = with_places(protocol, lake.scan_parts(aggregated, "aggregates").drop("benchmark").collect(), systems)
        wanted = rows.filter(pl.col("is_primary") | pl.col("is_headline"), _can_be_tested())
        scores = {
            run_id: lake.scan_parts([part for part in scored if part.folders["run_id"] == run_id], "scores")
            for run_id in wanted["run_id"].unique().sort()
        }
        comparisons = compare_runs(protocol, wanted, lake.scan_parts(items, "items"), scores)
        read = characters_of(protocol, rows, lake.scan_parts(items, "items"), lake)
        effects = effects_of(protocol, rows, lake.scan_parts(items, "items"), scores)
        return [read, effects.with_columns(task=pl.lit(task.name)), comparisons, rank_runs(protocol, rows, comparisons)]

    product.make(make)
