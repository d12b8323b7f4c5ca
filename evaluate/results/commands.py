"""The commands that show, compare and check what was evaluated: `python -m evaluate table`, `compare`, `repro`, …."""

from __future__ import annotations

import fnmatch
import json as jsonlib
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from evaluate.metrics import parse_metric
from evaluate.results.board import board, boards_of, check_metrics
from evaluate.results.compare import compare, comparison, undecided
from evaluate.results.compared import parse_gate
from evaluate.results.extra_tables import cost_table, effects_table, usage_table
from evaluate.results.other_lake import Published
from lake.benchmarks import check_benchmark, protocols_called
from lake.catalog.protocol import Protocol
from lake.catalog.references import REFERENCE
from lake.catalog.task import Task
from lake.console import (
    DEFAULT_LAKE,
    Console,
    DebugOption,
    JsonOption,
    LakeOption,
    MemoryOption,
    QuietOption,
    setting,
    split_names,
)
from lake.errors import Exit, GoldspanError, unknown_name
from lake.printed_table import print_tables
from lake.selection import parse_items, with_items
from lake.store import Lake
from lake.text import escaped

commands = typer.Typer()

BenchmarksArgument = Annotated[list[str] | None, typer.Argument(help="All in the lake without any.")]
ProtocolOption = Annotated[str, setting("PROTOCOL", "Comma list (default: all).")]
ItemsOption = Annotated[str, setting("ITEMS", "Only these items: ids, a file of ids, repo=…, language=….")]
SliceOption = Annotated[str, setting("SLICE", "Slice of the items, such as level=line.", "--slice")]


@commands.command("table")
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


@commands.command("effects")
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


@commands.command("compare")
def compare_systems(
    a: Annotated[str, typer.Argument(metavar="A", help="A system, a run id, or `reference`.")],
    b: Annotated[str, typer.Argument(metavar="[B]", help="Another (with --against: A).")] = "",
    against: Annotated[Path | None, setting("AGAINST", "Take A from a published scores.parquet.")] = None,
    metric: Annotated[str, setting("METRIC", "Comma list (default: each protocol's primary metric).")] = "",
    slice_: SliceOption = "",
    protocol: ProtocolOption = "",
    items: ItemsOption = "",
    fail_if: Annotated[str, setting("FAIL_IF", 'A gate: "ndcg@10 drops > 0.01" or "ndcg@10 is worse".')] = "",
    flips: Annotated[bool, typer.Option("--flips", help="List the items on which the two differ.")] = False,
    lake: LakeOption = DEFAULT_LAKE,
    json: JsonOption = False,
) -> None:
    """Hold one system against another on the items both were asked.

    Exit code 6: the gate fails. 3: it cannot decide, as under 30 items are shared, or nothing can be compared.

    With --against A is among published scores and B in the lake: a change is compared with what it changes.
    """
    gate = parse_gate(fail_if) if fail_if else None
    requested = [parse_metric(name) for name in split_names(metric)]
    if gate is not None and (gate.metric, gate.k) not in requested:
        requested.append((gate.metric, gate.k))
    if not b and against is None:
        message = "compare takes two systems, or one and --against"
        raise GoldspanError(message, hint="`python -m evaluate list systems` shows them.", code=Exit.USAGE)
    store, other, notes = Lake(lake), Published(against) if against else None, list[str]()
    with store.locked(makes=()) if requested and other is None else nullcontext():
        where = parse_items(items)
        if where:
            with_items(store, [part.name for part in store.parts("benchmarks")], where)
        rows = compare(
            store,
            a,
            b or a,
            requested,
            against=other,
            protocol_names=split_names(protocol),
            slice_name=slice_,
            where=where,
            say=notes.append,
        )
    broken = [row for row in rows if gate is not None and gate.is_broken_by(row)]
    if json:
        kept = [{**row, "fails": row in broken, **({} if flips else {"flips": None})} for row in rows]
        print(jsonlib.dumps(kept, indent=2))
        for note in notes:
            Console().say(note)
    else:
        names_runs = against is not None or REFERENCE in (a, b)
        print(*map(escaped, [*comparison(rows, broken, flips=flips, names_runs=names_runs), *notes]), sep="\n")
    open_ = [row for row in rows if gate is not None and gate.is_undecided_by(row)]
    if open_ and not broken:
        raise GoldspanError(undecided(fail_if, open_), code=Exit.INVALID)
    raise typer.Exit(Exit.GATE if broken else Exit.DONE)


@commands.command("repro")
def reproduce(
    run_id: Annotated[str, typer.Argument(metavar="RUN_ID", help="A run; `list runs` shows them.")],
    lake: LakeOption = DEFAULT_LAKE,
    json: JsonOption = False,
) -> None:
    """Where the numbers of a run come from, and the commands that make them again."""
    from evaluate.results import repro

    store = Lake(lake)
    provenance = repro.provenance(store, run_id)
    print(jsonlib.dumps(provenance, indent=2) if json else "\n".join(map(escaped, repro.lines(provenance))))


@commands.command("score")
def score_command(
    qrels: Annotated[Path, typer.Argument(help="Relevance judgements: TREC's four columns, BEIR's table or JSON.")],
    ranked: Annotated[Path, typer.Argument(metavar="RUN", help="A ranking: TREC's six columns, BEIR's table or JSON.")],
    other: Annotated[Path | None, typer.Argument(metavar="[RUN2]", help="A second, compared with the first.")] = None,
    metrics: Annotated[str, setting("METRICS", "Comma list of ir_measures' names: AP,nDCG@10; or trec_eval's.")] = "",
    per_query: Annotated[bool, typer.Option("-q", "--per-query", help="Print every query's values too.")] = False,
    answered: Annotated[bool, typer.Option("--answered", help="Leave out judged queries without results.")] = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
    memory_limit: MemoryOption = None,  # set as it is read
    debug: DebugOption = False,
) -> None:
    """Score any ranking against any relevance judgements with ir_measures; no lake is needed."""
    from evaluate.results import regions, trec
    from evaluate.results.region_files import is_gold
    from evaluate.results.trec_files import QRELS, RUN, read_lists

    paths = [ranked] if other is None else [ranked, other]
    if is_gold(qrels):
        values, notes = regions.score_region_files(qrels, paths, split_names(metrics), answered_only=answered)
        means = [trec.means(of_run) for of_run in values]
    else:
        measures = list(dict.fromkeys(map(trec.measure_named, split_names(metrics) or trec.DEFAULT)))
        judged, runs = read_lists(qrels, QRELS), [read_lists(path, RUN) for path in paths]
        values = [trec.score_run(run, judged, measures, answered_only=answered) for run in runs]
        means = [trec.means(of_run, measures) for of_run in values]
        notes = [*trec.run_notes(values[0]["query"].to_list(), runs[0], judged)]
    beside = trec.compared_by_query(*values) if other is not None else []
    if json:
        shown: dict[str, object] = {"means": means[0]}
        shown |= {"means2": means[1], "compared": beside} if other is not None else {}
        if per_query:
            shown |= {name: of_run.to_dicts() for name, of_run in zip(("values", "values2"), values, strict=False)}
        print(jsonlib.dumps(shown))
        return
    lines = [*trec.compared_lines(means[0], beside)] if beside else [*trec.mean_lines(means[0])]
    if per_query:
        lines = [*trec.value_lines(values[0], values[1] if other is not None else None), *lines]
    print(*map(escaped, lines), sep="\n")
    both = [f"95 % intervals and p {trec.OVER_QUERIES}"]
    for note in notes if other is None else both:
        Console(quiet=quiet).say(note)
