"""From items and chunks to runs, scores and aggregates: what is not current is made, what is stale removed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from evaluate.declared import declare
from evaluate.naming import retriever_named
from evaluate.partition import Partition, PoolCache
from evaluate.prune import remove_other_parts, remove_stale
from evaluate.runs.comparing import compare_task, systems_of
from evaluate.runs.task_runs import Work
from evaluate.selection import Selection, asked_of, edition
from evaluate.systems import check_at_hand, check_patterns, imported_systems, known_retrievers
from lake.benchmarks import tasks_of
from lake.catalog.task import Task
from lake.console import Console
from lake.engine import IN_PROCESS, Engine
from lake.errors import Exit, GoldspanError
from lake.fingerprint import canonical_json
from lake.outcome import Outcome
from lake.parts import PartCounts
from lake.store import Lake
from lake.text import counted

MANY_RANKINGS = 5_000
"""From so many rankings of items on, starting processes is worth its seconds however few jobs they are in."""


class Job(NamedTuple):
    """Some parts of the items under one chunker, for every task that asks them: what is handed out."""

    stored: tuple[str, ...]
    chunker: str


@dataclass(frozen=True)
class Runner:
    """What every job of a benchmark has in common; it goes along to whichever process does one.

    Attributes:
        lake: The lake's folder.
        label: The label of the data.
        selection: Which items are asked.
        patterns: Which systems are run.
        retrievers: The names of those that may run.
        chunkers: Task → chunker that has cut all its files → what its chunks were made from.
        cache: What the last job read.
    """

    lake: Path
    label: str
    selection: Selection
    patterns: tuple[str, ...]
    retrievers: tuple[str, ...]
    chunkers: Mapping[Task, Mapping[str, str]]
    cache: PoolCache = field(default_factory=PoolCache)

    def run(self, job: Job) -> PartCounts:
        """Rank and score the job's systems, as far as they are not done; how many parts that made."""
        lake, known = Lake(self.lake), {name: retriever_named(name) for name in self.retrievers}
        for task, chunkers in self.chunkers.items():
            for asked in asked_of(lake, task, self.selection, job.stored):
                of_task = (self.selection, self.patterns, self.label, Outcome(), known, chunkers)
                work = Work(lake, task, [asked], [asked], *of_task)
                Partition(asked, self.cache).run([run for run in work.plan if run.chunker == job.chunker])
        return lake.tally


def evaluate(
    lake: Lake,
    benchmark: str,
    *,
    patterns: Sequence[str],
    selection: Selection,
    console: Console,
    engine: Engine = IN_PROCESS,
    tasks: Sequence[str] = (),
) -> Outcome:
    """Run the chosen systems on a benchmark's items and score them; the caller holds the lake's lock.

    Tasks are those of the benchmark that are named; without any, those that need not be, and those run before.

    Raises:
        GoldspanError: The lake has no items of the benchmark, the selection leaves none, or a pattern means no system.
    """
    result = Outcome()
    held = edition(lake, benchmark)
    everything = Selection((), held.limit)
    if selection.limit is None:
        selection = Selection(selection.where, held.limit)
    known = known_retrievers(lake, patterns)
    declare(lake, known.values())
    cut_by = [part.name for part in lake.parts("chunkers")]
    check_patterns(patterns, cut_by, list(known), imported_systems(lake))
    check_at_hand(patterns, known)
    works = []
    for task in [task for task in tasks_of(lake, benchmark) if _is_run(lake, task, tasks)]:
        whole = list(asked_of(lake, task, everything))
        asked = whole if selection == everything else list(asked_of(lake, task, selection))
        works.append(Work(lake, task, asked, whole, selection, patterns, held.label, result, known))
    result.missing = sum(asked.n_unscorable for asked in works[0].asked)
    for work in works:
        if n_blank := sum(asked.n_blank for asked in work.asked):
            result.notes.append(
                f"not asked by {work.task.name}, as their gold is white space alone: {counted(n_blank, 'item')}"
            )
    runs = [(work, run) for work in works for run in work.plan]
    for work in works:
        # First, so that nothing of what is gone is counted.
        remove_other_parts(work)
    said: dict[str, Mapping[str, str]] = {}
    for work, run in [(work, run) for work, run in runs if not work.is_current(run)]:
        if found := work.prepare(run, console.track):
            said[run.run_id] = found
            result.notes.append(f"{run.system.name}, {work.task.name}: {', '.join(map(' '.join, found.items()))}")
    jobs = _jobs(works)
    chunkers = {work.task: work.chunkers for work in works if work.plan}
    runner = Runner(lake.root.absolute(), held.label, selection, tuple(patterns), tuple(known), chunkers)
    n_rankings = sum(len(work.plan) * asked.described.height for work in works for asked in work.asked)
    done = engine.map(runner.run, jobs, are_long=n_rankings >= MANY_RANKINGS)
    for tally in console.track(done, f"evaluating {benchmark}", total=len(jobs)):
        lake.tally.add(tally)
    for work in works:
        work.conclude(said)
        result.news += remove_stale(work)
        work.score()
        if work.whole:
            compare_task(work.whole, systems_of(lake, work.task))
    if not any(work.has_items for work in works):
        limits = selection.said()
        none = f"no scorable item of {benchmark}"
        message = f"{none} is left by {canonical_json(limits)}" if limits else f"{none} is in the lake"
        raise GoldspanError(message, hint="`python -m ingest list subsets` shows what there is.", code=Exit.MISSING)
    return result


def _is_run(lake: Lake, task: Task, names: Sequence[str]) -> bool:
    """Whether a task is named; where none is, whether it runs always, or the lake holds runs of it."""
    if names or task.runs == "always":
        return task.name in names or not names
    runs = lake.scan("runs", benchmark=task.benchmark).filter(task=task.name)
    return not runs.head(1).collect().is_empty()


def _jobs(works: Sequence[Work]) -> list[Job]:
    """Every part under every chunker for which something is not done, part by part."""
    jobs: set[Job] = set()
    for work in works:
        for asked in work.asked:
            part = Partition(asked, PoolCache())
            for run in work.plan:
                job = Job(tuple(asked.stored), run.system.chunker)
                if job not in jobs and not part.is_current(run):
                    jobs.add(job)
    return sorted(jobs)
