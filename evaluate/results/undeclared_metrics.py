"""Metrics that a protocol does not declare: computed on request and never stored, exploratory."""

from collections.abc import Collection
from dataclasses import replace

import dataframely as dy
import polars as pl

from evaluate.metrics import Metric, Requested, metrics_of
from evaluate.runs.pooling import systems_of
from evaluate.score.contexts.gold_sets import N_RANKED_STEPS
from evaluate.score.metric_values import BY_HITS
from evaluate.selection import edition, selected_parts
from evaluate.systems import Run
from lake.catalog.protocol import Primary, Protocol, Task
from lake.relevance import RELEVANCE
from lake.store import Lake
from lake.tables.evaluated import Scores


def why_not(task: Task, protocol: Protocol, metric: Metric, k: int) -> str:
    """Why a metric is not available for a task's runs under a protocol's rules; empty if it is available."""
    if (metric, k) in metrics_of(protocol):
        return ""
    measures = [measure for measure, _ in metrics_of(protocol)]
    shapes = {measure.shape for measure in measures}
    # Under context rules, rankings are measured as lists too.
    by_hits = protocol.context is not None or not shapes.isdisjoint(BY_HITS)
    by_lines = metric.shape == "covered" and "covered" in shapes
    by_sets = metric.shape == "gathered" and metric.granularity in {measure.granularity for measure in measures}
    # Metrics that need only the ranks of relevant results and their number.
    by_rank = metric.shape in ("ranked", "found") and metric.reads <= {"rank", "n_relevant"}
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
) -> dy.DataFrame[Scores]:
    """The scores by metrics that a protocol does not declare; the caller holds the lock: similarities may be stored."""
    # Imported when needed: a table of declared metrics scores nothing.
    from evaluate.partition import Partition

    measured = [name for name in Scores.column_names() if not name.startswith("protocol")]
    folders = {"benchmark": task.benchmark, "protocol": protocol.name}
    stored = [part for part in lake.parts("scores", **folders) if run_ids is None or part.folders["run_id"] in run_ids]
    known = systems_of(lake, task).filter(pl.col("run_id").is_in([part.folders["run_id"] for part in stored]))
    systems = known.select("run_id", "chunker", "is_expected").iter_rows()
    runs = [Run(run_id, chunker=chunker, is_chance=is_expected) for run_id, chunker, is_expected in systems]
    # Under context rules, metrics of lists are for runs that have lists.
    of_lists = [pair for pair in requested if protocol.context is None or pair[0].shape in _OF_RESULTS]
    of_contexts = [pair for pair in requested if pair not in of_lists]
    lists = [run for run in runs if protocol.context is None or run.chunker is not None]
    chosen = ((protocol, of_contexts, runs), (replace(protocol, context=None), of_lists, lists))
    rules = [(_with_metrics(rule, metrics), mine) for rule, metrics, mine in chosen if metrics and mine]
    frames: list[pl.DataFrame] = [Scores.create_empty().select(measured)]
    for part in selected_parts(lake, task, edition(lake, task.benchmark)[1]) if rules else ():
        scored = (scores for rule, mine in rules for scores in Partition(part).scores(rule, mine))
        frames += [tables[-1].select(measured) for _, tables in scored]
    sealed = {"protocol": pl.lit(protocol.name), "protocol_hash": pl.lit("")}
    answered = lake.scan_parts(stored, "scores").select("run_id", "item_id").unique()
    scores = pl.concat(frames).lazy().join(answered, on=["run_id", "item_id"], how="semi")
    return Scores.cast(scores.with_columns(**sealed)).collect()


_OF_RESULTS = ("ranked", "found", "filed", "listed")
"""The shapes of metrics of a list of results, which an agent does not return."""


def _with_metrics(protocol: Protocol, requested: Requested) -> Protocol:
    names = [(metric.name, k) for metric, k in requested]
    metric, k = requested[0]
    return replace(
        protocol,
        metrics=tuple((name, (k,)) for name, k in names),
        primary=Primary(metric.name, k, metric.granularity, protocol.primary.aggregate),
        applies=tuple(rule for rule in protocol.applies if rule[:2] in names),
    )
