"""From items and chunks to runs, scores and aggregates: outdated results are made again, stale ones removed."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from evaluate.metrics import Metric, metrics
from evaluate.partition import Partition, ReadPools
from evaluate.retrievers import Retriever
from evaluate.runs.pooling import compare_systems
from evaluate.runs.task_runs import TaskRuns
from evaluate.score.conformance import protocol_hash
from evaluate.selection import Edition, Selection, edition, part_groups, part_name, selected_parts
from evaluate.systems import check_patterns, imported_systems, known_retrievers, retriever_named
from lake.benchmarks import known_protocols, known_tasks, protocols_of, tasks_of
from lake.catalog.protocol import Protocol, Task
from lake.console import Console
from lake.engine import IN_PROCESS, Engine, release_memory
from lake.errors import Exit, GoldspanError
from lake.fingerprint import canonical_json
from lake.make import write_if_changed
from lake.outcome import Outcome
from lake.store import Lake
from lake.tables import declared_rows, table
from lake.text import counted


class Job(NamedTuple):
    """Some parts of a benchmark's items, for every task: the unit handed to a process.

    A job's runs are those over one chunker's chunks, or, with an empty `chunker`, the imported ones.
    """

    stored: tuple[str, ...]
    chunker: str


@dataclass(frozen=True)
class Runner:
    """The settings shared by all jobs of a benchmark; sent along to the process that runs a job.

    `retrievers` are those that may run, `groups` the parts of the items that are handled together. `chunkers` maps a
    task to the chunkers that have cut all its files, each with the fingerprint of its chunks.
    """

    lake: Path
    edition: Edition
    selection: Selection
    patterns: tuple[str, ...]
    retrievers: tuple[str, ...]
    groups: Sequence[tuple[str, ...]]
    chunkers: Mapping[Task, Mapping[str, str]] = field(default_factory=dict)

    def run(self, job: Job) -> Outcome:
        """Rank and score the job's runs, as far as not done yet; return which parts were made."""
        lake, read = Lake(self.lake), dict[str, ReadPools]()
        for task in self.chunkers:
            for item_part, chunker, runs in self.task_runs(lake, task, [job.stored], Outcome()).jobs():
                if chunker == job.chunker:
                    Partition(item_part, read).run(runs)
        read.clear()
        release_memory()
        return Outcome(tally=lake.tally)

    def pool(self, task: Task) -> Outcome:
        """Pool a task's scores over all items."""
        lake = Lake(self.lake)
        result = Outcome(tally=lake.tally)
        self.task_runs(lake, task, self.groups, result).pool()
        return result

    def compare(self, by: tuple[Task, Protocol]) -> Outcome:
        """Compare a task's systems under a protocol, from the pooled scores of all its runs."""
        lake = Lake(self.lake)
        compare_systems(lake, *by)
        return Outcome(tally=lake.tally)

    def task_runs(self, lake: Lake, task: Task, groups: Sequence[tuple[str, ...]], result: Outcome) -> TaskRuns:
        """A task's runs over some parts of the items, with the retrievers that may run."""
        everything, chunkers = Selection((), self.edition.limit), self.chunkers.get(task)
        whole = list(selected_parts(lake, task, everything, groups))
        is_whole = self.selection == everything
        item_parts = whole if is_whole else list(selected_parts(lake, task, self.selection, groups))
        known, label = {name: retriever_named(name) for name in self.retrievers}, self.edition.label
        return TaskRuns(lake, task, item_parts, whole, self.selection, self.patterns, label, result, known, chunkers)


