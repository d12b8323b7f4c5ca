"""Scores: what each item of a run's part is worth under a protocol, whichever kind of run it is."""

from __future__ import annotations

import polars as pl

from evaluate.metrics import metrics_of
from evaluate.score.chance import expected_random
from evaluate.score.conformance import sealed
from evaluate.score.metric_inputs import Basis
from evaluate.score.metric_values import measure_run, reads_pool
from evaluate.selection import ItemPart
from lake.catalog.protocol import Protocol
from lake.lines import LineAxis
from lake.naming import LINES, RANKING
from lake.searched import POOL, own_pools


def score(basis: Basis, *, run_id: str, hits: pl.LazyFrame, completions: pl.LazyFrame | None = None) -> pl.LazyFrame:
    """One run's scores under one protocol: the rows of table `scores`, sorted by its key.

    Every item has a row for every metric and cut-off; nothing retrieved scores 0. Arguments are as for
    :func:`evaluate.score.metric_values.measure_run`.
    """
    return sealed(measure_run(basis, hits, completions), basis.protocol, run_id)


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
    items, chunks = asked.items.lazy(), pl.LazyFrame(schema=POOL) if pool is None else pool
    if without_own_file:
        chunks, items = own_pools(chunks, items), items.with_columns(pool_id="item_id")
    basis = Basis(protocol, items, asked.gold_of(protocol.gold).lazy(), chunks, axis, relevance)
    if is_chance:
        return expected_random(basis, run_id).collect()
    scores = score(basis, run_id=run_id, hits=hits.filter(part=RANKING), completions=completions).collect()
    if pool is None and not basis.rule.is_graded:
        # What compares a list with a pool that is not known has no value.
        unknown = [metric.name for metric, k in metrics_of(protocol) if reads_pool(metric, k)]
        known = ~pl.col("metric").is_in(unknown)
        return scores.with_columns(pl.when(known).then(pl.col("value", "numerator", "denominator")))
    budgets = [metric.name for metric, _ in metrics_of(protocol) if metric.cut != "results"]
    lines, at_budget = hits.filter(part=LINES), pl.col("metric").is_in(budgets)
    if not budgets or lines.head(1).collect().is_empty():
        return scores
    of_lines = score(basis, run_id=run_id, hits=lines, completions=completions).filter(at_budget).collect()
    return pl.concat([scores.filter(~at_budget), of_lines])
