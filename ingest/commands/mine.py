"""The command `python -m ingest mine`: a repository of one's own as benchmarks."""

from __future__ import annotations

from typing import Annotated

import typer

from ingest.benchmarks import benchmarks as known_benchmarks
from ingest.clean import CACHE
from ingest.commands.runs import outcome_of
from ingest.contents.chunkers_by_name import wanted_chunkers
from ingest.contents.processes import Workers
from ingest.mining.mined import MINED_TASKS, MineRequest, mined, open_repository
from ingest.pipeline import ingest as ingest_benchmark
from ingest.programs.command import ANSWER_SECONDS
from ingest.runs.registry import declare_formats
from ingest.stored_parts import check_replaced, remove_benchmark
from lake.catalog.unit import FEWEST_ITEMS
from lake.console import (
    DEFAULT_LAKE,
    Console,
    DebugOption,
    EngineOption,
    JsonOption,
    LakeOption,
    MemoryOption,
    QuietOption,
    setting,
    split_names,
)
from lake.engine import parse_engine
from lake.errors import Exit, GoldspanError, lookup
from lake.outcome import Outcome
from lake.store import Lake

N_TASKS = 300
app = typer.Typer()


@app.command()
def mine(
    repository: Annotated[str, typer.Argument(metavar="PATH|URL", help="A git repository.")],
    at: Annotated[str, typer.Option("--at", metavar="COMMIT", help="Commit, branch or tag (default: HEAD).")] = "",
    label: Annotated[
        str, typer.Option("--label", metavar="NAME", help="Name of the benchmarks (default: the repository's).")
    ] = "",
    tasks: Annotated[str, typer.Option("--tasks", help="Comma list of completion, line and issue.")] = ",".join(
        MINED_TASKS
    ),
    n: Annotated[int, typer.Option("--n", min=1, help="Maximum tasks of each kind.")] = N_TASKS,
    seed: Annotated[str, typer.Option("--seed", help="Seed of the draw.")] = "",
    chunkers: Annotated[str, setting("CHUNKERS", "Comma list of chunker names.")] = "",
    needs: Annotated[
        bool, setting("NEEDS", "Work out what completions use of other files (a minute or two).", "--needs")
    ] = False,
    engine: EngineOption = "auto",
    memory_limit: MemoryOption = None,  # set as it is read
    lake: LakeOption = DEFAULT_LAKE,
    json: JsonOption = False,
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """Mine tasks from a repository's code and commits, each kind a benchmark with a leaderboard of its own."""
    console, store = Console(quiet=quiet, json=json), Lake(lake)
    request = MineRequest(repository, at, label, n, seed)
    kinds = split_names(tasks)
    for kind in kinds:
        lookup(kind, "kind of task", MINED_TASKS)
    with console.lake_lock(store, {"ingest", "runs"}), Workers(parse_engine(engine, lake)) as workers:
        history = open_repository(request, store.root / CACHE)
        resolved = wanted_chunkers(split_names(chunkers), [], store, trusted=False, seconds=ANSWER_SECONDS)
        benchmarks = mined(request, history, kinds or list(MINED_TASKS), known_benchmarks())
        for benchmark, source, *_ in benchmarks:
            check_replaced(store, benchmark, source)
        done: list[Outcome] = []
        for benchmark, source, subsets, miner in benchmarks:
            console.say(f"{benchmark.name}: mining {source.name}")
            if not miner.count():
                # Declared without items, it would keep the others from being evaluated.
                outcome = Outcome(tally=store.tally, warnings=[f"{benchmark.name}: {miner.summary()}"])
                remove_benchmark(store, benchmark, source, outcome)
                done.append(outcome)
                continue
            outcome = ingest_benchmark(
                store,
                benchmark,
                source,
                subsets=subsets,
                chunkers=resolved,
                workers=workers,
                needs=needs,
                say=console.say,
            )()
            few = f"; fewer than {FEWEST_ITEMS} rank no systems" if outcome.scored < FEWEST_ITEMS else ""
            others = outcome.warnings if outcome.expected else []
            outcome.warnings = [f"{benchmark.name}: {miner.summary()}{few}", *others]
            done.append(outcome)
        declare_formats(store)
        outcome = outcome_of(done, store)
        if not outcome.scored:
            what = f"nothing could be mined from {repository}"
            raise GoldspanError(what, examples=outcome.warnings, hint="Try another --at or --tasks.", code=Exit.MISSING)
    raise typer.Exit(console.finish("ingest", outcome))
