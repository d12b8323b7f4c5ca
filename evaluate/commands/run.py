"""`python -m evaluate run`: run systems on what the lake holds, and score them."""

from pathlib import Path
from typing import Annotated

import typer

from evaluate.embedding.vectors import give_vectors
from evaluate.metrics import parse_metric
from evaluate.pipeline import evaluate
from evaluate.results.board import benchmarks_named, board, boards_of, check_measured, print_tables
from evaluate.results.extra_tables import summary
from evaluate.selection import Selection
from lake.benchmarks import known_tasks
from lake.console import (
    DEFAULT_LAKE,
    Console,
    EngineOption,
    JsonOption,
    LakeOption,
    LimitOption,
    QuietOption,
    setting,
    split_names,
    split_systems,
)
from lake.engine import parse_engine
from lake.errors import lookup
from lake.outcome import Outcome
from lake.pools import parse_items, with_items
from lake.store import Lake
from lake.text import counted, escaped, listed

app = typer.Typer()


@app.command("run")
def run_systems(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="BENCHMARK", help="Benchmarks (default: all in the lake).")
    ] = None,
    benchmarks: Annotated[str, setting("BENCHMARKS", "The same as a comma list.")] = "",
    systems: Annotated[
        str, setting("SYSTEMS", "Comma list of systems (chunker+retriever, or imported), globs allowed.")
    ] = "",
    metrics: Annotated[str, setting("METRICS", "Comma list of metrics to print.")] = "",
    tasks: Annotated[str, setting("TASKS", "Comma list (default: all but those run on request).")] = "",
    items: Annotated[str, setting("ITEMS", "Which items: subset=function-2k, repo=…, ids, or a file.")] = "",
    limit: LimitOption = None,
    vectors: Annotated[
        Path | None, setting("VECTORS", "Parquet with key and vector, for the retriever `recorded`.")
    ] = None,
    engine: EngineOption = "auto",
    lake: LakeOption = DEFAULT_LAKE,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Run systems and score them; `python -m evaluate` alone does this."""
    console, store = Console(quiet=quiet, json=json), Lake(lake)
    selection, workers = Selection(parse_items(items), limit), parse_engine(engine, lake)
    requested = [parse_metric(name) for name in split_names(metrics)]
    selected = benchmarks_named(store, [*(names or []), benchmarks])
    wanted, known = split_names(tasks), known_tasks(store)
    for name in wanted:
        lookup(name, "task", known)
    # A benchmark without a requested task is left unchanged.
    selected = [name for name in selected if not wanted or any(known[task].benchmark == name for task in wanted)]
    if not selected:
        raise store.lacks(f"the lake holds no benchmark{f' for --tasks {listed(wanted)}' if wanted else ''}")
    patterns = split_systems(systems, store)
    with console.lake_lock(store, {"runs", "evaluate"}):
        if selection.where:
            every, selected = selected, with_items(store, selected, selection.where)
            for name in [name for name in every if name not in selected]:
                console.say(f"{name} is unchanged: none of its items is selected")
        check_measured(requested, boards_of(store, selected, wanted), listed(selected))
        if vectors is not None:
            console.say(f"{give_vectors(store, vectors, vectors.stem):,} vectors from {vectors.name}")
        done = evaluate(
            store, selected, patterns=patterns, selection=selection, console=console, engine=workers, tasks=wanted
        )
        for outcome in done:
            if outcome.missing:
                n_items = counted(outcome.missing, "item")
                outcome.warnings.append(f"not scorable in this lake: {n_items}; `why_not` of table items says why")
        outcome = Outcome.of_lake(store, done, "item rankings", "make report")
        # Still under the lock, as computing a table's metrics may have to store something in the lake.
        if requested and not (json or quiet):
            shown = boards_of(store, selected, wanted)
            print_tables(filter(None, (board(store, *pair, requested) for pair in shown)))
        # Requested systems are printed every time.
        elif not (json or quiet) and (outcome.tally.made or patterns or selection.where or selection.limit):
            for name in selected:
                for line in summary(store, name, patterns, outcome.tally.made, wanted):
                    print(escaped(line))
    raise typer.Exit(console.finish("evaluate", outcome))