@dataclass(frozen=True)
class BenchmarkRuns:
    """The work planned for a benchmark: its tasks' runs over the selected items."""

    name: str
    works: Sequence[TaskRuns]
    runner: Runner
    result: Outcome

    def jobs(self) -> Counter[Job]:
        """The jobs that are not entirely done, each with the number of its rankings, done or not."""
        jobs = Counter[Job]()
        for item_part, chunker, runs in (of_task for work in self.works for of_task in work.jobs()):
            if not Partition(item_part).is_current(runs):
                jobs[Job(tuple(item_part.stored), chunker)] += len(runs) * item_part.items.height
        return jobs


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
    """Run the chosen systems on some benchmarks' items and score them; the caller holds the lake's lock.

    `tasks` names the tasks to run; if empty, all that run by default and those that the lake has runs of.
    """
    known = known_retrievers(lake, patterns)
    declare(lake, known.values())
    check_patterns(patterns, [part.name for part in lake.parts("chunkers")], known, imported_systems(lake))
    every = [_prepared(lake, name, patterns, selection, known, tasks, console) for name in benchmarks]
    jobs = {benchmark.name: benchmark.jobs() for benchmark in every}
    n_rankings = {name: of_benchmark.total() for name, of_benchmark in jobs.items()}
    # With this many rankings, starting processes pays off even for few jobs.
    are_long = sum(n_rankings.values()) >= 5_000
    with engine.executor(sum(map(len, jobs.values())), are_long=are_long) as executor:
        # The largest benchmark first, so that the jobs waited for at the end are small.
        ranked = [
            (benchmark, engine.results(executor, benchmark.runner.run, sorted(jobs[benchmark.name])))
            for benchmark in sorted(every, key=lambda benchmark: -n_rankings[benchmark.name])
        ]
        pooled = list[tuple[BenchmarkRuns, TaskRuns, Iterator[Outcome]]]()
        compared = list[tuple[BenchmarkRuns, Iterator[Outcome]]]()
        for benchmark, done in ranked:
            for outcome in console.track(done, f"evaluating {benchmark.name}", total=len(jobs[benchmark.name])):
                benchmark.result.add(outcome)
            for work in benchmark.works:
                work.conclude()
                work.remove_stale()
            pooled += [
                (benchmark, work, engine.results(executor, benchmark.runner.pool, [work.task]))
                for work in benchmark.works
            ]
        for benchmark, work, done in console.track(pooled, "pooling", total=len(pooled)):
            for outcome in done:
                benchmark.result.add(outcome)
            # A task's systems are compared while other tasks are still pooled.
            to_compare = [(work.task, protocol) for protocol in protocols_of(work.task) if work.whole]
            compared += [(benchmark, engine.results(executor, benchmark.runner.compare, [by])) for by in to_compare]
        for benchmark, done in console.track(compared, "comparing", total=len(compared)):
            for outcome in done:
                benchmark.result.add(outcome)
    for benchmark in every:
        if not any(work.has_items for work in benchmark.works):
            limits = benchmark.runner.selection.parameters()
            none = f"no scorable item of {benchmark.name}"
            message = f"{none} matches {canonical_json(limits)}" if limits else f"{none} is in the lake"
            hint = "`python -m ingest list subsets` lists all subsets."
            raise GoldspanError(message, hint=hint, code=Exit.MISSING)
    return [benchmark.result for benchmark in every]


def _prepared(
    lake: Lake,
    benchmark: str,
    patterns: Sequence[str],
    selection: Selection,
    known: Mapping[str, Retriever],
    tasks: Sequence[str],
    console: Console,
) -> BenchmarkRuns:
    """Plan a benchmark's runs; remove outdated parts, and do what is done once for a whole run."""
    result = Outcome()
    known_edition = edition(lake, benchmark)
    if selection.limit is None:
        selection = Selection(selection.where, known_edition.limit)
    groups = part_groups(lake, benchmark)
    runner = Runner(lake.root.absolute(), known_edition, selection, tuple(patterns), tuple(known), groups)
    wanted = [task for task in tasks_of(lake, benchmark) if _is_run(lake, task, tasks)]
    works = [runner.task_runs(lake, task, groups, result) for task in wanted]
    result.missing = sum(item_part.n_unscorable for item_part in works[0].item_parts)
    for work in works:
        if n_blank := sum(item_part.n_blank for item_part in work.item_parts):
            result.warnings.append(
                f"left out of {work.task.name}, as their gold is only white space: {counted(n_blank, 'item')}"
            )
        # Before anything is counted, so that removed parts are not counted.
        work.remove_other_parts()
    names = {part_name(stored) for stored in groups}
    for part in [part for part in lake.parts("relevance", benchmark=benchmark) if part.name not in names]:
        lake.remove(part)
    for work in works:
        work.prepare(console.track)
    chunkers = {work.task: work.chunkers if work.plan else {} for work in works}
    return BenchmarkRuns(benchmark, works, replace(runner, chunkers=chunkers), result)


def _is_run(lake: Lake, task: Task, names: Sequence[str]) -> bool:
    """Whether a task runs: it is named, or no task is and it either runs by default or has runs in the lake."""
    if names or task.runs == "always":
        return task.name in names or not names
    runs = lake.scan("runs", benchmark=task.benchmark).filter(task=task.name)
    return not runs.head(1).collect().is_empty()


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
    parameters = {"depth": task.depth, "subsets": task.subsets, "imported_only": task.imported_only}
    return _row("tasks", task, parameters, query=task.query_meaning, pool=task.pool_meaning)


def _metric(metric: Metric) -> dict[str, object]:
    parameters = {"granularity": metric.granularity, "ks": metric.ks}
    micro = {"ratio of sums": "ratio", "equals macro": "same", "undefined": "none"}[metric.micro]
    return _row("metrics", metric, parameters, micro=micro, of_steps=metric.is_of_steps)


def _protocol(protocol: Protocol) -> dict[str, object]:
    primary, context = protocol.primary, protocol.context
    headline = protocol.headline or ("all", "all")
    parameters = {
        "threshold": protocol.threshold,
        "applies": protocol.applies,
        "full_lists": protocol.full_lists,
        **({"context": vars(context)} if context else {}),
    }
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
