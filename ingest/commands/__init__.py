"""The commands of `python -m ingest`: bring benchmarks into the lake."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ingest.benchmarks import benchmarks as known_benchmarks
from ingest.benchmarks.config import described
from ingest.clean import clean, delete_all
from ingest.commands.mine import commands as mine_commands
from ingest.commands.open_source import cloned_repositories, configured, open_sources
from ingest.commands.own import commands as own_commands
from ingest.commands.runs import FileFormatOption, TimeoutOption, commands, outcome_of
from ingest.commands.tasks import commands as tasks_commands
from ingest.contents.chunkers_by_name import absence, given_before, wanted_chunkers
from ingest.contents.chunkers_by_name import chunkers as known_chunkers
from ingest.contents.chunks import remove_undeclared
from ingest.contents.processes import Workers
from ingest.pipeline import ingest as ingest_benchmark
from ingest.programs.command import PATIENCE
from ingest.runs.bundled_runs import import_recorded
from ingest.runs.explain import shown_trajectories
from ingest.runs.find_trajectories import discover
from ingest.runs.registry import AUTO, declare_formats, importers
from ingest.runs.submissions.declaration import FOLDER
from ingest.runs.submissions.importing import import_submissions
from ingest.sources.git import GITHUB, checked
from ingest.sources.input_file import InputFile
from ingest.stored_parts import check_replaced
from lake.benchmarks import known_tasks, own_kinds
from lake.console import (
    DEFAULT_LAKE,
    Console,
    DebugOption,
    EngineOption,
    FormatOption,
    JsonOption,
    LakeOption,
    LimitOption,
    MemoryOption,
    QuietOption,
    default_to,
    print_listing,
    setting,
    split_names,
)
from lake.engine import parse_engine
from lake.errors import Exit, GoldspanError, lookup
from lake.hints import typed
from lake.outcome import Outcome
from lake.parts import HINT, fault_of
from lake.rejects import Rejects
from lake.store import EVERY, LOCK, Lake
from lake.tables import TABLES
from lake.text import counted, escaped
from lake.wholeness import missing_tables

app = typer.Typer(cls=default_to("read"), add_completion=False, pretty_exceptions_enable=False, no_args_is_help=False)


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
    timeout: TimeoutOption = PATIENCE,
    limit: LimitOption = None,
    config: Annotated[str, setting("CONFIG", "FILE.yaml that describes your own data.")] = "",
    config_reads: Annotated[str, setting("CONFIG_READS", "Folder the config may read from (default: its own).")] = "",
    repositories: Annotated[
        str, setting("REPOSITORIES", "Clone repositories: github, or the URL below which they are.")
    ] = "",
    needs: Annotated[
        bool, setting("NEEDS", "Work out what RepoEval's completions use of other files (a minute or two).", "--needs")
    ] = False,
    submissions: Annotated[Path, setting("SUBMISSIONS", "Folder of submissions.")] = FOLDER,
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
            named = ", ".join(declared[name].display_name for name, _ in sources)
            message = f"--repositories has no effect: nothing is cloned for {named} from this source"
            hint = "ContextBench's are cloned, but for those of its sample, which brings its own."
            raise GoldspanError(message, hint=hint, code=Exit.USAGE)
        for name, opened in sources:
            check_replaced(store, declared[name], opened)
        for name, opened in sources:
            labelled = f" (labelled {opened.label})" if opened.label else ""
            console.say(f"{declared[name].display_name} from {opened.name}{labelled}")
            outcome = ingest_benchmark(
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
            import_recorded(store, name, opened, outcome, console.say)
            done.append(outcome)
        done.append(Outcome())
        import_submissions(store, submissions, done[-1], console.say)
        declare_formats(store)
        outcome = outcome_of(done, store)
    raise typer.Exit(console.finish("ingest", outcome))


@app.command()
def verify(lake: LakeOption = DEFAULT_LAKE, debug: DebugOption = False) -> None:
    """Compare every part of the lake with what was recorded when it was written; exit code 3 where one does not fit."""
    if not lake.is_dir():
        message = "there is no lake to verify"
        hint = "Name it with --lake, or make one: make ingest"
        raise GoldspanError(message, where=str(lake), hint=hint, code=Exit.MISSING)
    store, n_whole, wrong = Lake(lake), 0, list[str]()
    for part in (part for name in TABLES for part in store.parts(name)):
        why = fault_of(part)
        wrong += [f"{part.path.relative_to(lake).as_posix()}: {why}"] * bool(why)
        n_whole += not why
    wrong += [f"missing, though there are scores: {lacking}" for lacking in missing_tables(lake)]
    print(*map(escaped, wrong), sep="\n", end="\n" if wrong else "")
    Console().say(f"verify: as it was written: {counted(n_whole, 'part')} of {lake}; not: {len(wrong):,}")
    if wrong:
        Console().say(f"  {typed(HINT)}")
    raise typer.Exit(Exit.INVALID if wrong else Exit.DONE)


@app.command("clean")
def clean_(
    all_: Annotated[bool, setting("ALL", "Imported runs and downloads too.", "--all")] = False,
    lake: LakeOption = DEFAULT_LAKE,
    debug: DebugOption = False,
) -> None:
    """Delete what can be made again from its sources; imported runs and downloads are kept."""
    store, kept = Lake(lake), list[str]()
    if not lake.is_dir():
        done = f"there is no lake in {lake}"
    elif not (lake / LOCK).exists():
        message = "this folder is no lake, so nothing in it is deleted"
        raise GoldspanError(message, where=str(lake), hint="Name a lake with --lake.", code=Exit.USAGE)
    elif all_:
        delete_all(store)
        done = f"deleted {lake}"
    else:
        with Console().lake_lock(store, EVERY):
            kept = list(clean(store))
        done = f"deleted {counted(len(store.tally.removed), 'part')} of {lake}"
    Console().say("\n  kept: ".join([f"clean: {done}", *kept]))
    if kept:
        Console().say(typed("  make clean ALL=1 deletes these too"))


@app.command()
def show(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="An agent's file, ZIP or folder.")],
    format: FileFormatOption = AUTO,  # noqa: A002  # the flag's own name
    memory_limit: MemoryOption = None,  # set as it is read
    debug: DebugOption = False,
) -> None:
    """Print what is understood of an agent's file, call by call, with what is not.

    A call that showed something of files is a step, and has a number; any other has a dash.
    """
    rejects = Rejects()
    for line in shown_trajectories(discover(InputFile.at(file), format, rejects)):
        print(line)
    for reject in rejects:
        print(f"refused: {reject.position}: {reject.reason}")


_IN_A_TABLE = ("name", "display_name", "title", "subsets", "tags")
"""What of a benchmark a person sees."""


@app.command("list")
def list_(
    what: Annotated[str, typer.Argument(help="benchmarks, subsets, chunkers, formats or tasks.")] = "benchmarks",
    lake: LakeOption = DEFAULT_LAKE,
    tag: Annotated[str, typer.Option("--tag", help="Only benchmarks of this tag, and their subsets.")] = "",
    format: FormatOption = "",  # noqa: A002  # the flag's own name
) -> None:
    """What there is: benchmarks, subsets, chunkers, formats of imports, tasks (of the lake)."""
    tags = {name for benchmark in known_benchmarks().values() for name in benchmark.tags}
    wanted = lookup(tag, "tag", {name: name for name in sorted(tags)}) if tag else ""
    declared = [each for each in known_benchmarks().values() if not wanted or wanted in each.tags]
    tasks = known_tasks(Lake(lake)) if what == "tasks" else {}
    listings: dict[str, list[dict[str, object]]] = {
        "benchmarks": [
            {key: value for key, value in described(each).items() if format or key in _IN_A_TABLE} for each in declared
        ],
        "subsets": [
            {"benchmark": benchmark.name, "name": subset, "default": subset in benchmark.default_subsets}
            for benchmark in declared
            for subset in benchmark.subsets
        ],
        "chunkers": _chunkers(Lake(lake)),
        "formats": [
            {
                "name": importer.name,
                "aliases": list(importer.aliases),
                "meaning": importer.meaning,
                "example": importer.example,
            }
            for importer in importers().values()
        ],
        "tasks": [{"name": task.name, "meaning": task.meaning} for task in tasks.values()],
    }
    print_listing(lookup(what, "listing", listings), format)


def _chunkers(store: Lake) -> list[dict[str, object]]:
    """Those that are declared, and those that were given to a lake."""
    given = [(name, f"Given as {what}", list[str](), "") for name, what in given_before(store).items()]
    declared = [
        (
            declaration.name,
            declaration.meaning,
            list(declaration.defaults),
            (why := absence(declaration)) and f"{why}: make chunkers",
        )
        for declaration in known_chunkers().values()
    ]
    return [dict(zip(("name", "meaning", "defaults", "missing"), row, strict=True)) for row in [*declared, *given]]


app.add_typer(commands)
app.add_typer(mine_commands)
app.add_typer(own_commands)
app.add_typer(tasks_commands)
