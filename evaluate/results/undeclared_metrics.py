"""Metrics that a protocol does not declare, worked out when they are asked for and never stored: exploratory."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

import polars as pl

from evaluate.metrics import Metric, Requested, metrics_of
from evaluate.runs.pooling import systems_of
from evaluate.score.contexts.gold_sets import N_RANKED_STEPS
from evaluate.score.metric_values import BY_HITS
from evaluate.selection import ItemPart, Selection, edition, selected_parts
from evaluate.statistics.means import aggregate
from evaluate.systems import Run
from lake.catalog.protocol import Primary, Protocol, Task
from lake.relevance import RELEVANCE
from lake.store import Lake
from lake.tables import table


def why_not(task: Task, protocol: Protocol, metric: Metric, k: int) -> str:
    """Why a metric cannot be had of a task's runs under a protocol's rules; empty where it can."""
    if (metric, k) in metrics_of(protocol):
        return ""
    measures = [measure for measure, _ in metrics_of(protocol)]
    shapes = {measure.shape for measure in measures}
    # Under rules of contexts the rankings among the runs are measured as lists too.
    by_hits = protocol.context is not None or not shapes.isdisjoint(BY_HITS)
    by_lines = metric.shape == "covered" and "covered" in shapes
    by_sets = metric.shape == "gathered" and metric.granularity in {measure.granularity for measure in measures}
    # What asks for nothing but the ranks of relevant results and how many there are.
    by_rank = metric.shape == "ranked" and metric.reads <= {"rank", "n_relevant"}
    is_general = by_rank or metric.shape in ("filed", "listed")
    is_graded = RELEVANCE[protocol.relevance].by_lines and metric.reads <= {"rank", "share", "shares"}
    if metric not in measures and not by_lines and not by_sets and not (by_hits and (is_general or is_graded)):
        return f"{metric.name} is not measured under {protocol.name}"
    is_of_steps = protocol.context is not None and metric.shape not in _OF_RESULTS
    deepest = N_RANKED_STEPS if is_of_steps else task.depth
    if metric.cut == "results" and deepest is not None and k > deepest:
        return f"{metric.name}@{k}: runs of {task.name} keep {deepest} results"
    return ""


def explored(
    lake: Lake, task: Task, protocol: Protocol, requested: Requested, run_ids: Collection[str] | None = None
) -> pl.DataFrame:
    """Scores by metrics that a protocol does not declare, of every item that a run was scored on under it.

    The caller holds the lake's lock, as similarities may be stored that were not there.
    """
    rules = _with_metrics(protocol, requested)
    folders = {"benchmark": task.benchmark, "protocol": protocol.name}
    stored = [part for part in lake.parts("scores", **folders) if run_ids is None or part.folders["run_id"] in run_ids]
    scored = lake.scan_parts(stored, "scores").select("run_id", "item_id").unique()
    frames = [pl.DataFrame(schema=_COLUMNS)]
    for selection, runs in _runs(lake, task, {part.folders["run_id"] for part in stored}):
        for part in selected_parts(lake, task, selection):
            frames += _scores(part, rules, runs)
    sealed = {"protocol": pl.lit(protocol.name), "protocol_hash": pl.lit("")}
    scores = pl.concat(frames).lazy().join(scored, on=["run_id", "item_id"], how="semi")
    return scores.with_columns(**sealed).select(*table("scores").columns).collect()


def aggregated(lake: Lake, task: Task, protocol: Protocol, scores: pl.DataFrame) -> pl.DataFrame:
    """Exploratory scores over the slices that the protocol's own are pooled over: rows of table `aggregates`."""
    items = lake.scan("items", benchmark=task.benchmark)
    frames = [pl.DataFrame(schema=table("aggregates").columns)]
    # One by one: whether a slice mixes what must not be mixed depends on the items a run was asked.
    for rows in scores.partition_by("run_id", maintain_order=True):
        mine = items.join(rows.lazy().select("item_id").unique(), on="item_id", how="semi")
        run_items = lake.scan("run_items", benchmark=task.benchmark, run_id=rows["run_id"][0])
        frames.append(aggregate(protocol, rows.lazy(), mine, run_items).collect())
    return pl.concat(frames)


_OF_RESULTS = ("ranked", "filed", "listed")
"""The shapes that are read over a list of results, which an agent does not give."""
_COLUMNS = {name: kind for name, kind in table("scores").columns.items() if not name.startswith("protocol")}


def _with_metrics(protocol: Protocol, requested: Requested) -> Protocol:
    """The protocol's rules with other metrics."""
    names = [(metric.name, k) for metric, k in requested]
    metric, k = requested[0]
    return replace(
        protocol,
        metrics=tuple((name, (k,)) for name, k in names),
        primary=Primary(metric.name, k, metric.granularity, protocol.primary.aggregate),
        applies=tuple(rule for rule in protocol.applies if rule[:2] in names),
    )


def _runs(lake: Lake, task: Task, run_ids: Collection[str]) -> Iterator[tuple[Selection, list[Run]]]:
    """Some runs of a task by what of the items they were asked; those over the same chunks beside each other."""
    expected = systems_of(lake, task).select("run_id", "is_expected")
    rows = lake.read("runs", benchmark=task.benchmark).join(expected, on="run_id").sort("chunker", "run_id")
    whole = Selection((), edition(lake, task.benchmark).limit)
    runs: dict[Selection, list[Run]] = {}
    for run in rows.filter(pl.col("run_id").is_in(list(run_ids))).iter_rows(named=True):
        is_ours = run["origin"] == "built-in"
        selection = Selection.of_run(run["selection"], run["limit"]) if is_ours else whole
        mine = Run(run["run_id"], chunker=run["chunker"], is_chance=run["is_expected"])
        runs.setdefault(selection, []).append(mine)
    yield from runs.items()


def _scores(part: ItemPart, rules: Protocol, runs: Sequence[Run]) -> list[pl.DataFrame]:
    """The scores of some runs on a part of the items; lists of results where a run has such, contexts together."""
    # Imported when needed: a table of declared metrics scores nothing.
    from evaluate.partition import Partition

    requested, contexts = metrics_of(rules), rules.context is not None
    of_contexts = [pair for pair in requested if contexts and pair[0].shape not in _OF_RESULTS]
    wanted: dict[Protocol, Sequence[Run]] = {}
    if of_contexts:
        wanted[_with_metrics(rules, of_contexts)] = runs
    if of_results := [pair for pair in requested if pair not in of_contexts]:
        ranked = replace(_with_metrics(rules, of_results), context=None)
        wanted[ranked] = [run for run in runs if not contexts or run.chunker is not None]
    scored = (scores for protocol, mine in wanted.items() for scores in Partition(part).scores(protocol, mine))
    return [scores.tables[-1].select(*_COLUMNS) for scores in scored]
