"""`python -m ingest read`, `own` and `mine`: read benchmarks, own data and tasks mined from a repository."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from ingest.benchmarks import benchmarks as known_benchmarks
from ingest.benchmarks.config import read_config
from ingest.benchmarks.declaration import Benchmark
from ingest.benchmarks.own_shapes import declare_own
from ingest.commands.runs import TimeoutOption, outcome_of
from ingest.contents.chunkers_by_name import wanted_chunkers
from ingest.contents.chunks import remove_undeclared
from ingest.contents.processes import Workers
from ingest.pipeline import ingest as ingest_benchmark
from ingest.programs.command import ANSWER_SECONDS
from ingest.runs.bundled_runs import SUBMISSIONS, import_recorded, import_submissions
from ingest.runs.find_trajectories import declare_formats
from ingest.sources.folder import open_folder
from ingest.sources.git import GITHUB, Repositories, checked
from ingest.sources.tree import CACHE, HUB, Source
from ingest.stored_parts import check_replaced, remove_other_sources
from lake.averages import FEWEST_ITEMS
from lake.benchmarks import own_kinds
from lake.console import (
    DEFAULT_LAKE,
    Console,
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


def open_source(
    spec: str, benchmark: str, *, markers: tuple[str, ...] = (), cache: Path, say: Callable[[str], None] | None = None
) -> Source:
    """A benchmark's source as `SOURCE=` names it: `sample`, `hub`, or a folder (`./sample` for one so named)."""
    # Imported when needed: reading a folder should not wait for the modules that mine or download.
    if spec in ("", "sample"):
        from ingest.mining.sample import open_sample

        return open_sample(benchmark)
    if spec == HUB:
        from ingest.sources.hub import open_hub

        return open_hub(benchmark, cache, say=say)
    return open_folder(Path(spec), benchmark, markers=markers)


def _open_sources(
    spec: str, requested: Sequence[str], declared: Mapping[str, Benchmark], console: Console, cache: Path
) -> dict[str, Source]:
    """The source of each requested benchmark, by name; without a request, of all benchmarks that `spec` holds."""
    opened, problems, say = dict[str, Source](), list[GoldspanError](), None if console.quiet else console.say
    for name in requested or declared:
        try:
            opened[name] = open_source(spec, name, markers=declared[name].markers, cache=cache, say=say)
        except GoldspanError as error:
            if requested or error.code != Exit.MISSING:
                raise
            problems += [error] if not declared[name].is_collection else []
    if not opened and problems:
        raise problems[0]
    for problem in problems:
        console.say(f"left out: {problem.what}")
    return opened


app = typer.Typer()

ChunkersOption = Annotated[str, setting("CHUNKERS", "Comma list of chunker names.")]
ChunkerOption = Annotated[
    list[str] | None, typer.Option(metavar="NAME=COMMAND", help="Your own chunker: a command, or module:function.")
]
TrustOption = Annotated[bool, typer.Option("--trust-lake", help="Allow chunker commands that are stored in the lake.")]
NeedsOption = Annotated[
    bool, setting("NEEDS", "Find the other files that completions use (a minute or two).", "--needs")
]


