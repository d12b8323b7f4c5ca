"""Scores: what each item of a run's part is worth under a protocol, whichever kind of run it is."""

from __future__ import annotations

import polars as pl

from evaluate.metrics import metrics_of
from evaluate.score.chance import expected_random
from evaluate.score.conformance import sealed
from evaluate.score.metric_inputs import Basis
from evaluate.score.metric_values import measure_run, reads_pool
from lake.naming import LINES, RANKING


def score(basis: Basis, *, run_id: str, hits: pl.LazyFrame, completions: pl.LazyFrame | None = None) -> pl.LazyFrame:
    """One run's scores under one protocol: the rows of table `scores`, sorted by its key.

    Every item has a row for every metric and cut-off; nothing retrieved scores 0. Arguments are as for
    :func:`evaluate.score.metric_values.measure_run`.
    """
    return sealed(measure_run(basis, hits, completions), basis.protocol, run_id)


def score_run(
    basis: Basis, *, run_id: str, hits: pl.LazyFrame, completions: pl.LazyFrame, is_chance: bool
) -> pl.DataFrame:
    """Rows of table `scores` for the items of one part.

    Args:
        basis: The rules, and what the items are.
        run_id: The run.
        hits: Its rows of table `hits`. Where it has a part `lines` beside its ranking (the oracle), metrics at a budget
            are measured on that one.
        completions: Its items' completions: item_id, completion.
        is_chance: The run stands for every order of the pool, and is scored by expectation.
    """
    if is_chance:
        return expected_random(basis, run_id).collect()
    requested = metrics_of(basis.protocol)
    scores = score(basis, run_id=run_id, hits=hits.filter(part=RANKING), completions=completions).collect()
    if basis.pool is None and not basis.rule.is_graded:
        # What compares a list with a pool that is not known has no value.
        known = ~pl.col("metric").is_in([metric.name for metric, k in requested if reads_pool(metric, k)])
        return scores.with_columns(pl.when(known).then(pl.col("value", "numerator", "denominator")))
    budgets = [metric.name for metric, _ in requested if metric.cut != "results"]
    lines, at_budget = hits.filter(part=LINES), pl.col("metric").is_in(budgets)
    if not budgets or lines.head(1).collect().is_empty():
        return scores
    of_lines = score(basis, run_id=run_id, hits=lines, completions=completions).filter(at_budget).collect()
    return pl.concat([scores.filter(~at_budget), of_lines])
