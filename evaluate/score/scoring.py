"""Scores: what each item of a run is worth under a protocol, or under plain relevance judgements."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from evaluate.metrics import Metric, parse_metric
from evaluate.score.conformance import protocol_hash
from evaluate.score.metric_values import Requested, label, measure, measure_run
from lake.catalog.protocol import Protocol
from lake.errors import Exit, GoldspanError
from lake.lines import LineAxis
from lake.tables import table


def score(
    protocol: Protocol,
    *,
    run_id: str,
    hits: pl.LazyFrame,
    items: pl.LazyFrame,
    gold: pl.LazyFrame,
    pool: pl.LazyFrame,
    axis: LineAxis | None = None,
    completions: pl.LazyFrame | None = None,
    relevance: pl.LazyFrame | None = None,
) -> pl.LazyFrame:
    """One run's scores under one protocol: the rows of table `scores`, sorted by its key.

    Every item has a row for every metric and cut-off; nothing retrieved scores 0. Lines are 0-based and half-open.

    Args:
        protocol: The rules.
        run_id: The run.
        hits: The run's ranking: item_id, rank (from 1), path, line_start, line_end, chunk_no; lines for rules of lines,
            chunk_no for rules of similarity.
        items: The scorable items: item_id, pool_id, target_path, query_line_start, target_line, and the columns that
            the protocol's `applies` names.
        gold: item_id, path, line_start, line_end, of the protocol's gold rule.
        pool: pool_id, path, chunk_no, line_start, line_end: the chunks each pool holds under the run's chunker.
        axis: The lines of the pools' files, for protocols that measure sets of lines.
        completions: item_id, completion, for protocols that measure completions; the items then carry target_text.
        relevance: item_id, path, chunk_no, jaccard, identifier_overlap of every chunk of the items' pools under the
            run's chunker, for protocols that judge by similarity.
    """
    measured = measure_run(
        protocol,
        hits=hits,
        items=items,
        gold=gold,
        pool=pool,
        axis=axis,
        completions=completions,
        relevance=relevance,
    )
    return sealed(measured, protocol, run_id)


def sealed(measured: pl.LazyFrame, protocol: Protocol, run_id: str) -> pl.LazyFrame:
    """Measured values as rows of table `scores`, sorted by its key, under the run's name and the protocol's seal."""
    return (
        measured.with_columns(
            pl.lit(run_id).alias("run_id"),
            pl.lit(protocol.name).alias("protocol"),
            pl.lit(protocol_hash(protocol)).alias("protocol_hash"),
        )
        .select(*table("scores").columns)
        .sort("item_id", "granularity", "metric", "k")
    )


def score_judged(ranked: pl.LazyFrame, qrels: pl.LazyFrame, metrics: Sequence[str]) -> pl.LazyFrame:
    """Per-query values of ranked metrics for any ranking and any relevance judgements, by the same declarations.

    Args:
        ranked: query, document and rank (from 1) or, without ranks, score; no document twice for a query. Scores are
            ordered as trec_eval orders them: as Float32 descending, then by document id descending.
        qrels: query, document: the relevant documents, each once.
        metrics: Such as `ndcg@10`; those that ask for nothing but ranks.

    Returns:
        query and one column per metric, a row for every query in qrels, sorted by query. A query
        without results scores 0.

    Raises:
        GoldspanError: An unknown metric, or one that asks for more than ranks.
    """
    return score_graded(ranked, qrels.with_columns(grade=pl.lit(1)), [_by_rank_alone(name) for name in metrics])


def score_graded(ranked: pl.LazyFrame, qrels: pl.LazyFrame, requested: Requested) -> pl.LazyFrame:
    """As :func:`score_judged`, by judgements with grades: relevant from grade 1 on, a grade being a result's share.

    Args:
        ranked: As there.
        qrels: query, document, grade; a query may have no relevant document.
        requested: Metrics of the shape ``ranked`` that read nothing of a result but rank and share; cut-off 0 is the
            whole list.
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
    values = measure(relevant, queries, requested, key="query")
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


def _by_rank_alone(name: str) -> tuple[Metric, int]:
    metric, k = parse_metric(name)
    if not metric.by_rank_alone:
        more = metric.at(k).reads - {"rank", "n_relevant"}
        message = f"metric {name!r} asks for more than ranks: {', '.join(sorted(more))}"
        raise GoldspanError(message, hint="Score a run under a protocol instead.", code=Exit.USAGE)
    return metric, k
