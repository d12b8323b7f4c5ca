"""`python -m evaluate status`, `item` and `items`: what a lake holds, and its items one by one."""

from __future__ import annotations

from typing import Annotated

import polars as pl
import typer

from evaluate.results.items import item_lines, item_table
from evaluate.results.printed_table import PrintedTable, print_tables
from lake.console import DEFAULT_LAKE, Console, DebugOption, LakeOption, setting, split_names
from lake.errors import Exit, GoldspanError
from lake.hints import typed
from lake.selection import parse_items
from lake.store import Lake

app = typer.Typer()


@app.command()
def item(
    item_id: Annotated[str, typer.Argument(metavar="ITEM", help="Its id.")],
    benchmark: Annotated[str, setting("BENCHMARK", "Benchmark, if several have an item with this id.")] = "",
    protocol: Annotated[str, setting("PROTOCOL", "Protocol (default: the benchmark's first).")] = "",
    systems: Annotated[str, setting("SYSTEMS", "Comma list of systems to print.", "--systems", "--system")] = "",
    lake: LakeOption = DEFAULT_LAKE,
    debug: DebugOption = False,
) -> None:
    """Print an item: the question, the gold, every system's score, and what some returned, with the arithmetic."""
    store = Lake(lake)
    names = split_names(systems)
    for line in item_lines(store, item_id, benchmark=benchmark, protocol=protocol, systems=names):
        print(line)


@app.command()
def items(
    benchmark: Annotated[str, typer.Argument(metavar="BENCHMARK", help="Its name.")],
    where: Annotated[str, typer.Option("--where", "--items", help="column=value, ids, or a file of ids.")] = "",
    failed_by: Annotated[str, typer.Option("--failed-by", help="Only items that this system scores 0.")] = "",
    protocol: Annotated[str, setting("PROTOCOL", "Protocol (default: the benchmark's first).")] = "",
    lake: LakeOption = DEFAULT_LAKE,
    debug: DebugOption = False,
) -> None:
    """List a benchmark's items with a line of each question, or those that a system failed."""
    store = Lake(lake)
    table = item_table(store, benchmark, parse_items(where), failed_by=failed_by, protocol=protocol)
    print_tables([table])


@app.command()
def status(lake: LakeOption = DEFAULT_LAKE, debug: DebugOption = False) -> None:
    """Say what a lake holds, what is missing, and which command comes next."""
    store = Lake(lake)
    if not store.parts("benchmarks"):
        message = "the lake holds no benchmark"
        raise GoldspanError(message, where=str(lake), hint="First: make ingest", code=Exit.MISSING)
    rows = _benchmarks(store)
    columns = ("benchmark", "data", "items", "not scorable", "systems", "imported", "scored")
    print_tables([PrintedTable(f"{lake}", columns, rows, texts=2)])
    unscored = [name for name, *_, is_scored in rows if not is_scored]
    verb = f"make evaluate BENCHMARKS={','.join(unscored)}" if unscored else "make report"
    Console().say(typed(f"  next: {verb}"))


def _benchmarks(store: Lake) -> list[list[str]]:
    """A row per benchmark: its data, its items, the systems that there are, and whether any is scored."""
    items = store.scan("items").group_by("benchmark").agg(n=pl.len(), n_lost=(~pl.col("scorable")).sum())
    runs = store.scan("runs").select("benchmark", "system", "origin").unique()
    systems = runs.group_by("benchmark").agg(n_systems=pl.len(), n_imported=(pl.col("origin") == "imported").sum())
    declared = store.scan("benchmarks").select(benchmark="name", data="label")
    joined = declared.join(items, on="benchmark", how="left").join(systems, on="benchmark", how="left")
    scored = {part.folders["benchmark"] for part in store.parts("aggregates")}
    return [
        [name, label or "published", *(f"{n or 0:,}" for n in counts), "yes" if name in scored else ""]
        for name, label, *counts in joined.sort("benchmark").collect().iter_rows()
    ]
