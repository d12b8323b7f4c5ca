"""Rankings against relevance judgements, whatever was ranked: what each query is worth by the metrics of rankings."""

import polars as pl

from evaluate.metrics import Requested
from evaluate.score.metric_values import label, measure


def score_graded(ranked: pl.LazyFrame, qrels: pl.LazyFrame, requested: Requested) -> pl.LazyFrame:
    """A row per query of `qrels` (query, document, grade), sorted, with a column per metric; without results 0.

    `ranked` has query, document (once per query) and rank from 1. Grades from 1 on are relevant, and are the shares.
    `requested` are metrics of rank and share alone; cut-off 0 is the whole list.
    """
    is_relevant, share = pl.col("grade") > 0, pl.col("grade").cast(pl.Float64)
    gains = qrels.filter(is_relevant).select("query", "document", share=share)
    depths = [k for _, k in requested]
    # First the depth, then the judgements: hardly a row is left to be joined.
    seen = ranked.filter(pl.col("rank") <= max(depths)) if all(depths) else ranked
    n_relevant, shares = is_relevant.sum().cast(pl.Int64), share.filter(is_relevant).sort(descending=True)
    queries = qrels.group_by("query").agg(n_relevant=n_relevant, shares=shares).sort("query")
    values = measure(seen.join(gains, on=["query", "document"]), queries, requested, key=["query"])
    return values.select("query", *(label(metric, k) for metric, k in requested))
