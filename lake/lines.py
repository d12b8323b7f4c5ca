"""Ranked spans of lines: what each place is held by, and which lines each adds to those before it."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl


def held_pieces(spans: pl.LazyFrame, n_places: int, *flags: str) -> pl.LazyFrame:
    """What ranked spans hold, cut where anything starts or ends: item, start, end, rank (the best) and the flags.

    Args:
        spans: item (Int64), start, end, rank (null for what only cuts) and the flags, which hold where any span's does.
        n_places: More than any end.
        flags: Columns of truth values.
    """
    # Each item has the axis to itself: item and place are one number, which sorts, joins and groups fast.
    first_place = pl.col("item") * n_places
    spans = spans.with_columns(pl.col(_SIDES) + first_place)
    ends = [spans.select(place=side) for side in _SIDES]
    cuts = pl.concat(ends).unique().sort("place").with_columns(next=pl.col("place").shift(-1)).with_row_index("piece")
    first, last = (cuts.select(pl.col("place").alias(side), pl.col("piece").alias(f"{side}_piece")) for side in _SIDES)
    return (
        # Left joins, though every end is a cut: inner ones may be reordered into all pairs of cuts.
        spans.join(first, on="start", how="left")
        .join(last, on="end", how="left")
        .select("rank", *flags, pl.int_ranges("start_piece", "end_piece").alias("piece"))
        .explode("piece")
        .group_by("piece")
        .agg(pl.col("rank").min(), *(pl.col(flag).any() for flag in flags))
        .filter(pl.col("rank").is_not_null())
        .join(cuts.with_columns(pl.col("piece").cast(pl.Int64)), on="piece")
        .with_columns(item=pl.col("place") // n_places)
        .select("item", "rank", *flags, start=pl.col("place") - first_place, end=pl.col("next") - first_place)
    )


def added_lines(spans: pl.DataFrame, of_list: Sequence[str]) -> pl.DataFrame:
    """The lines that each span adds to those of better rank in its list: one row for every run of new lines.

    Args:
        spans: The columns that tell one list from another, path, rank, line_start, line_end; other columns are dropped.
        of_list: Those columns.
    """
    key = [*of_list, "path"]
    # Numbered once: the order of unique rows is another each time that it is worked out.
    files = spans.select(key).unique().with_row_index("file").with_columns(pl.col("file").cast(pl.Int64)).lazy()
    placed = spans.lazy().filter(pl.col("line_start") < pl.col("line_end")).join(files, on=key)
    placed = placed.select("rank", item="file", start="line_start", end="line_end")
    n_places = 1 + int(spans.select(pl.col("line_end").max().fill_null(0)).item())
    pieces = held_pieces(placed, n_places).select("rank", file="item", line_start="start", line_end="end")
    return pieces.join(files, on="file").select(*key, "rank", "line_start", "line_end").collect()


_SIDES = ("start", "end")
