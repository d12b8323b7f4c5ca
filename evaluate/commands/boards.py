"""`python -m evaluate table` and `effects`: the boards, and what of them is due to chunker and retriever."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Annotated

import typer

from evaluate.commands.options import ItemsOption, ProtocolOption, SliceOption
from evaluate.metrics import parse_metric
from evaluate.results.board import board, boards_of, check_metrics
from evaluate.results.extra_tables import cost_table, effects_table, usage_table
from evaluate.results.printed_table import print_tables
from lake.benchmarks import check_benchmark, protocols_called
from lake.catalog.protocol import Protocol, Task
from lake.console import DEFAULT_LAKE, LakeOption, setting, split_names
from lake.errors import Exit, GoldspanError, unknown_name
from lake.selection import parse_items, with_items
from lake.store import Lake

app = typer.Typer()

BenchmarksArgument = Annotated[list[str] | None, typer.Argument(help="All in the lake without any.")]


@app.command("table")
def table_of_systems(
    benchmarks: BenchmarksArgument = None,
    protocol: ProtocolOption = "",
    slice_: SliceOption = "",
    metrics: Annotated[str, setting("METRICS", "Comma list of metrics to show.")] = "",
    systems: Annotated[str, setting("SYSTEMS", "Comma list of names, globs allowed.")] = "",
    items: ItemsOption = "",
    top: Annotated[int | None, typer.Option(min=1, help="Show at most N systems; baselines always.")] = None,
    costs: Annotated[bool, typer.Option("--costs", help="Show costs too, and the Pareto front.")] = False,
    lake: LakeOption = DEFAULT_LAKE,
) -> None:
    """The boards: every system with rank, interval and items. Tab-separated where it is no terminal that reads them."""
    store, requested = Lake(lake), [parse_metric(name) for name in split_names(metrics)]
    chosen, which = _boards(store, benchmarks, protocol)
    with store.locked(makes=()) if requested else nullcontext():
        where = parse_items(items)
        chosen = with_items(store, chosen, where) if where else chosen
        which = [pair for pair in which if pair[0].benchmark in chosen]
        check_metrics(store, chosen, requested)
        names = split_names(systems)
        known = store.scan("runs").select("system").unique().collect()["system"].to_list()
        for name in names if known else ():
            if not fnmatch.filter(known, name):
                raise unknown_name(name, "system", known)
        boards = [
            board(store, *pair, requested, slice_name=slice_, systems=names, top=top, where=where) for pair in which
        ]
    if not any(boards):
        message = f"no run in the lake is on such a board{' with a selected item' if where else ''}"
        raise GoldspanError(message, where=str(lake), hint="First: make evaluate", code=Exit.MISSING)
    beside = [cost_table(store, *pair, names) for pair in which] if costs else []
    # A task's first protocol is the one that its page opens on.
    first = {task.name: (task, protocol) for task, protocol in reversed(which)}
    beside += [usage_table(store, *pair, names) for pair in reversed(first.values())] if costs else []
    print_tables(filter(None, [*boards, *beside]))


@app.command("effects")
def effects_of_choices(
    benchmarks: BenchmarksArgument = None,
    protocol: ProtocolOption = "",
    lake: LakeOption = DEFAULT_LAKE,
) -> None:
    """Does the chunker or the retriever matter more? The grid of systems with its margins, and the answer."""
    store = Lake(lake)
    _, which = _boards(store, benchmarks, protocol)
    tables = [effects_table(store, *pair) for pair in which]
    if not any(tables):
        message = "no two chunkers, scored on all the items, have the same two retrievers"
        hint = "Add what is missing: make ingest evaluate CHUNKERS=whole-file, or make evaluate SYSTEMS='*+tfidf'"
        raise GoldspanError(message, where=str(lake), hint=hint, code=Exit.MISSING)
    print_tables(filter(None, tables))


def _boards(
    lake: Lake, benchmarks: Sequence[str] | None, protocol: str
) -> tuple[list[str], list[tuple[Task, Protocol]]]:
    """Some benchmarks or all of the lake, and their boards under some protocols or under all."""
    chosen, wanted = split_names(benchmarks) or [part.name for part in lake.parts("benchmarks")], split_names(protocol)
    for name in chosen:
        check_benchmark(lake, name)
    names = {protocol.name for name in wanted for protocol in protocols_called(lake, name)}
    return chosen, [pair for pair in boards_of(lake, chosen) if not wanted or pair[1].name in names]
