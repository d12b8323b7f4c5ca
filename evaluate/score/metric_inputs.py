"""What metrics read beside relevant hits: of an item's pool, of its list, of the files it names."""

from __future__ import annotations

import polars as pl

from lake.catalog.protocol import Protocol
from lake.relevance import RELEVANCE, Evidence


def applying(protocol: Protocol) -> list[str]:
    """The item columns by which a protocol says what applies."""
    return list(dict.fromkeys(column for _, _, column, _ in protocol.applies))


def list_lengths(hits: pl.LazyFrame, items: pl.LazyFrame, pool: pl.LazyFrame) -> pl.LazyFrame:
    """How long each item's list is, and how long it could be: item_id, n_returned, n_in_pool (null if not known)."""
    returned = hits.group_by("item_id").agg(n_returned=pl.len().cast(pl.Int64))
    sizes = pool.group_by("pool_id").agg(n_in_pool=pl.len().cast(pl.Int64))
    return (
        items.select("item_id", "pool_id")
        .join(returned, on="item_id", how="left", maintain_order="left")
        .join(sizes, on="pool_id", how="left", maintain_order="left")
        .select("item_id", pl.col("n_returned").fill_null(0), "n_in_pool")
    )


def judged_items(
    protocol: Protocol,
    items: pl.LazyFrame,
    spans: pl.LazyFrame,
    pool: pl.LazyFrame,
    relevance: pl.LazyFrame | None = None,
) -> pl.LazyFrame:
    """What denominators read of an item, from its whole pool, in the items' order.

    Args:
        protocol: Whose relevance rule.
        items: item_id, pool_id, and the columns the protocol's `applies` names.
        spans: Their gold, as :meth:`lake.relevance.Rule.gold_of` gives it.
        pool: pool_id, path, chunk_no, line_start, line_end.
        relevance: As for :func:`measure_run`.

    Returns:
        item_id, what `applies` names, n_relevant, gains and, where gold is lines, shares (of
        the relevant chunks, best first); best: the best similarity
        of any chunk, boundary: that of the gold candidate's own chunks or null, n_elsewhere: relevant chunks of others.
    """
    evidence = Evidence(items, spans, pool, relevance, protocol.threshold)
    iou = pl.col("iou")
    rule = RELEVANCE[protocol.relevance]
    found = (
        rule.pool(evidence)
        .group_by("item_id")
        .agg(
            iou.count().cast(pl.Int64).alias("n_relevant"),
            iou.drop_nulls().sort(descending=True).alias("gains"),
            *([pl.col("share").sort(descending=True).alias("shares")] if rule.by_lines else []),
            pl.col("similarity").max().alias("best"),
            pl.col("similarity").filter("is_gold").max().alias("boundary"),
            iou.filter(~pl.col("is_gold")).count().cast(pl.Int64).alias("n_elsewhere"),
        )
    )
    return (
        items.select("item_id", *applying(protocol))
        .join(found, on="item_id", how="left", maintain_order="left")
        .with_columns(
            pl.col("n_relevant", "n_elsewhere").fill_null(0),
            pl.col("gains", *(["shares"] if rule.by_lines else [])).fill_null(pl.lit([], pl.List(pl.Float64))),
            pl.col("best").fill_null(0.0),
        )
    )


def files_returned(
    hits: pl.LazyFrame, items: pl.LazyFrame, spans: pl.LazyFrame, pool: pl.LazyFrame
) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    """The gold files that lists name, each at its place among their different files; and how many each item has."""
    del pool
    gold = spans.select("item_id", "path").unique()
    order = pl.col("rank").rank("ordinal").over("item_id").cast(pl.Int64)
    named = hits.group_by("item_id", "path").agg(pl.col("rank").min()).with_columns(rank=order)
    n_files = gold.group_by("item_id").agg(n_relevant=pl.len().cast(pl.Int64))
    known = items.select("item_id").join(n_files, on="item_id", how="left", maintain_order="left")
    return named.join(gold, on=["item_id", "path"], how="semi"), known.with_columns(pl.col("n_relevant").fill_null(0))


def judged_hits(
    hits: pl.LazyFrame, items: pl.LazyFrame, spans: pl.LazyFrame, pool: pl.LazyFrame
) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    """All hits, and whether each is of a file that the item's pool holds; and the items."""
    del spans
    of_pool = pool.select("pool_id", "path", is_judged=pl.lit(value=True)).unique()
    placed = hits.join(items.select("item_id", "pool_id"), on="item_id")
    judged = placed.join(of_pool, on=["pool_id", "path"], how="left")
    return judged.with_columns(pl.col("is_judged").fill_null(value=False)), items.select("item_id")
