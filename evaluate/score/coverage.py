"""The lines that a ranking returns up to a rank or a budget, and how many of them are gold: sizes of sets.

An item's axis (the files of its pool, end to end) is cut wherever a hit starts or ends; a piece is of its first hit.
"""

from collections.abc import Callable, Sequence

import polars as pl

from evaluate.metrics import CutKind, size_at
from lake.offsets import LineOffsets, held_pieces

CutOff = tuple[CutKind, int]
"""A cut-off of a ranking: what is counted, and how many of it."""
OWN_TEXT = ("target_path", "query_line_start", "target_line")
"""Columns of `items`: the query's own text is the lines from query_line_start up to target_line of target_path."""


def line_sets(
    *,
    hits: pl.LazyFrame,
    items: pl.LazyFrame,
    gold: pl.LazyFrame,
    axis: LineOffsets,
    cut_offs: Sequence[CutOff],
    key: Sequence[str] = ("item_id",),
) -> pl.LazyFrame:
    """The number of lines of each item: n_gold, and for every cut-off n_returned, n_both and n_own (the query's text).

    A budget follows the ranking, takes the lines that no earlier hit has returned, and ends before the first line that
    would exceed it in non-whitespace characters. A number of lines takes that many, blank ones included; a depth takes
    the first k results whole. `hits` may have n_new_nws, which saves work; `items` has the key, pool_id and OWN_TEXT;
    `gold` is disjoint. A hit in a file outside the axis has no lines; gold there counts in n_gold.
    """
    numbered = items.with_row_index("item").with_columns(pl.col("item").cast(pl.Int64))
    kinds = {cut: [k for kind, k in cut_offs if kind == cut] for cut, _ in cut_offs}
    budgets = kinds.get("budget", [])
    if "lines" not in kinds and 0 not in budgets and "n_new_nws" in hits.collect_schema():
        # Only the hits that a cut-off may take lines of, given what the earlier ones cost.
        cost = pl.col("n_new_nws").fill_null(0)
        spent = cost.cum_sum().over(key, order_by="rank") - cost
        hits = hits.filter((spent <= max(budgets, default=-1)) | (pl.col("rank") <= max(kinds.get("results", [0]))))
    shown = hits.select(*key, "path", "line_start", "line_end", "rank")
    walks = shown.join(numbered.select(*key, "pool_id", "item"), on=key).drop(key)
    return sizes_of_walks(walks, numbered, gold, axis, cut_offs, key)


def sizes_of_walks(
    walks: pl.LazyFrame,
    lists: pl.LazyFrame,
    gold: pl.LazyFrame,
    axis: LineOffsets,
    cut_offs: Sequence[CutOff],
    key: Sequence[str],
) -> pl.LazyFrame:
    """The sizes of :func:`line_sets` for lists, several of which may share one walk, whose number is `item` (Int64)."""
    # Both are collected, as they are used several times: polars would read the hits again for each use.
    placed = axis.place(walks).collect().lazy()
    pieces = walk(placed, axis, cut_offs).with_columns(axis.file_at("start")).collect().lazy()
    takes = {cut_off: pl.col(size_at("", *cut_off)) for cut_off in cut_offs}
    returned = pieces.group_by("item").agg(
        lines.sum().alias(size_at("n_returned", *cut_off)) for cut_off, lines in takes.items()
    )
    gold = gold.select("item_id", "path", line_start="gold_start", line_end="gold_end")
    # In a file outside the axis, all gold lines count.
    start, end = (pl.min_horizontal(f"line_{side}", "n_lines") for side in ("start", "end"))
    n_gold = (
        gold.join(lists.select("item_id", "pool_id").unique(), on="item_id")
        .join(axis.files.lazy(), on=["pool_id", "path"], how="left")
        .group_by("item_id")
        .agg((end - start).sum().alias("n_gold"))
    )
    sets = (
        lists.select(*key, "item")
        .join(n_gold, on="item_id", how="left", maintain_order="left")
        .join(returned, on="item", how="left", maintain_order="left")
    )
    known = lists.select(*key, "pool_id", "item")
    own = dict(zip(("path", "line_start", "line_end"), OWN_TEXT, strict=True))
    own_text = lists.select(*key, "item", "pool_id", **own).drop_nulls([*own])
    for size, spans in {"n_both": gold.join(known, on="item_id"), "n_own": own_text}.items():
        marked = axis.place(spans).select(*key, "item", axis.file_at("start"), mark_start="start", mark_end="end")
        first = pl.max_horizontal("mark_start", "start")
        ends = {
            size_at(size, *cut_off): pl.min_horizontal("mark_end", pl.col("start") + lines)
            for cut_off, lines in takes.items()
        }
        shared = pieces.join(marked, on=["item", "file"]).group_by(key)
        shared_lines = shared.agg((end - first).clip(0).sum().alias(name) for name, end in ends.items())
        sets = sets.join(shared_lines, on=key, how="left", maintain_order="left")
    return sets.drop("item").with_columns(pl.exclude(key).fill_null(0).cast(pl.Int64))


def walk(spans: pl.LazyFrame, axis: LineOffsets, cut_offs: Sequence[CutOff]) -> pl.LazyFrame:
    """The pieces of the axis that hits contain, in order of return; per cut-off, how many lines of each it takes."""
    # Costs add up in the order of the ranking, then of the lines within a hit.
    pieces = held_pieces(spans, len(axis.n_nws_before)).sort("item", "rank", "start")
    priced = pieces.with_columns(n_nws=axis.n_nws()).with_columns(
        spent=pl.col("n_nws").cum_sum().over("item") - pl.col("n_nws")
    )
    n_lines, spent = pl.col("end") - pl.col("start"), pl.col("spent")
    before = n_lines.cum_sum().over("item") - n_lines
    takes: dict[CutKind, Callable[[int], pl.Expr]] = {
        # A budget of 0 is no limit.
        "budget": lambda k: axis.n_lines_for(k - spent).clip(0) if k else n_lines,
        "lines": lambda n: (n - before).clip(0, n_lines),
        "results": lambda k: n_lines * (pl.col("rank") <= k),
    }
    return priced.with_columns(takes[cut](k).alias(size_at("", cut, k)) for cut, k in cut_offs).drop("spent")
