"""From items and chunks to runs, scores and aggregates: outdated results are made again, stale ones removed."""

import ctypes
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

import polars as pl

from evaluate.metrics import Metric, metrics
from evaluate.partition import Partition, ReadPools
from evaluate.retrievers import Retriever
from evaluate.runs.pooling import compare_systems
from evaluate.runs.task_runs import TaskRuns, parts_by_run, pool
from evaluate.score.conformance import protocol_hash
from evaluate.selection import ItemPart, Selection, edition, part_groups, part_name
from evaluate.systems import Run, check_patterns, imported_systems, known_retrievers
from lake.benchmarks import known_protocols, known_tasks, protocols_of, tasks_of
from lake.catalog.protocol import Protocol, Task
from lake.console import Console
from lake.engine import IN_PROCESS, Engine
from lake.errors import Exit, GoldspanError
from lake.fingerprint import canonical_json
from lake.make import write_if_changed
from lake.outcome import Outcome
from lake.store import Lake
from lake.tables import declared_rows, table
from lake.text import counted

Job = Sequence[tuple[ItemPart, Sequence[Run]]]
"""Some items of a benchmark under each task, with the runs over one chunker's chunks: the work of a process."""


def run_job(job: Job) -> Outcome:
    """Rank and score a job's runs, as far as not done yet; return which parts were made."""
    read: ReadPools = {}
    for item_part, runs in job:
        # A copy, so that what is read of its items is dropped with it.
        Partition(replace(item_part), read).run(runs)
    read.clear()
    with suppress(AttributeError):
        # After many small arrays, glibc would keep most of the freed memory; other C libraries lack the function.
        ctypes.CDLL(None).malloc_trim(0)
    return Outcome(tally=job[0][0].lake.tally)


class BenchmarkRuns(NamedTuple):
    """The runs of a benchmark's tasks, their jobs that are not entirely done, and the number of rankings in these."""

    name: str
    tasks: Sequence[TaskRuns]
    jobs: Sequence[Job]
    n_rankings: int
    result: Outcome

    def add(self, done: Iterable[Outcome]) -> None:
        """Add the outcomes of some of its jobs, once they are done."""
        for outcome in done:
            self.result.add(outcome)


def evaluate(
    lake: Lake,
    benchmarks: Sequence[str],
    *,
    patterns: Sequence[str],
    selection: Selection,
    console: Console,
    engine: Engine = IN_PROCESS,
    tasks: Sequence[str] = (),
) -> list[Outcome]:
    """Run the chosen systems on some benchmarks' items and score them; the caller holds the lake's lock."""
    known = known_retrievers(lake, patterns)
    declare(lake, known.values())
    check_patterns(patterns, [part.name for part in lake.parts("chunkers")], known, imported_systems(lake))
    every = [_planned(lake, name, patterns, selection, known, tasks, console) for name in benchmarks]
    # With this many rankings, starting processes pays off even for few jobs.
    are_long = sum(benchmark.n_rankings for benchmark in every) >= 5_000
    with engine.executor(sum(len(benchmark.jobs) for benchmark in every), are_long=are_long) as executor:
        # The largest benchmark first, so that the jobs waited for at the end are small.
        ranked = [
            (benchmark, engine.results(executor, run_job, benchmark.jobs))
            for benchmark in sorted(every, key=lambda benchmark: -benchmark.n_rankings)
        ]
        pooled = list[tuple[BenchmarkRuns, TaskRuns, Iterator[Outcome]]]()
        compared = list[tuple[BenchmarkRuns, Iterator[Outcome]]]()
        for benchmark, done in ranked:
            benchmark.add(console.track(done, f"evaluating {benchmark.name}", total=len(benchmark.jobs)))
            benchmark.add(runs.conclude() for runs in benchmark.tasks)
            stored = parts_by_run(lake, benchmark.name)
            for runs in benchmark.tasks:
                benchmark.result.changes += runs.remove_stale(known, stored)
            pooled += [(benchmark, runs, engine.results(executor, pool, [runs])) for runs in benchmark.tasks]
        for benchmark, runs, done in console.track(pooled, "pooling", total=len(pooled)):
            benchmark.add(done)
            # A task's systems are compared while other tasks are still pooled.
            to_compare = [(lake, runs.task, protocol) for protocol in protocols_of(runs.task) if runs.whole]
            compared += [(benchmark, engine.results(executor, compare_systems, [by])) for by in to_compare]
        for benchmark, done in console.track(compared, "comparing", total=len(compared)):
            benchmark.add(done)
    for benchmark in every:
        if not any(runs.has_items for runs in benchmark.tasks):
            limits = benchmark.tasks[0].selection.parameters()
            none = f"no scorable item of {benchmark.name}"
            message = f"{none} matches {canonical_json(limits)}" if limits else f"{none} is in the lake"
            hint = "`python -m ingest list subsets` lists all subsets."
            raise GoldspanError(message, hint=hint, code=Exit.MISSING)
    return [benchmark.result for benchmark in every]


