"""The lines a ranking returns, up to a rank or a budget, and what they share with the gold: sizes of sets.

No line is touched one by one. An item's axis is cut at every place where a hit starts or ends; between two cuts all
lines are alike, and each such piece belongs to the first hit that holds it.
"""

from collections.abc import Callable, Sequence

import polars as pl

from evaluate.metrics import CutKind, size_at
from lake.offsets import LineOffsets, held_pieces

CutOff = tuple[CutKind, int]
"""Where a ranking is cut off: what is counted, and how many of it."""
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
    """How many lines each item has in its gold, returned, in both, and returned from the query's own text.

    A budget walks the ranking and takes the lines no earlier hit has returned, in their order within a hit, until the
    next one would exceed the budget in non-whitespace characters; there it ends. Blank lines cost nothing. A number of
    lines takes so many of them, blank ones too. A depth takes the first k results whole.

    Hits have the key, rank, path, line_start, line_end; where they have `n_new_nws`, it saves work. Items have the key,
    pool_id and the columns of OWN_TEXT; gold is disjoint. A hit in no file of the axis has no lines, gold there stays
    in n_gold. What is given are, in the items' order, the key, n_gold, and at every cut-off n_returned, n_both and
    n_own, all Int64.
    """
    numbered = items.with_row_index("item").with_columns(pl.col("item").cast(pl.Int64))
    shown = _within_reach(hits, cut_offs, key).select(*key, "path", "line_start", "line_end", "rank")
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
    """The sizes of :func:`line_sets` for lists, several of which may be one walk down a pool.

    Walks have item (Int64, the walk), pool_id, rank, path, line_start, line_end; lists have the key, item, pool_id and
    the columns of OWN_TEXT.
    """
    # Walked once, though it is read several times.
    pieces = walk(axis.place(walks), axis, cut_offs).with_columns(axis.file_at("start")).collect().lazy()
    takes = {cut_off: pl.col(size_at("", *cut_off)) for cut_off in cut_offs}
    returned = pieces.group_by("item").agg(
        lines.sum().alias(size_at("n_returned", *cut_off)) for cut_off, lines in takes.items()
    )
    sets = (
        lists.select(*key, "item")
        .join(count_gold(gold, lists, axis), on="item_id", how="left", maintain_order="left")
        .join(returned, on="item", how="left", maintain_order="left")
    )
    of_gold = gold_as_spans(gold).join(lists.select(*key, "pool_id", "item"), on="item_id")
    for size, spans in {"n_both": of_gold, "n_own": own_text(lists, key)}.items():
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


def _within_reach(hits: pl.LazyFrame, cut_offs: Sequence[CutOff], key: Sequence[str]) -> pl.LazyFrame:
    """Those of the hits of which a cut-off can take a line, where their `n_new_nws` says what the ones before cost."""
    kinds = {cut: [k for kind, k in cut_offs if kind == cut] for cut, _ in cut_offs}
    budgets = kinds.get("budget", [])
    if "lines" in kinds or 0 in budgets or "n_new_nws" not in hits.collect_schema():
        return hits
    cost = pl.col("n_new_nws").fill_null(0)
    spent = cost.cum_sum().over(key, order_by="rank") - cost
    return hits.filter((spent <= max(budgets, default=-1)) | (pl.col("rank") <= max(kinds.get("results", [0]))))


def walk(spans: pl.LazyFrame, axis: LineOffsets, cut_offs: Sequence[CutOff]) -> pl.LazyFrame:
    """The pieces of the axis that hits hold, in the order they are returned, and how much each cut-off takes of each.

    Spans are hits: item (Int64), rank, start, end on the axis. A cut-off's column is `size_at("", …)`: how many of a
    piece's lines it takes from `start` on.
    """
    # Paid for in the order of the ranking, and of the lines within a hit.
    pieces = held_pieces(spans, len(axis.n_nws_before)).sort("item", "rank", "start")
    priced = pieces.with_columns(n_nws=axis.n_nws()).with_columns(
        spent=pl.col("n_nws").cum_sum().over("item") - pl.col("n_nws")
    )
    before, spent = _N_LINES.cum_sum().over("item") - _N_LINES, pl.col("spent")
    takes: dict[CutKind, Callable[[int], pl.Expr]] = {
        # A budget of 0 is no limit.
        "budget": lambda k: axis.n_lines_for(k - spent).clip(0) if k else _N_LINES,
        "lines": lambda n: (n - before).clip(0, _N_LINES),
        "results": lambda k: _N_LINES * (pl.col("rank") <= k),
    }
    return priced.with_columns(takes[cut](k).alias(size_at("", cut, k)) for cut, k in cut_offs).drop("spent")


def gold_as_spans(gold: pl.LazyFrame) -> pl.LazyFrame:
    """Disjoint gold as item_id, path, line_start, line_end."""
    return gold.select("item_id", "path", line_start="gold_start", line_end="gold_end")


def own_text(lists: pl.LazyFrame, key: Sequence[str]) -> pl.LazyFrame:
    """The query's own text of each list whose item has one: its key, item, pool_id, path, line_start, line_end."""
    path, line_start, line_end = OWN_TEXT
    own = lists.select(*key, "item", "pool_id", path=path, line_start=line_start, line_end=line_end)
    return own.drop_nulls(["path", "line_start", "line_end"])


def count_gold(gold: pl.LazyFrame, known: pl.LazyFrame, axis: LineOffsets) -> pl.LazyFrame:
    """How many lines each item's disjoint gold has: item_id, n_gold; in a file that the axis does not hold, all."""
    ends = [pl.min_horizontal(f"line_{side}", "n_lines") for side in ("start", "end")]
    return (
        gold_as_spans(gold)
        .join(known.select("item_id", "pool_id").unique(), on="item_id")
        .join(axis.files.lazy(), on=["pool_id", "path"], how="left")
        .group_by("item_id")
        .agg((ends[1] - ends[0]).sum().alias("n_gold"))
    )


_N_LINES = pl.col("end") - pl.col("start")
