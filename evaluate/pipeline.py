"""From items and chunks to runs, scores and aggregates: do what is new, leave what stands, forget what is stale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluate.asked import Selection, asked_of, edition
from evaluate.declared import declare
from evaluate.engine import IN_PROCESS, Engine
from evaluate.retrievers import retrievers
from evaluate.stale import forget_stale
from evaluate.systems import check_patterns
from evaluate.tasks import Task, tasks_of
from evaluate.work import Evaluated, Work
from lake.console import Console
from lake.errors import Exit, GoldspanError
from lake.fingerprint import canonical_json
from lake.store import Lake


@dataclass(frozen=True)
class Job:
    """The systems over one chunker, for one task: what is handed to one process."""

    lake: Path
    task: Task
    label: str
    selection: Selection
    patterns: tuple[str, ...]
    chunker: str


def run_job(job: Job) -> Evaluated:
    """Run a job's systems, as far as they are not done."""
    lake, done = Lake(job.lake), Evaluated()
    asked = list(asked_of(lake, job.task, job.selection))
    work = Work(lake, job.task, asked, job.selection, job.label, done)
    for system in work.plan(job.patterns):
        if system.chunker == job.chunker:
            work.run(system)
    return done


def evaluate(
    lake: Lake,
    benchmark: str,
    *,
    patterns: Sequence[str],
    selection: Selection,
    console: Console,
    engine: Engine = IN_PROCESS,
) -> Evaluated:
    """Run the chosen systems on a benchmark's items and score them; the caller holds the lake's lock.

    Raises:
        GoldspanError: The lake has no items of the benchmark, the selection leaves none, or a pattern means no system.
    """
    result = Evaluated()
    held = edition(lake, benchmark)
    if selection.limit is None and held.limit is not None:
        selection = Selection(selection.where, held.limit)
    declare(lake)
    check_patterns(patterns, [part.name for part in lake.parts("chunkers")], list(retrievers()))
    n_asked = 0
    for task in tasks_of(benchmark):
        asked = list(asked_of(lake, task, selection))
        n_asked += sum(one.items.height for one in asked)
        if task == tasks_of(benchmark)[0]:
            result.unscorable = sum(one.n_unscorable for one in asked)
        work = Work(lake, task, asked, selection, held.label, result)
        is_run = not task.imported_only and any(one.items.height for one in asked)
        plan = work.plan(patterns) if is_run else []
        chunkers = list(dict.fromkeys(system.chunker for system in plan))
        if engine.n_processes > 1 and len(chunkers) > 1:
            jobs = [Job(lake.root, task, held.label, selection, tuple(patterns), chunker) for chunker in chunkers]
            for done in console.track(engine.map(run_job, jobs), f"evaluating {task.name}", total=len(jobs)):
                result.add(done)
        else:
            for system in console.track(plan, f"evaluating {task.name}", total=len(plan)):
                work.run(system)
        result.notes += forget_stale(lake, task, held.label, selection)
        work.score_imported()
    if not n_asked:
        message = f"no scorable item of {benchmark} is left by {canonical_json(selection.said())}"
        raise GoldspanError(message, hint="python -m ingest list subsets shows what there is.", code=Exit.MISSING)
    return result
