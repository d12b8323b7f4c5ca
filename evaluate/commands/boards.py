"""`python -m evaluate table`, `effects` and `compare`: boards, effects of chunkers and retrievers, and two systems."""

import json as jsonlib
import re
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from evaluate.metrics import Metric, parse_metric
from evaluate.results.board import benchmarks_named, board, boards_of, check_measured, print_tables
from evaluate.results.compare import Comparison, compare, comparison
from evaluate.results.extra_tables import cost_table, effects_table, usage_table
from evaluate.results.published import Published
from evaluate.statistics.slices import with_slice
from lake.averages import FEWEST_ITEMS
from lake.benchmarks import protocols_called
from lake.catalog.protocol import Protocol, Task
from lake.console import DEFAULT_LAKE, Console, JsonOption, LakeOption, setting, split_names, split_systems
from lake.errors import Exit, GoldspanError, unknown_name
from lake.pools import is_picked, parse_items, with_items
from lake.store import Lake
from lake.text import escaped, listed
from lake.verdict import TOO_FEW, WORSE

ProtocolOption = Annotated[str, setting("PROTOCOL", "Comma list (default: all).")]
ItemsOption = Annotated[str, setting("ITEMS", "Only these items: ids, a file of ids, repo=…, language=….")]
SliceOption = Annotated[str, setting("SLICE", "Slice of the items, such as level=line.", "--slice")]


app = typer.Typer()

BenchmarksArgument = Annotated[list[str] | None, typer.Argument(help="Benchmarks (default: all in the lake).")]


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
    """Print the boards: every system with rank, interval and items; tab-separated in a pipe."""
    store, requested, where = Lake(lake), [parse_metric(name) for name in split_names(metrics)], parse_items(items)
    which = _boards(store, benchmarks, protocol)
    with store.locked(makes=()) if requested else nullcontext():
        if where:
            having = with_items(store, benchmarks_named(store, benchmarks), where)
            which = [pair for pair in which if pair[0].benchmark in having]
        check_measured(requested, which, listed(list(dict.fromkeys(task.benchmark for task, _ in which))))
        names = split_systems(systems, store)
        known = store.scan("runs").select("system").unique().collect()["system"].to_list()
        for name in names if known else ():
            if not any(is_picked(system, [name]) for system in known):
                raise unknown_name(name, "system", known)
        of_all = partial(board, store, requested=requested, slice_name=slice_, systems=names, top=top, where=where)
        boards = with_slice(which, lambda pair: of_all(task=pair[0], protocol=pair[1]))
    if not any(boards):
        with_item = " for a selected item" if where else ""
        raise store.lacks(f"no run in the lake has a score on these boards{with_item}", "evaluate")
    if costs:
        boards += [cost_table(store, *pair, names) for pair in which]
        # A task's first protocol is the one that its page opens on.
        first = {task.name: (task, protocol) for task, protocol in reversed(which)}
        boards += [usage_table(store, *pair, names) for pair in reversed(first.values())]
    print_tables(filter(None, boards))


@app.command("effects")
def effects_of_choices(
    benchmarks: BenchmarksArgument = None,
    protocol: ProtocolOption = "",
    lake: LakeOption = DEFAULT_LAKE,
) -> None:
    """Show whether chunker or retriever matters more: every pair's score, means, and shares of the variance."""
    store = Lake(lake)
    tables = [effects_table(store, *pair) for pair in _boards(store, benchmarks, protocol)]
    if not any(tables):
        message = "no two chunkers were run with the same two retrievers on all items"
        raise store.lacks(message, "ingest evaluate CHUNKERS=whole-file")
    print_tables(filter(None, tables))


def _boards(lake: Lake, benchmarks: Sequence[str] | None, protocol: str) -> list[tuple[Task, Protocol]]:
    """The boards of some benchmarks (default: all of the lake) under some protocols (default: all)."""
    wanted = split_names(protocol)
    names = {protocol.name for name in wanted for protocol in protocols_called(lake, name)}
    every = boards_of(lake, benchmarks_named(lake, benchmarks))
    return [pair for pair in every if not wanted or pair[1].name in names]


class Gate(NamedTuple):
    """A condition that fails a comparison: the second's number `drops` or `rises` by more than `by`, or `is worse`."""

    metric: Metric
    k: int
    change: str
    by: float

    def is_broken(self, row: Comparison) -> bool | None:
        """Whether a comparison is by the gate's metric and fails it; None if it has no verdict that the gate needs."""
        if (row["metric"], row["k"]) != (self.metric.name, self.k):
            return False
        if self.change == "is worse":
            return None if row["verdict"] in {None, TOO_FEW} else bool(row["verdict"] == WORSE)
        return bool((-row["delta"] if self.change == "drops" else row["delta"]) > self.by)


def parse_gate(text: str) -> Gate:
    """The gate in a text such as `ndcg@10 drops > 0.01` or `ndcg@10 is worse`; an error for any other text."""
    match = re.fullmatch(r"\s*(\S+)\s+(?:(drops|rises)\s*>\s*(\d+(?:\.\d+)?)|is\s+worse)\s*", text)
    if match is None:
        message = f"--fail-if {text!r} is not a condition"
        hint = 'Write it as "ndcg@10 drops > 0.01" (or rises), or as "ndcg@10 is worse".'
        raise GoldspanError(message, hint=hint, code=Exit.USAGE)
    metric, k = parse_metric(match[1])
    return Gate(metric, k, match[2] or "is worse", float(match[3] or 0))


@app.command("compare")
def compare_systems(
    a: Annotated[str, typer.Argument(metavar="A", help="A system or a run id.")],
    b: Annotated[str, typer.Argument(metavar="B", help="Another system (with --against, default: A).")] = "",
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
    """Compare two systems on the items that both were run on; with --against, A comes from published scores.

    Exit code 6: the gate fails. 3: it cannot decide (fewer than 30 shared items), or nothing can be compared.
    """
    gate = parse_gate(fail_if) if fail_if else None
    requested = [*dict.fromkeys([*map(parse_metric, split_names(metric)), *([gate[:2]] if gate else [])])]
    if not b and against is None:
        message = "compare takes two systems, or one and --against"
        raise GoldspanError(message, hint="`python -m evaluate list systems` shows them.", code=Exit.USAGE)
    store, other, notes, where = Lake(lake), Published(against) if against else None, list[str](), parse_items(items)
    with store.locked(makes=()) if requested and other is None else nullcontext():
        if where:
            with_items(store, benchmarks_named(store, []), where)
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
    fails = [gate.is_broken(row) if gate else False for row in rows]
    broken = [row for row, is_broken in zip(rows, fails, strict=True) if is_broken]
    if json:
        kept = [{**row, "fails": row in broken, **({} if flips else {"flips": None})} for row in rows]
        print(jsonlib.dumps(kept, indent=2))
        for note in notes:
            Console().say(note)
    else:
        lines = comparison(rows, broken, flips=flips, names_runs=against is not None)
        print(*map(escaped, [*lines, *notes]), sep="\n")
    if None in fails and not broken:
        needed = f"it needs {FEWEST_ITEMS} shared items, and a metric that says which is better"
        raise GoldspanError(f'the gate "{fail_if}" cannot decide: {needed}', code=Exit.INVALID)
    raise typer.Exit(Exit.GATE if broken else Exit.DONE)
