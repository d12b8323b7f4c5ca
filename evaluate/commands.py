"""The commands of `python -m evaluate`: run systems on what the lake holds, and score them."""

from __future__ import annotations

import json as jsonlib
import tempfile
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from evaluate.metrics import metrics as known_metrics
from evaluate.metrics import parse_metric
from evaluate.pipeline import evaluate as evaluate_benchmark
from evaluate.results.compare import compare
from evaluate.results.gate import parse_gate
from evaluate.results.printed import check_metrics, comparison, shown, table_of
from evaluate.retrievers import retrievers
from evaluate.selection import Selection, parse_where
from evaluate.systems import imported_systems
from evaluate.task_runs import Evaluated
from evaluate.vectors import give_vectors
from lake import unchanged
from lake.catalog.protocols import protocols
from lake.catalog.references import REFERENCE
from lake.catalog.tasks import TASKS, tasks_of
from lake.console import (
    DEFAULT_LAKE,
    Console,
    DebugOption,
    FormatOption,
    JsonOption,
    LakeOption,
    LimitOption,
    Outcome,
    QuietOption,
    default_to,
    print_listing,
    split_names,
)
from lake.engine import parse_engine
from lake.errors import Exit, GoldspanError, unknown_name
from lake.fingerprint import fingerprint
from lake.store import EVERY, Lake
from lake.text import counted, escaped

app = typer.Typer(cls=default_to("run"), add_completion=False, pretty_exceptions_enable=False)