@app.command()
def read(
    benchmarks: Annotated[
        list[str] | None,
        typer.Argument(metavar="BENCHMARK", envvar="GOLDSPAN_BENCHMARKS", help="Benchmarks to read (default: all)."),
    ] = None,
    source: Annotated[str, setting("SOURCE", "sample (default), hub, or a folder.")] = "",
    subsets: Annotated[str, setting("SUBSETS", "Comma list of subsets.")] = "",
    chunkers: ChunkersOption = "",
    chunker: ChunkerOption = None,
    trust_lake: TrustOption = False,
    timeout: TimeoutOption = ANSWER_SECONDS,
    limit: LimitOption = None,
    config: Annotated[str, setting("CONFIG", "FILE.yaml that describes your own data.")] = "",
    config_reads: Annotated[str, setting("CONFIG_READS", "Folder the config may read from (default: its own).")] = "",
    repositories: Annotated[
        str, setting("REPOSITORIES", "Where to clone repositories from: github, or a base URL.")
    ] = "",
    needs: NeedsOption = False,
    submissions: Annotated[Path, setting("SUBMISSIONS", "Folder of submissions.")] = SUBMISSIONS,
    engine: EngineOption = "auto",
    memory_limit: MemoryOption = None,  # set as it is read
    lake: LakeOption = DEFAULT_LAKE,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Read benchmarks into the lake and cut their files into chunks; `python -m ingest` alone does this."""
    if config if source else config_reads and not config:
        what = "--config cannot go with --source, nor --config-reads without --config"
        raise GoldspanError(what, hint="Leave one of them out.", code=Exit.USAGE)
    reads, names = Path(config_reads) if config_reads else None, split_names(benchmarks)
    own = read_config(Path(config), known_benchmarks(), reads) if config else None
    console, store = Console(quiet=quiet, json=json), Lake(lake)
    declared = {own[0].name: own[0]} if own else dict(known_benchmarks())
    for name in names:
        if name not in declared and name in own_kinds(store):
            message, hint = f"{name} is own data and is read by its config", f"--config FILE.yaml, with name: {name}"
            raise GoldspanError(message, where=str(store.root), hint=hint, code=Exit.USAGE)
        lookup(name, "benchmark", declared)
    known = {subset: name for name in names or declared for subset in declared[name].subsets}
    wanted = split_names(subsets)
    for subset in wanted:
        lookup(subset, "subset", known)
    workers = Workers(parse_engine(engine, store.root))
    base = checked("address", GITHUB if repositories == "github" else repositories) if repositories else ""
    with console.lake_lock(store, {"ingest", "runs"}), workers:
        # Under the lock: damaged parts of the lake have been set aside by now.
        resolved = wanted_chunkers(split_names(chunkers), chunker or [], store, trusted=trust_lake, seconds=timeout)
        for cutter in resolved:
            if cutter.declaration.given:
                console.say(f"{cutter.name} runs this command to chunk: {cutter.declaration.given}")
        done = [Outcome(changes=remove_undeclared(store))]
        cache = store.root / CACHE
        sources = {own[0].name: own[1]} if own else _open_sources(source, names, declared, console, cache)
        if base and not any(declared[name].clones(opened) for name, opened in sources.items()):
            names_read = ", ".join(declared[name].display_name for name in sources)
            message = f"--repositories has no effect: nothing is cloned for {names_read} from this source"
            hint = "Only ContextBench's repositories are cloned; its sample contains them already."
            raise GoldspanError(message, hint=hint, code=Exit.USAGE)
        for name, opened in sources.items():
            check_replaced(store, declared[name], opened)
        for name, opened in sources.items():
            labelled = f" (labelled {opened.label})" if opened.label else ""
            console.say(f"{declared[name].display_name} from {opened.name}{labelled}")
            # The URL as requested; otherwise GitHub, if the publisher's data names commits.
            url = base or (GITHUB if declared[name].names_commits and opened.name == HUB else "")
            if url and declared[name].clones(opened):
                opened = replace(opened, repositories=Repositories(cache, base=url, say=console.say).files)
            outcome = ingest_benchmark(
                store, declared[name], opened, subsets=declared[name].wanted(opened, wanted), chunkers=resolved,
                workers=workers, limit=limit, needs=needs, say=console.say,
            )  # fmt: skip
            import_recorded(store, name, opened, outcome, console.say)
            done.append(outcome)
        done.append(Outcome())
        import_submissions(store, submissions, done[-1], console.say)
        declare_formats(store)
        outcome = outcome_of(done, store)
    raise typer.Exit(console.finish("ingest", outcome))


@app.command()
def own(
    items: Annotated[
        str, typer.Option("--items", help="File or folder of questions with gold; of the hub: owner/name@REVISION.")
    ],
    repositories: Annotated[
        str, typer.Option("--repositories", help="Folder of repositories, or one; github, or a URL to clone from.")
    ] = "",
    name: Annotated[str, typer.Option("--name", help="Name of the data (default: the file's).")] = "",
    query: Annotated[str, typer.Option("--query", help="Key of the question, unless it has a usual name.")] = "",
    gold: Annotated[str, typer.Option("--gold", help="Where the gold is: KEY, 'KEY[].PATH:LINES', or patch.")] = "",
    repo: Annotated[str, typer.Option("--repo", help="Key of the repository, unless it has a usual name.")] = "",
    commit: Annotated[str, typer.Option("--commit", help="Key of the commit, unless it has a usual name.")] = "",
    chunkers: ChunkersOption = "",
    chunker: ChunkerOption = None,
    trust_lake: TrustOption = False,
    limit: LimitOption = None,
    engine: EngineOption = "auto",
    memory_limit: MemoryOption = None,  # set as it is read
    lake: LakeOption = DEFAULT_LAKE,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Read your own questions with gold: BEIR folders, issues with a patch, or rows with paths and lines."""
    keys = {"problem_statement": query, "gold": gold, "repo": repo, "commit": commit}
    file, reads, clones, notes = declare_own(items, repositories, lake / CACHE / "own", keys, name=name)
    Console(quiet=quiet, json=json).say("\n".join(notes))
    read(
        config=str(file), config_reads=str(reads), repositories=clones, chunkers=chunkers, chunker=chunker,
        trust_lake=trust_lake, limit=limit, engine=engine, lake=lake, json=json, quiet=quiet,
    )  # fmt: skip


@app.command()
def mine(
    repository: Annotated[str, typer.Argument(metavar="PATH|URL", help="A git repository.")],
    at: Annotated[str, typer.Option("--at", metavar="COMMIT", help="Commit, branch or tag (default: HEAD).")] = "",
    label: Annotated[
        str, typer.Option("--label", metavar="NAME", help="Name of the benchmarks (default: the repository's).")
    ] = "",
    tasks: Annotated[str, typer.Option(help="Comma list of completion, line and issue.")] = "completion,line,issue",
    n: Annotated[int, typer.Option("--n", min=1, help="Maximum tasks of each kind.")] = 300,
    seed: Annotated[str, typer.Option("--seed", help="Seed of the draw.")] = "",
    chunkers: ChunkersOption = "",
    chunker: ChunkerOption = None,
    trust_lake: TrustOption = False,
    needs: NeedsOption = False,
    engine: EngineOption = "auto",
    memory_limit: MemoryOption = None,  # set as it is read
    lake: LakeOption = DEFAULT_LAKE,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Mine tasks from a repository's code and commits; each kind becomes a benchmark with a leaderboard of its own."""
    from ingest.mining.history import fetched
    from ingest.mining.mined import MINED_TASKS, mined

    console, store = Console(quiet=quiet, json=json), Lake(lake)
    kinds = split_names(tasks)
    for kind in kinds:
        lookup(kind, "kind of task", MINED_TASKS)
    with console.lake_lock(store, {"ingest", "runs"}), Workers(parse_engine(engine, lake)) as workers:
        history = fetched(repository, at, store.root / CACHE)
        resolved = wanted_chunkers(split_names(chunkers), chunker or [], store, trusted=trust_lake)
        benchmarks = mined(history, repository, label, kinds or list(MINED_TASKS), known_benchmarks(), n, seed)
        for benchmark, source, *_ in benchmarks:
            check_replaced(store, benchmark, source)
        done: list[Outcome] = []
        for benchmark, source, subsets, mine_tasks in benchmarks:
            console.say(f"{benchmark.name}: mining {source.name}")
            few = ""
            tasks_mined, summary = mine_tasks()
            # A benchmark that is declared but has no items would keep the others from being evaluated.
            outcome = Outcome(tally=store.tally)
            if tasks_mined:
                outcome = ingest_benchmark(
                    store, benchmark, source, subsets=subsets, chunkers=resolved, workers=workers, needs=needs,
                    say=console.say,
                )  # fmt: skip
                few = f"; systems are not ranked on fewer than {FEWEST_ITEMS}" if outcome.scored < FEWEST_ITEMS else ""
            else:
                remove_other_sources(store, benchmark, source, outcome)
                if row := store.part("benchmarks", benchmark.name):
                    store.remove(row)
            others = outcome.warnings if outcome.expected else []
            outcome.warnings = [f"{benchmark.name}: {summary}{few}", *others]
            done.append(outcome)
        declare_formats(store)
        outcome = outcome_of(done, store)
        if not outcome.scored:
            what = f"nothing could be mined from {repository}"
            raise GoldspanError(what, examples=outcome.warnings, hint="Try another --at or --tasks.", code=Exit.MISSING)
    raise typer.Exit(console.finish("ingest", outcome))
