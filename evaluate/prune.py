"""Built-in runs that today's items, chunks and code would not make: removed, so that no page mixes two states."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from evaluate.runs.task_runs import TaskRuns
from evaluate.selection import Selection, part_groups, part_name, selected_parts
from lake.catalog.task import Task
from lake.outcome import Outcome
from lake.store import Lake, Part
from lake.tables import TABLES
from lake.text import counted

OF_A_RUN = ("hits", "run_items", "costs", "scores", "step_scores", "aggregates", "runs")
"""The tables that have parts of a run's own. Its row is taken away last, so that a kill leaves nothing unnamed."""


def remove_other_parts(work: TaskRuns) -> None:
    """Remove what was made of items that the lake no longer holds, or that share a part with others now."""
    for asked, runs, is_ours in ((work.asked, work.plan, True), (work.whole, work.imported, False)):
        names = {part.part for part in asked} | {"all"}
        for run in runs:
            for part in _parts(work.lake, work.task, run.run_id):
                if part.name not in names and (is_ours or TABLES[part.table].made_by == "evaluate"):
                    work.lake.remove(part)
    groups = {part_name(stored) for stored in part_groups(work.lake, work.task.benchmark)}
    for part in work.lake.parts("relevance", benchmark=work.task.benchmark):
        if part.name not in groups:
            work.lake.remove(part)


def remove_stale(work: TaskRuns) -> list[str]:
    """Remove a task's stale and unfinished runs; sentences that say how many.

    A run is held against what would be made now of the items that it was asked. Trials on a sample or a selection are
    kept until everything is asked again.
    """
    lake, task, asked = work.lake, work.task, work.selection
    rows = work.stored("built-in").select("run_id", "retriever", "limit", "selection").sort("run_id").collect()
    current: dict[Selection, set[str]] = {}
    known, stale = work.retrievers, []
    for run_id, retriever, limit, where in rows.iter_rows():
        if retriever in known and known[retriever].why_missing:
            # Whether it would be made so again can be told only where its model is.
            continue
        selection = Selection.of_run(where, limit)
        if selection not in current:
            is_over = asked.is_whole and not selection.is_whole
            current[selection] = set() if is_over else _current(work, selection)
        if run_id not in current[selection]:
            stale.append(run_id)
    for run_id in [*stale, *_unfinished(lake, task)]:
        for part in _parts(lake, task, run_id):
            lake.remove(part)
    return [f"taken away: {counted(len(stale), 'run')} of an earlier state of the data or code"] if stale else []


def _current(work: TaskRuns, selection: Selection) -> set[str]:
    """The task's runs over a selection of the items that would be made just so again."""
    if selection != work.selection:
        asked = list(selected_parts(work.lake, work.task, selection))
        work = replace(work, asked=asked, selection=selection, result=Outcome())
    # Named one by one, so that systems that run only when asked for are among them.
    every = work.planned([f"*+{name}" for name in work.retrievers])
    return {run.run_id for run in every if work.is_current(run)}


def _parts(lake: Lake, task: Task, run_id: str) -> Iterator[Part]:
    for name in OF_A_RUN:
        yield from lake.parts(name, benchmark=task.benchmark, run_id=run_id)


def _unfinished(lake: Lake, task: Task) -> set[str]:
    """Runs of the task that have parts and no row: they were cut short."""
    named = {part.folders["run_id"] for part in lake.parts("runs", benchmark=task.benchmark)}
    made = {part.folders["run_id"] for name in OF_A_RUN for part in lake.parts(name, benchmark=task.benchmark)}
    prefix = f"{task.name}--".replace("/", ".")
    return {run_id for run_id in made - named if run_id.startswith(prefix)}