@app.command("run")
def run_systems(
    benchmarks: Annotated[
        str, typer.Option(envvar="GOLDSPAN_BENCHMARKS", help="Comma list; all in the lake without it.")
    ] = "",
    systems: Annotated[
        str,
        typer.Option(
            envvar="GOLDSPAN_SYSTEMS", help="Comma list of chunker+retriever or imported systems, globs allowed."
        ),
    ] = "",
    metrics: Annotated[
        str, typer.Option(envvar="GOLDSPAN_METRICS", help="Comma list of what the printed table shows.")
    ] = "",
    items: Annotated[str, typer.Option(envvar="GOLDSPAN_ITEMS", help="Which items: subset=function-2k,repo=….")] = "",
    limit: LimitOption = None,
    vectors: Annotated[
        Path | None,
        typer.Option(envvar="GOLDSPAN_VECTORS", help="Parquet with key and vector, for the retriever `recorded`."),
    ] = None,
    engine: Annotated[str, typer.Option(envvar="GOLDSPAN_ENGINE", help="auto, or local:N: N processes.")] = "auto",
    lake: LakeOption = DEFAULT_LAKE,
    json: JsonOption = False,
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """Rank, score and aggregate: what `python -m evaluate` does."""
    console = Console(quiet=quiet, json=json)
    store = Lake(lake)
    selection, workers = Selection(parse_where(items), limit), parse_engine(engine)
    requested = [parse_metric(name) for name in split_names(metrics)]
    in_lake = [part.name for part in store.parts("benchmarks")]
    asked = split_names(benchmarks) or in_lake
    for name in asked:
        if not tasks_of(name):
            kind = "benchmark"
            raise unknown_name(kind, name, {task.benchmark for task in TASKS.values()})
    if not asked:
        message = "the lake holds no benchmark"
        raise GoldspanError(message, where=str(lake), hint="First: make ingest", code=Exit.MISSING)
    done: dict[str, Evaluated] = {}
    waiting = "another run is writing to this lake; waiting for it to end"
    with store.locked(lambda: console.say(waiting), makes={"runs", "evaluate"}, warn=console.warn):
        check_metrics(store, asked, requested)
        unchanged.note_read([vectors] if vectors else [])
        if vectors is not None:
            console.say(f"{give_vectors(store, vectors, vectors.stem):,} vectors from {vectors.name}")
        for name in asked:
            done[name] = evaluate_benchmark(
                store,
                name,
                patterns=split_names(systems),
                selection=selection,
                console=console,
                engine=workers,
            )
        # Still under the lock: what is worked out for a table alone may need what the lake does not hold yet.
        tables = [] if json or quiet else [list(table_of(store, *one, requested)) for one in shown(asked)]
        printed = [line for lines in tables if lines for line in ("", *lines)]
        outcome = _outcome(done, store)
        unchanged.keep(store, outcome, as_json=json, quiet=quiet, printed=printed, tables=EVERY)
    for line in printed:
        print(escaped(line))
    raise typer.Exit(console.finish("evaluate", outcome))


@app.command("compare")
def compare_systems(
    a: Annotated[str, typer.Argument(metavar="A", help="A system's name, a run's id, or `reference`.")],
    b: Annotated[str, typer.Argument(metavar="B", help="Another, which is held against it.")],
    metric: Annotated[
        str, typer.Option(envvar="GOLDSPAN_METRIC", help="Comma list; each protocol's primary without it.")
    ] = "",
    slice_: Annotated[
        str,
        typer.Option("--slice", envvar="GOLDSPAN_SLICE", help="Over which items: level=line."),
    ] = "",
    protocol: Annotated[
        str, typer.Option(envvar="GOLDSPAN_PROTOCOL", help="Comma list; every protocol that scored both without it.")
    ] = "",
    fail_if: Annotated[
        str, typer.Option(envvar="GOLDSPAN_FAIL_IF", help='A gate: "ndcg@10 drops > 0.01" or "ndcg@10 is worse".')
    ] = "",
    flips: Annotated[bool, typer.Option("--flips", help="Name the items on which the two differ.")] = False,
    lake: LakeOption = DEFAULT_LAKE,
    json: JsonOption = False,
) -> None:
    """Hold one system against another on the items both were asked; exit code 6 where the gate fails."""
    gate = parse_gate(fail_if) if fail_if else None
    asked = [parse_metric(name) for name in split_names(metric)]
    if gate is not None and (gate.metric, gate.k) not in asked:
        asked.append((gate.metric, gate.k))
    store = Lake(lake)
    with store.naming_damage(), store.locked(makes=()) if asked else nullcontext():
        found = compare(store, a, b, asked, protocol_names=split_names(protocol), slice_name=slice_)
    broken = [one for one in found if gate is not None and gate.is_broken_by(one)]
    if json:
        kept = [{**vars(one), "fails": one in broken, **({} if flips else {"flips": None})} for one in found]
        print(jsonlib.dumps(kept, indent=2))
    else:
        print(*map(escaped, comparison(found, broken, flips=flips, names_runs=REFERENCE in (a, b))), sep="\n")
    raise typer.Exit(Exit.GATE if broken else Exit.DONE)


@app.command("parity")
def compare_with_references(
    source: Annotated[Path, typer.Option(envvar="GOLDSPAN_SOURCE", help="The folder with the benchmarks' data.")],
    references: Annotated[str, typer.Option(help="Comma list of references, globs allowed; all without it.")] = "",
    work: Annotated[Path | None, typer.Option(help="Keep the lake it is worked out in, in this folder.")] = None,
    lake: LakeOption = DEFAULT_LAKE,
    json: JsonOption = False,
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """Hold what is computed here against what others computed of the same data; exit code 3 where they differ."""
    from evaluate.parity.run import WHOLE, compare_all, differing, lines

    if not source.is_dir():
        message = f"--source {source}: there is no such folder"
        raise GoldspanError(message, hint="Name the folder with repoeval, contextbench, …", code=Exit.MISSING)
    console, store = Console(quiet=quiet, json=json), Lake(lake)
    rows = compare_all(source, split_names(references), console.say, work)
    with store.locked(makes=()):
        made_of = fingerprint(rows.write_json())
        store.write("parity", rows, part=WHOLE, fingerprint=made_of)
    print(rows.write_json() if json else "\n".join(map(escaped, lines(rows))))
    raise typer.Exit(Exit.INVALID if differing(rows).height else Exit.DONE)


@app.command("repro")
def reproduce(
    run_id: Annotated[str, typer.Argument(metavar="RUN_ID", help="A run; `list runs` shows them.")],
    exec_: Annotated[bool, typer.Option("--exec", help="Make it again in a lake of its own, and compare.")] = False,
    source: Annotated[Path | None, typer.Option(help="The folder that its data were read from.")] = None,
    file: Annotated[Path | None, typer.Option(help="The file that it was imported from.")] = None,
    vectors: Annotated[Path | None, typer.Option(help="The vectors that it was made with.")] = None,
    lake: LakeOption = DEFAULT_LAKE,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Where the numbers of a run come from, and the commands that make them again; with --exec, 3 where they differ."""
    from evaluate.results import repro

    store, console = Lake(lake), Console(quiet=quiet, json=json)
    with store.naming_damage():
        found = repro.provenance(store, run_id)
    print(jsonlib.dumps(vars(found), indent=2) if json else "\n".join(map(escaped, repro.lines(found))))
    if not exec_:
        return
    places = {repro.FOLDER: source, repro.FILE: file, repro.VECTORS: vectors}
    given = {name: path.resolve() if path else None for name, path in places.items()}
    with tempfile.TemporaryDirectory(prefix="goldspan-repro-") as folder:
        again = repro.make_again(found, store, given, Path(folder), console.say)
    called = "under the same id" if again.run_id == run_id else f"as {again.run_id}: the data, rules or code are others"
    console.say(f"made again {called}; {again.n_equal:,} of {again.n_scores:,} scores are equal to the last bit")
    raise typer.Exit(Exit.DONE if again.n_equal == again.n_scores else Exit.INVALID)


@app.command("score")
def score_files(
    qrels: Annotated[Path, typer.Argument(help="Relevance judgements: TREC's four columns, BEIR's table or JSON.")],
    ranked: Annotated[Path, typer.Argument(metavar="RUN", help="A ranking: TREC's six columns, BEIR's table or JSON.")],
    other: Annotated[Path | None, typer.Argument(metavar="[RUN2]", help="A second, compared with the first.")] = None,
    metrics: Annotated[
        str, typer.Option(envvar="GOLDSPAN_METRICS", help="Comma list: map,ndcg@10 or, as trec_eval has it, P_10.")
    ] = "",
    per_query: Annotated[bool, typer.Option("-q", "--per-query", help="Print every query's values too.")] = False,
    answered: Annotated[bool, typer.Option("--answered", help="Leave out judged queries without results.")] = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """Score any ranking against any relevance judgements, as trec_eval does; no lake is needed."""
    from evaluate.trec.compared import compared
    from evaluate.trec.measures import DEFAULT, measure_named
    from evaluate.trec.printed import compared_lines, mean_lines, notes, value_lines
    from evaluate.trec.scored import means, read_qrels, score_file

    measures = list({one.name: one for one in map(measure_named, split_names(metrics) or DEFAULT)}.values())
    judged = read_qrels(qrels)
    scored = score_file(ranked, judged, measures, answered_only=answered)
    over = means(scored.values, measures)
    if other is not None:
        beside = compared(scored.values, score_file(other, judged, measures, answered_only=answered).values, measures)
        print(jsonlib.dumps(beside.to_dicts()) if json else "\n".join(map(escaped, compared_lines(over, beside))))
        return
    if json:
        print(jsonlib.dumps({"means": over.to_dicts(), **({"values": scored.values.to_dicts()} if per_query else {})}))
        return
    if per_query:
        print(*map(escaped, value_lines(scored.values)), sep="\n")
    print(*map(escaped, mean_lines(over)), sep="\n")
    for note in notes(scored):
        Console(quiet=quiet).say(note)


@app.command("list")
def list_(
    what: Annotated[str, typer.Argument(help="systems, runs, retrievers, tasks, protocols or metrics.")] = "systems",
    lake: LakeOption = DEFAULT_LAKE,
    format: FormatOption = "",  # noqa: A002  # the flag's own name
) -> None:
    """What there is: systems (over the lake's chunkers, and imported), runs, retrievers, tasks, protocols, metrics."""
    chunkers = [part.name for part in Lake(lake).parts("chunkers")]
    built_in = [f"{chunker}+{retriever}" for chunker in chunkers for retriever in retrievers()]
    listings: dict[str, list[dict[str, object]]] = {
        "systems": [{"name": name} for name in [*built_in, *imported_systems(Lake(lake))]],
        "runs": _runs(Lake(lake)),
        "retrievers": [{"name": one.name, "meaning": one.meaning} for one in retrievers().values()],
        "tasks": [{"name": task.name, "meaning": task.meaning} for task in TASKS.values()],
        "protocols": [{"name": one.name, "meaning": one.meaning} for one in protocols().values()],
        "metrics": [{"name": one.name, "ks": list(one.ks), "meaning": one.meaning} for one in known_metrics().values()],
    }
    if what not in listings:
        kind = "listing"
        raise unknown_name(kind, what, listings)
    print_listing(listings[what], format)


def _runs(lake: Lake) -> list[dict[str, object]]:
    columns = ("run_id", "system", "task", "origin", "status", "n_items")
    return lake.scan("runs").select(columns).collect().sort("run_id").to_dicts()


def _outcome(done: dict[str, Evaluated], store: Lake) -> Outcome:
    outcome = Outcome(
        written=str(store.root),
        unit="item rankings",
        tally=store.tally,
        news=list(store.damage),
        hint="make report",
    )
    for result in done.values():
        outcome.expected += result.expected
        outcome.scored += result.scored
        outcome.failed += result.failed
        outcome.missing += result.unscorable
        outcome.tied += result.tied
        outcome.notes += result.notes
        outcome.news += result.news
        if result.unscorable:
            outcome.notes.append(
                f"not scorable in this lake: {counted(result.unscorable, 'item')}; `why_not` in items says why"
            )
    return outcome
