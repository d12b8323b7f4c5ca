"""The scores of one run's part under one protocol, whichever kind of run it is."""

from __future__ import annotations

from functools import partial

import polars as pl

from evaluate.metrics import metrics_of
from evaluate.rank.ranking import LINES, RANKING
from evaluate.score.chance import expected_random
from evaluate.score.metric_values import reads_pool
from evaluate.score.scoring import score
from evaluate.selection import ItemPart
from lake.catalog.protocol import Protocol
from lake.lines import LineAxis
from lake.relevance import RELEVANCE
from lake.searched import POOL, own_pools


def score_run(
    protocol: Protocol,
    *,
    run_id: str,
    hits: pl.LazyFrame,
    completions: pl.LazyFrame,
    asked: ItemPart,
    pool: pl.LazyFrame | None,
    relevance: pl.LazyFrame | None,
    axis: LineAxis | None,
    is_chance: bool,
    without_own_file: bool = False,
) -> pl.DataFrame:
    """Rows of table `scores` for the items of one part.

    Args:
        protocol: The rules.
        run_id: The run.
        hits: Its rows of table `hits`. Where it has a part `lines` beside its ranking (the oracle), metrics at a budget
            are measured on that one.
        completions: Its items' completions: item_id, completion.
        asked: The items and their gold.
        pool: The chunks the items' pools hold. None where nobody knows how the searched files were cut: what counts the
            relevant chunks of the pool has no value then.
        relevance: How like the gold every chunk of the pools is, for protocols that go by that.
        axis: The lines of the pools' files, for protocols that measure sets of lines.
        is_chance: The run stands for every order of the pool, and is scored by expectation.
        without_own_file: An item's pool is without its own file.
    """
    items = asked.items.lazy()
    if without_own_file and pool is not None:
        pool = own_pools(pool, items)
        items = items.with_columns(pool_id="item_id")
    rules = {
        "items": items,
        "gold": asked.gold_of(protocol.gold).lazy(),
        "pool": pl.LazyFrame(schema=POOL) if pool is None else pool,
    }
    if is_chance:
        return expected_random(protocol, run_id=run_id, axis=axis, relevance=relevance, **rules).collect()
    scored = partial(score, protocol, run_id=run_id, axis=axis, completions=completions, relevance=relevance, **rules)
    scores = scored(hits=hits.filter(pl.col("part") == RANKING)).collect()
    if pool is None and not RELEVANCE[protocol.relevance].is_graded:
        return _without(scores, protocol)
    budgets = [metric.name for metric, _ in metrics_of(protocol) if metric.cut != "results"]
    lines = hits.filter(pl.col("part") == LINES)
    if not budgets or lines.head(1).collect().is_empty():
        return scores
    at_budget = pl.col("metric").is_in(budgets)
    return pl.concat([scores.filter(~at_budget), scored(hits=lines).filter(at_budget).collect()])


def _without(scores: pl.DataFrame, protocol: Protocol) -> pl.DataFrame:
    """The scores without a value for metrics that compare a list with a pool that is not known."""
    unknown = [metric.name for metric, k in metrics_of(protocol) if reads_pool(metric, k)]
    known = ~pl.col("metric").is_in(unknown)
    return scores.with_columns(pl.when(known).then(pl.col("value", "numerator", "denominator")))
