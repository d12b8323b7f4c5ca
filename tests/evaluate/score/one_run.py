"""The scores of a single run, over all items."""

from __future__ import annotations

import polars as pl

from evaluate.score.chance import CASE, score_lists
from evaluate.score.metric_inputs import Lists, ScoringInputs


def score(inputs: ScoringInputs, *, hits: pl.LazyFrame) -> pl.LazyFrame:
    """Rows of table `scores` of a run called `run`, by item."""
    run_id = pl.lit("run").alias("run_id")
    lists = Lists(inputs, hits.with_columns(run_id), inputs.items.with_columns(run_id), CASE)
    return score_lists(lists).sort("item_id", "granularity", "metric", "k")