def _planned(
    lake: Lake,
    name: str,
    patterns: Sequence[str],
    selection: Selection,
    known: Mapping[str, Retriever],
    names: Sequence[str],
    console: Console,
) -> BenchmarkRuns:
    """Plan a benchmark's runs; remove outdated parts, and do what is done once for a whole run."""
    (label, everything), groups, result = edition(lake, name), part_groups(lake, name), Outcome()
    if selection.limit is None:
        selection = replace(selection, limit=everything.limit)
    # Without names, those run that run by default or have runs in the lake.
    chosen = names or lake.scan("runs", benchmark=name).select(pl.col("task").unique()).collect()["task"].to_list()
    tasks = [
        TaskRuns(lake, task, label, everything, selection, groups)
        for task in tasks_of(lake, name)
        if task.name in chosen or (task.runs == "always" and not names)
    ]
    for of_task in tasks:
        if n_blank := sum(item_part.n_blank for item_part in of_task.item_parts):
            items = counted(n_blank, "item")
            result.warnings.append(f"left out of {of_task.task.name}, as their gold is only white space: {items}")
        of_task.choose(patterns, known, result.warnings)
    result.missing = sum(item_part.n_unscorable for item_part in tasks[0].item_parts)
    # Before anything is counted, so that removed parts are not counted.
    stored = parts_by_run(lake, name)
    for of_task in tasks:
        of_task.remove_other_parts(stored)
    kept = set(map(part_name, groups))
    for part in [part for part in lake.parts("relevance", benchmark=name) if part.name not in kept]:
        lake.remove(part)
    n_rankings, work = 0, defaultdict[tuple[tuple[str, ...], str], list[tuple[ItemPart, Sequence[Run]]]](list)
    for of_task in tasks:
        of_task.prepare(console.track, result.warnings)
        for item_part, chunker, runs in of_task.work():
            if not Partition(item_part).is_current(runs):
                work[tuple(item_part.stored), chunker].append((item_part, runs))
                n_rankings += len(runs) * item_part.items.height
    return BenchmarkRuns(name, tasks, [work[key] for key in sorted(work)], n_rankings, result)


def declare(lake: Lake, known: Iterable[Retriever]) -> None:
    """Write the tables `tasks`, `protocols`, `metrics` and `retrievers`, unless they are current."""
    rows = {
        "tasks": map(_task, known_tasks(lake).values()),
        "protocols": map(_protocol, known_protocols(lake).values()),
        "metrics": map(_metric, metrics().values()),
        "retrievers": (_row("retrievers", retriever, retriever.parameters, revision="") for retriever in known),
    }
    for name, declared in rows.items():
        write_if_changed(lake, name, "all", declared_rows(name, declared))


def _row(name: str, declared: object, parameters: Mapping[str, object], **others: object) -> dict[str, object]:
    """A row with the declaration's attributes that are columns of the table, and with `others`."""
    columns = {column: getattr(declared, column) for column in table(name).columns if hasattr(declared, column)}
    columns |= {column: list(value) for column, value in columns.items() if isinstance(value, tuple)} | others
    return {**columns, "parameters": canonical_json(parameters)}


def _task(task: Task) -> dict[str, object]:
    parameters = {name: getattr(task, name) for name in ("depth", "subsets", "imported_only")}
    return _row("tasks", task, parameters, query=task.query_meaning, pool=task.pool_meaning)


def _metric(metric: Metric) -> dict[str, object]:
    parameters = {"granularity": metric.granularity, "ks": metric.ks}
    micro = {"ratio of sums": "ratio", "equals macro": "same", "undefined": "none"}[metric.micro]
    return _row("metrics", metric, parameters, micro=micro, of_steps=metric.is_of_steps)


def _protocol(protocol: Protocol) -> dict[str, object]:
    primary, context = protocol.primary, protocol.context
    headline = protocol.headline or ("all", "all")
    parameters = {name: getattr(protocol, name) for name in ("threshold", "applies", "full_lists")}
    parameters |= {"context": vars(context)} if context else {}
    return _row(
        "protocols",
        protocol,
        parameters,
        primary_metric=f"{primary.metric}@{primary.k}",
        metrics=[{"metric": metric, "ks": list(ks)} for metric, ks in protocol.metrics],
        primary=vars(primary),
        headline={"slice": headline[0], "slice_value": headline[1]},
        has_contexts=context is not None,
        leaves_out_failed=context is not None and context.failed == "left out",
        hash=protocol_hash(protocol),
    )
