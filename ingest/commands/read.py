"""`python -m ingest read`: bring benchmarks into the lake."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from ingest.benchmarks import benchmarks as known_benchmarks
from ingest.commands.open_source import cloned_repositories, configured, open_sources
from ingest.commands.runs import TimeoutOption, outcome_of
from ingest.contents.chunkers_by_name import wanted_chunkers
from ingest.contents.chunks import remove_undeclared
from ingest.contents.processes import Workers
from ingest.pipeline import ingest as ingest_benchmark
from ingest.programs.command import ANSWER_SECONDS
from ingest.runs.bundled_runs import import_recorded, import_submissions
from ingest.runs.registry import declare_formats
from ingest.runs.submission import SUBMISSIONS
from ingest.sources.git import GITHUB, checked
from ingest.stored_parts import check_replaced
from lake.benchmarks import own_kinds
from lake.console import (
    DEFAULT_LAKE,
    Console,
    DebugOption,
    EngineOption,
    JsonOption,
    LakeOption,
    LimitOption,
    MemoryOption,
    QuietOption,
    setting,
    split_names,
)
from lake.engine import parse_engine
from lake.errors import Exit, GoldspanError, lookup
from lake.outcome import Outcome
from lake.store import Lake

app = typer.Typer()


@app.command()
def read(
    context: typer.Context,
    benchmarks: Annotated[
        list[str] | None, typer.Argument(envvar="GOLDSPAN_BENCHMARKS", help="Which; all the source holds without it.")
    ] = None,
    source: Annotated[str, setting("SOURCE", "sample, hub, or a folder.")] = "sample",
    subsets: Annotated[str, setting("SUBSETS", "Comma list of subsets.")] = "",
    chunkers: Annotated[str, setting("CHUNKERS", "Comma list of chunker names.")] = "",
    chunker: Annotated[
        list[str] | None, typer.Option(metavar="NAME=COMMAND", help="Your own chunker: a command, or module:function.")
    ] = None,
    trust_lake: Annotated[
        bool, typer.Option("--trust-lake", help="Allow chunker commands that are stored in the lake.")
    ] = False,
    timeout: TimeoutOption = ANSWER_SECONDS,
    limit: LimitOption = None,
    config: Annotated[str, setting("CONFIG", "FILE.yaml that describes your own data.")] = "",
    config_reads: Annotated[str, setting("CONFIG_READS", "Folder the config may read from (default: its own).")] = "",
    repositories: Annotated[
        str, setting("REPOSITORIES", "Clone repositories: github, or the URL below which they are.")
    ] = "",
    needs: Annotated[
        bool, setting("NEEDS", "Work out what RepoEval's completions use of other files (a minute or two).", "--needs")
    ] = False,
    submissions: Annotated[Path, setting("SUBMISSIONS", "Folder of submissions.")] = SUBMISSIONS,
    engine: EngineOption = "auto",
    memory_limit: MemoryOption = None,  # set as it is read
    lake: LakeOption = DEFAULT_LAKE,
    json: JsonOption = False,
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """Read benchmarks into the lake and cut their files into chunks: what `python -m ingest` does."""
    console = Console(quiet=quiet, json=json)
    declared = dict(known_benchmarks())
    names = split_names(benchmarks)
    given = context.get_parameter_source("source")
    names_source = given is not None and given.name != "DEFAULT"
    own = configured(config, config_reads, declared, names, names_source=names_source)
    if own is not None:
        declared = {own.benchmark.name: own.benchmark}
    for name in names:
        if name not in declared and name in own_kinds(Lake(lake)):
            message, hint = f"{name} is own data, which its declaration reads", f"--config FILE.yaml, with name: {name}"
            raise GoldspanError(message, where=str(lake), hint=hint, code=Exit.USAGE)
        lookup(name, "benchmark", declared)
    known = {subset: name for name in names or declared for subset in declared[name].subsets}
    wanted = split_names(subsets)
    for subset in wanted:
        lookup(subset, "subset", known)
    store = Lake(lake)
    processes = Workers(parse_engine(engine, lake))
    base = checked("address", GITHUB if repositories == "github" else repositories) if repositories else ""
    with console.lake_lock(store, {"ingest", "runs"}), processes, console.downloads() as progress:
        # Under the lock: what is damaged of the lake is set aside by now.
        resolved = wanted_chunkers(split_names(chunkers), chunker or [], store, trusted=trust_lake, seconds=timeout)
        for cutter in resolved:
            if cutter.declaration.given:
                console.say(f"{cutter.name} cuts by running: {cutter.declaration.given}")
        done = [Outcome(changes=remove_undeclared(store))]
        own_source = [(own.benchmark.name, own.source)] if own is not None else None
        sources = own_source or open_sources(source, names, declared, store, console, None if quiet else progress)
        if base and not any(declared[name].clones(opened) for name, opened in sources):
            names_read = ", ".join(declared[name].display_name for name, _ in sources)
            message = f"--repositories has no effect: nothing is cloned for {names_read} from this source"
            hint = "ContextBench's are cloned, but for those of its sample, which brings its own."
            raise GoldspanError(message, hint=hint, code=Exit.USAGE)
        for name, opened in sources:
            check_replaced(store, declared[name], opened)
        finish: dict[str, Callable[[], Outcome]] = {}
        # What is parsed is parsed while the others are read.
        try:
            for name, opened in sorted(sources, key=lambda opened: not declared[opened[0]].needs_symbols):
                labelled = f" (labelled {opened.label})" if opened.label else ""
                console.say(f"{declared[name].display_name} from {opened.name}{labelled}")
                finish[name] = ingest_benchmark(
                    store,
                    declared[name],
                    opened,
                    subsets=declared[name].wanted(opened, wanted),
                    chunkers=resolved,
                    workers=processes,
                    limit=limit,
                    repositories=cloned_repositories(declared[name], opened, base, store, console),
                    needs=needs,
                    say=console.say,
                )
        except GoldspanError:
            # What is read already is done to its end.
            for read_before in finish.values():
                read_before()
            raise
        for name, opened in sources:
            outcome = finish[name]()
            import_recorded(store, name, opened, outcome, console.say)
            done.append(outcome)
        done.append(Outcome())
        import_submissions(store, submissions, done[-1], console.say)
        declare_formats(store)
        outcome = outcome_of(done, store)
    raise typer.Exit(console.finish("ingest", outcome))
