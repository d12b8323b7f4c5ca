"""Built-in runs that today's items, chunks and code would not make: removed, so that no page mixes two states."""

from __future__ import annotations

import polars as pl

from evaluate.runs.task_runs import OF_A_RUN, Work
from evaluate.selection import Selection, asked_of
from evaluate.systems import known_retrievers
from lake.catalog.task import Task
from lake.outcome import Outcome
from lake.store import Lake
from lake.text import counted


def remove_stale(work: Work) -> list[str]:
    """Remove a task's stale and unfinished runs; sentences that say how many.

    A run is held against what would be made now of the items that it was asked. Trials on a sample or a selection are
    kept until everything is asked again.

    Args:
        work: The task, over what was just asked.
    """
    lake, task, asked = work.lake, work.task, work.selection
    runs = lake.scan("runs", benchmark=task.benchmark).filter(
        (pl.col("task") == task.name) & (pl.col("origin") == "built-in")
    )
    rows = runs.select("run_id", "retriever", "limit", "selection").sort("run_id").collect().iter_rows()
    current: dict[Selection, set[str]] = {}
    known, n_stale = known_retrievers(lake), 0
    for run_id, retriever, limit, where in rows:
        if retriever in known and not known[retriever].is_at_hand:
            # Whether it would be made so again can be told only where its model is.
            continue
        selection = Selection.of_run(where, limit)
        if selection not in current:
            is_over = asked.is_whole and not selection.is_whole
            current[selection] = set() if is_over else _current(work if selection == asked else _other(work, selection))
        if run_id not in current[selection]:
            n_stale += 1
            _remove(lake, task, run_id)
    for run_id in _unfinished(lake, task):
        _remove(lake, task, run_id)
    return [f"taken away: {counted(n_stale, 'run')} of an earlier state of the data or code"] if n_stale else []


def _other(work: Work, selection: Selection) -> Work:
    """The same task over another selection of the items."""
    asked = list(asked_of(work.lake, work.task, selection))
    return Work(work.lake, work.task, asked, selection, work.label, Outcome())


def _current(work: Work) -> set[str]:
    """The runs over some items that would be made just so again."""
    # Named one by one, so that systems that run only when asked for are among them.
    every = work.plan([f"*+{name}" for name in known_retrievers(work.lake)])
    return {work.run_id(one) for one in every if work.is_current(one)}


def _remove(lake: Lake, task: Task, run_id: str) -> None:
    for name in OF_A_RUN:
        for part in lake.parts(name, benchmark=task.benchmark, run_id=run_id):
            lake.remove(part)


def _unfinished(lake: Lake, task: Task) -> set[str]:
    """Runs of the task that have parts and no row: they were cut short."""
    named = {part.folders["run_id"] for part in lake.parts("runs", benchmark=task.benchmark)}
    made = {
        part.folders["run_id"]
        for name in OF_A_RUN
        for part in lake.parts(name)
        if part.folders["benchmark"] == task.benchmark
    }
    prefix = f"{task.name}--".replace("/", ".")
    return {run_id for run_id in made - named if run_id.startswith(prefix)}
