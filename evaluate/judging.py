"""Which returned and which existing chunks are relevant to an item, and how much gold each shares."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import polars as pl

Judge = Callable[[pl.LazyFrame, pl.LazyFrame, Sequence[str]], pl.LazyFrame]
"""(spans, gold, identity of a span) → the relevant spans: the identity's columns and `iou`."""


def disjoint(gold: pl.LazyFrame) -> pl.LazyFrame:
    """An item's gold in a file without overlaps, so that every gold line counts once.

    Args:
        gold: item_id, path, line_start, line_end (half-open); spans may overlap.

    Returns:
        item_id, path, gold_start, gold_end, n_gold_in_file: ordered spans that share no line, and how many lines
        the item's gold has in the file.
    """
    group = ["item_id", "path"]
    covered_to = pl.col("line_end").cum_max().shift(1).over(group)
    return (
        gold.select(*group, "line_start", "line_end")
        .sort(*group, "line_start", "line_end")
        .select(
            *group,
            pl.max_horizontal("line_start", covered_to).alias("gold_start"),
            pl.col("line_end").alias("gold_end"),
        )
        .filter(pl.col("gold_start") < pl.col("gold_end"))
        .with_columns((pl.col("gold_end") - pl.col("gold_start")).sum().over(group).alias("n_gold_in_file"))
    )


def line_overlap(spans: pl.LazyFrame, gold: pl.LazyFrame, identity: Sequence[str]) -> pl.LazyFrame:
    """Relevant = in a gold file and sharing at least one line with the item's gold.

    `iou` is lines shared over lines in either, against all of the item's gold lines in that file; with one gold span
    per file this is the ordinary intersection over union. A span with several gold spans in reach counts once.

    Args:
        spans: item_id, path, line_start, line_end (half-open) and the identity's columns.
        gold: As :func:`disjoint` gives it.
        identity: The columns that tell one span from another.
    """
    spans = spans.select(*identity, *({"item_id", "path", "line_start", "line_end"} - set(identity)))
    shared = pl.min_horizontal("line_end", "gold_end") - pl.max_horizontal("line_start", "gold_start")
    n_shared, n_lines = pl.col("n_shared"), pl.col("line_end") - pl.col("line_start")
    return (
        spans.join(gold, on=["item_id", "path"])
        .with_columns(shared.alias("n_shared"), (n_lines + pl.col("n_gold_in_file")).alias("n_either"))
        .filter(n_shared > 0)
        .group_by(*identity)
        .agg(n_shared.sum(), pl.col("n_either").first())
        .select(*identity, (n_shared / (pl.col("n_either") - n_shared)).alias("iou"))
    )


RELEVANCE: Mapping[str, Judge] = {"line-overlap": line_overlap}
"""The relevance rules by name."""
