"""Built-in runs that today's items, chunks and code would not make: removed, so that no page mixes two states."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from evaluate.runs.task_runs import TaskRuns
from evaluate.selection import Selection, part_groups, part_name, selected_parts
from lake.outcome import Outcome
from lake.store import Lake, Part
from lake.tables import TABLES
from lake.text import counted

OF_A_RUN = ("hits", "run_items", "costs", "scores", "step_scores", "aggregates", "runs")
"""The tables that have parts of a run's own. Its row is taken away last, so that a kill leaves nothing unnamed."""


def remove_other_parts(lake: Lake, benchmark: str, works: Sequence[TaskRuns]) -> None:
    """Remove what was made of items that the lake no longer holds, or that share a part with others now."""
    stored = _parts_by_run(lake, benchmark)
    for work in works:
        for item_parts, runs, is_ours in ((work.item_parts, work.plan, True), (work.whole, work.imported, False)):
            names = {part.part for part in item_parts} | {"all"}
            for part in (part for run in runs for part in stored[run.run_id]):
                if part.name not in names and (is_ours or TABLES[part.table].made_by == "evaluate"):
                    lake.remove(part)
    groups = {part_name(stored) for stored in part_groups(lake, benchmark)}
    for part in lake.parts("relevance", benchmark=benchmark):
        if part.name not in groups:
            lake.remove(part)


def remove_stale(work: TaskRuns) -> list[str]:
    """Remove a task's stale and unfinished runs, and trials where everything is asked; sentences that say how many."""
    rows = work.stored("built-in").select("run_id", "retriever", "limit", "selection").sort("run_id").collect()
    current: dict[Selection, set[str]] = {}
    known, stale, have_run = work.retrievers, [], {*rows["retriever"]}
    for run_id, retriever, limit, where in rows.iter_rows():
        if retriever in known and known[retriever].why_missing:
            # Whether it would be made so again can be told only where its model is.
            continue
        selection = Selection.of_run(where, limit)
        if selection not in current:
            is_over = work.selection.is_whole and not selection.is_whole
            # One with arguments may be called otherwise in a run: a model by its folder's name in place of its path.
            may_have_run = {name for name in known if ":" in name or name in have_run}
            current[selection] = set() if is_over else _current(work, selection, sorted(may_have_run))
        if run_id not in current[selection]:
            stale.append(run_id)
    stored = _parts_by_run(work.lake, work.task.benchmark)
    # Those that have parts and no row were cut short.
    has_row = {run_id for run_id, parts in stored.items() if any(part.table == "runs" for part in parts)}
    prefix = f"{work.task.name}--".replace("/", ".")
    unfinished = [run_id for run_id in stored if run_id not in has_row and run_id.startswith(prefix)]
    for part in (part for run_id in (*stale, *unfinished) for part in stored[run_id]):
        work.lake.remove(part)
    return [f"taken away: {counted(len(stale), 'run')} of an earlier state of the data or code"] if stale else []


def _current(work: TaskRuns, selection: Selection, retrievers: Sequence[str]) -> set[str]:
    """The runs by some retrievers over a selection of the items that would be made just so again."""
    if selection != work.selection:
        item_parts = list(selected_parts(work.lake, work.task, selection))
        work = replace(work, item_parts=item_parts, selection=selection, result=Outcome())
    # Named one by one, so that systems that run only when asked for are among them.
    return {run.run_id for run in work.planned([f"*+{name}" for name in retrievers]) if work.is_current(run)}


def _parts_by_run(lake: Lake, benchmark: str) -> defaultdict[str, list[Part]]:
    of_run = defaultdict[str, list[Part]](list)
    for part in (part for name in OF_A_RUN for part in lake.parts(name, benchmark=benchmark)):
        of_run[part.folders["run_id"]].append(part)
    return of_run
