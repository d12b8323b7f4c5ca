"""Scores: what each item of some runs is worth under a protocol, whichever kind of runs they are."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from evaluate.metrics import metrics_of
from evaluate.score.chance import expected_random
from evaluate.score.conformance import sealed
from evaluate.score.metric_inputs import Lists, ScoringInputs
from evaluate.score.metric_values import measure_runs, reads_pool
from lake.naming import LINES, RANKING

CASE = ("run_id", "item_id")
"""What tells one answer from another."""


def score_runs(
    inputs: ScoringInputs, *, hits: pl.LazyFrame, answers: pl.LazyFrame, chance: Sequence[str] = ()
) -> pl.DataFrame:
    """Rows of table `scores` for the items of one part and all runs over the chunks of one chunker.

    Every answer (run_id, item_id, completion) has a row for every metric and cut-off. Where a run has a part `lines`
    beside its ranking (the oracle), metrics at a budget are measured on that one. The runs of `chance`, which stand for
    every order of the pool, are scored by expectation, and have no answers.
    """
    scores = [expected_random(inputs, run_id).collect() for run_id in chance]
    # Read once: several plans go by it.
    cases = answers.join(inputs.items, on="item_id", maintain_order="left").collect()
    if not scores or not cases.is_empty():
        scores.append(_score_lists(inputs, hits, cases.lazy()))
    return pl.concat(scores)


def _score_lists(inputs: ScoringInputs, hits: pl.LazyFrame, cases: pl.LazyFrame) -> pl.DataFrame:
    scores = score_lists(Lists(inputs, hits.filter(part=RANKING), cases, CASE)).collect()
    requested = metrics_of(inputs.protocol)
    if inputs.pool is None and not inputs.rule.is_graded:
        # What compares a list with a pool that is not known has no value.
        known = ~pl.col("metric").is_in([metric.name for metric, k in requested if reads_pool(metric, k)])
        return scores.with_columns(pl.when(known).then(pl.col("value", "numerator", "denominator")))
    budgets = [metric.name for metric, _ in requested if metric.cut != "results"]
    lines, at_budget = hits.filter(part=LINES), pl.col("metric").is_in(budgets)
    bounding = lines.select("run_id").unique().collect()["run_id"] if budgets else pl.Series(dtype=pl.String)
    if bounding.is_empty():
        return scores
    has_lines = pl.col("run_id").is_in(bounding.implode())
    of_lines = score_lists(Lists(inputs, lines, cases.filter(has_lines), CASE)).filter(at_budget).collect()
    return pl.concat([scores.filter(~(has_lines & at_budget)), of_lines])


def score_lists(lists: Lists) -> pl.LazyFrame:
    """Score the ranked lists of several runs under one protocol: rows of table `scores`; the lists' key is CASE."""
    return sealed(measure_runs(lists), lists.inputs.protocol)
