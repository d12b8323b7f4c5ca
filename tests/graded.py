"""Rankings against relevance judgements, whatever was ranked: what each query is worth by the metrics of rankings."""

from __future__ import annotations

import polars as pl

from evaluate.metrics import Requested
from evaluate.score.metric_values import label, measure


def score_graded(ranked: pl.LazyFrame, qrels: pl.LazyFrame, requested: Requested) -> pl.LazyFrame:
    """Per-query values of ranked metrics for any ranking and any relevance judgements, by the same declarations.

    Args:
        ranked: query, document and rank (from 1) or, without ranks, score; no document twice for a query. Scores are
            ordered as trec_eval orders them: as Float32 descending, then by document id descending.
        qrels: query, document, grade: relevant from grade 1 on, a grade being a result's share. A query may have no
            relevant document.
        requested: Metrics of the shape ``ranked`` that read nothing of a result but rank and share; cut-off 0 is the
            whole list.

    Returns:
        query and one column per metric, a row for every query in qrels, sorted by query. A query without results
        scores 0.
    """
    depths = [k for _, k in requested]
    is_relevant, share = pl.col("grade") > 0, pl.col("grade").cast(pl.Float64)
    gains = qrels.filter(is_relevant).select("query", "document", share=share)
    if not all(depths) and "rank" not in ranked.collect_schema():
        relevant = _relevant_of_whole(ranked, gains)
    else:
        # First the depth, then the judgements: hardly a row is left to be joined.
        deepest = max(depths) if all(depths) else _EVERY_RANK
        in_order = ranked if "rank" in ranked.collect_schema() else _trec_order(ranked, deepest)
        relevant = in_order.filter(pl.col("rank") <= deepest).join(gains, on=["query", "document"])
    n_relevant, shares = is_relevant.sum().cast(pl.Int64), share.filter(is_relevant).sort(descending=True)
    queries = qrels.group_by("query").agg(n_relevant=n_relevant, shares=shares).sort("query")
    values = measure(relevant, queries, requested, key=["query"])
    return values.select("query", *(label(metric, k) for metric, k in requested))


def _trec_order(scored: pl.LazyFrame, depth: int) -> pl.LazyFrame:
    """The first documents of each query in trec_eval's order: query, document, rank."""
    return (
        scored.group_by("query")
        .agg(pl.col("document").sort_by(_TREC_ORDER, descending=True).head(depth))
        .with_columns(rank=pl.int_ranges(1, pl.col("document").list.len().cast(pl.Int64) + 1))
        .explode("document", "rank")
    )


def _relevant_of_whole(scored: pl.LazyFrame, gains: pl.LazyFrame) -> pl.LazyFrame:
    """The relevant results of whole lists in trec_eval's order: query, rank, share. The others are never laid out."""
    share = pl.col("share").sort_by(_TREC_ORDER, descending=True)
    place = pl.int_range(1, pl.len() + 1, dtype=pl.Int64)
    return (
        scored.with_columns(pl.col("score").cast(pl.Float32))
        .join(gains, on=["query", "document"], how="left")
        .group_by("query")
        .agg(rank=place.filter(share.is_not_null()), share=share.drop_nulls())
        .filter(pl.col("rank").list.len() > 0)
        .explode("rank", "share")
    )


_TREC_ORDER = [pl.col("score").cast(pl.Float32), pl.col("document")]
_EVERY_RANK = 1 << 40
